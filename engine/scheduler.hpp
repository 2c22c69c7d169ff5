#pragma once

#include "engine/binding.hpp"
#include "engine/state.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_map.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace engine {

/// A transition and the tokens chosen for it.
struct Enabled {
    TransitionId transition = 0;
    std::shared_ptr<const Deployment> deployment;
    Candidate candidate;
    Binding binding;
    std::uint64_t waiting_since = 0;  ///< the scheduler's own count
};

/// Finds what can fire, without ever looking at all: an arriving token wakes the transitions that
/// read its place, for its case and join key alone. Among enabled transitions the highest priority
/// goes first, then the one that has waited longest since it last fired (losing a conflict does not
/// restart the wait), each taking its cases in turn; tokens first in, first out. So among n equal
/// contenders none is passed more than n - 1 times in a row.
///
/// Derived from the state and never stored. One strand.
class Scheduler {
public:
    explicit Scheduler(State& state);
    ~Scheduler();

    /// Looks at everything anew: after a replay, and after a deployment.
    void rebuild();
    /// Time has come to `now`: tokens that are old enough by now count.
    void advance(base::Timestamp now);
    /// When a token will be old enough for an arc that waits for it.
    [[nodiscard]] std::optional<base::Timestamp> next_ripe() const;
    /// Takes in what happened to the store since the last call.
    void absorb();
    /// An operation or claim of the transition ended: its concurrency may allow another.
    void freed(TransitionId transition);
    void claimed(TransitionId transition);
    /// A claim ended, as an operation or not.
    void unclaimed(TransitionId transition);

    /// The next firing. The caller applies it (or reserves its tokens), calls `absorb`, and then
    /// `put_back`.
    std::optional<Enabled> next(base::Timestamp now);
    /// What would fire of this transition, were it not held back by its concurrency or a pause; the
    /// oldest candidate first. Looks at `candidates_peeked_max` of them.
    [[nodiscard]] std::optional<Enabled> peek(TransitionId id, base::Timestamp now) const;
    /// The candidate fired: it queues up again behind the others of its transition.
    void put_back(const Enabled& fired);
    /// The candidate could not fire for want of room in the place: it is tried again, before those
    /// that come later, when there is some or when what it would bind changes. Others of its
    /// transition go on.
    void wait_for_room(const Enabled& held, places::PlaceId place);

    /// An operation or a claim holds its answer until there is room for it in the place. Until
    /// then nobody younger gets room there.
    void wait_for_room(places::Holder holder, places::PlaceId place);
    void stop_waiting(places::Holder holder);
    /// One of those that wait which may have its room now; it waits on until it is over.
    std::optional<places::Holder> next_roomy();

    /// True when `next` may find something.
    [[nodiscard]] bool has_work() const { return !heap_.empty() || !searching_.empty(); }
    /// True when combinations are left to be tried: `next` tries some more each time it is called.
    [[nodiscard]] bool searching() const { return !searching_.empty(); }
    /// Combinations of one candidate that are tried in one go.
    void try_at_once(std::size_t combinations) { slice_ = combinations; }
    /// What the timer would bind now.
    [[nodiscard]] std::expected<Binding, Unbound> timer_binding(
        TransitionId transition, base::Timestamp now
    ) const;

    struct Waiting {
        bool concurrency = false;
        std::vector<places::PlaceId> rooms;  ///< that some of its cases wait for
        std::uint64_t claims = 0;
    };
    [[nodiscard]] Waiting waiting(TransitionId transition) const;
    /// Why the tokens that wait for the transition do not make it fire, for so many of its cases.
    struct Held {
        base::CaseId case_id;
        Unbound why;
    };
    [[nodiscard]] std::vector<Held> held(TransitionId transition, std::size_t max) const;
    /// True when the case goes on by itself: one of its tokens comes of age for an arc, or what it
    /// enables waits for a turn under its transition's `concurrency`.
    [[nodiscard]] bool goes_on(base::CaseId case_id) const;
    [[nodiscard]] const std::vector<ArcSource>* sources(TransitionId transition) const;

private:
    static constexpr std::size_t candidates_peeked_max = 10'000;
    static constexpr std::uint32_t in_ready = ~std::uint32_t{0};
    static constexpr std::uint32_t at_guard = in_ready - 1;
    static constexpr std::uint32_t at_room = in_ready - 2;
    static constexpr std::uint32_t in_search = in_ready - 3;
    // Firings between two slices of a search that goes on.
    static constexpr std::size_t firings_per_slice = 64;
    // Where every change starts a search over, it tries twice as many combinations at once each
    // time, up to 2^6 times as many.
    static constexpr std::uint32_t restarts_max = 6;

    struct CandidateHash {
        std::size_t operator()(const Candidate& candidate) const noexcept {
            return std::hash<std::string>{}(candidate.key) ^
                   (candidate.case_seq * 0x9E3779B97F4A7C15U);
        }
    };
    // Where a candidate waits, and (with a guard) the tokens that it has not been tried with.
    struct Standing {
        std::uint32_t where = in_ready;
        std::uint64_t ticket = 0;
        std::deque<std::pair<std::size_t, base::TokenId>> fresh;
        std::unique_ptr<SearchProgress> progress;  // of a search that is not done
        std::uint32_t restarts = 0;                // of it
    };
    struct Parked {
        Candidate candidate;
        std::uint64_t ticket = 0;
    };
    // Candidates that wait for room in one place, and how many of them may be tried.
    struct RoomQueue {
        places::PlaceId place = 0;
        std::deque<Parked> parked;
        std::size_t woken = 0;
    };
    struct Runtime {
        TransitionId id = 0;
        std::shared_ptr<const Deployment> deployment;
        nets::TransitionIndex index = 0;
        std::vector<ArcSource> sources;
        std::vector<GuardJoin> joins;
        bool keyed = false;
        bool sees_all = false;  ///< a token that leaves may concern every case
        bool search = false;  ///< `searched`: any change of its case makes a candidate worth a look
        std::optional<ArrivalNet> arrivals;  ///< of an or-join
        std::uint64_t stamp = 0;
        bool in_heap = false;
        bool full = false;    ///< held back by its concurrency, or by a pause
        bool varies = false;  ///< where its tokens go depends on what it binds
        std::vector<RoomQueue> rooms;
        std::deque<Candidate> ready;
        boost::unordered_map<Candidate, Standing, CandidateHash> standing;
        std::vector<std::deque<Parked>> parked;  ///< by arc
        std::vector<std::size_t> woken;          ///< by arc: how many parked ones may be tried
        boost::unordered_map<std::string, std::vector<std::uint64_t>> cases_of_key;
        std::size_t swept_size = 0;

        [[nodiscard]] const nets::Transition& rules() const {
            return deployment->net->transitions[index];
        }
    };
    struct HeapEntry {
        std::int64_t priority;
        std::uint64_t stamp;
        TransitionId transition;
        bool operator<(const HeapEntry& other) const {
            if (priority != other.priority) return priority < other.priority;
            if (stamp != other.stamp) return stamp > other.stamp;
            return transition > other.transition;
        }
    };
    struct Reader {
        TransitionId transition;
        std::size_t arc;
    };

    void attach(TransitionId id);
    ArcSource source(const Deployment& deployment, const nets::InputArc& arc);
    void index_joins(Runtime& runtime);
    void watch_inputs(Runtime& runtime);
    static void watch(
        std::vector<std::vector<TransitionId>>& by_place, places::PlaceId place, TransitionId id
    );
    void left(const places::Change& change);
    void room_in(places::PlaceId place);
    std::optional<Candidate> take_roomy(Runtime& runtime);
    /// A token that a candidate in want of room would bind came or went.
    void look_again(TransitionId id, base::CaseId of);
    [[nodiscard]] static bool in_want(const Runtime& runtime, const Parked& parked);
    [[nodiscard]] BindRequest request(const Runtime& runtime, const Candidate& candidate) const;
    void detach(TransitionId id);
    void arrived(const places::Change& change);
    void arrived(const Reader& reader, places::Slot slot, base::CaseId case_id);
    void offer(TransitionId id, const Candidate& candidate, std::size_t arc, base::TokenId token);
    void freshen(Runtime& runtime, Standing& standing, std::size_t arc, base::TokenId token);
    static void start_over(Runtime& runtime, Standing& standing);
    /// The token concerns the candidates of its case; without one, all.
    void wake_all(TransitionId id, std::size_t arc, base::TokenId token, base::CaseId of);
    void make_ready(TransitionId id, const Candidate& candidate, Standing& standing);
    void push(TransitionId id);
    [[nodiscard]] static bool has_candidates(const Runtime& runtime);
    std::optional<Candidate> take_candidate(
        Runtime& runtime, std::optional<std::size_t>& woken_arc
    );
    [[nodiscard]] bool held_back(TransitionId id) const;
    std::optional<Enabled> next_ready();
    std::optional<Enabled> search_on();
    std::optional<Binding> try_bind(Runtime& runtime, const Candidate& candidate);
    std::expected<Binding, Unbound> bind_fresh(Standing& standing, BindRequest& request);
    void park(Runtime& runtime, const Candidate& candidate, const Unbound& why);
    static void remember_key(Runtime& runtime, const Candidate& candidate);
    [[nodiscard]] static bool own_arc(
        const Runtime& runtime, const Candidate& candidate, std::size_t arc
    );
    [[nodiscard]] bool holds_own(
        const Runtime& runtime, const Candidate& candidate, const Binding& binding
    ) const;
    [[nodiscard]] bool has_own_tokens(const Runtime& runtime, const Candidate& candidate) const;
    void sweep(Runtime& runtime);
    [[nodiscard]] bool at_capacity(TransitionId id) const;

    State& state_;
    std::vector<std::unique_ptr<Runtime>> runtimes_;        ///< by TransitionId; null = not active
    std::vector<std::vector<Reader>> readers_;              ///< by PlaceId
    std::vector<std::vector<TransitionId>> room_waiters_;   ///< by PlaceId
    std::vector<std::set<places::Holder>> room_queues_;     ///< by PlaceId: who has its answer
    std::map<places::Holder, places::PlaceId> in_queue_;    ///< where it stands in `room_queues_`
    std::set<places::Holder> roomy_;                        ///< to be looked at
    std::vector<std::vector<TransitionId>> room_watchers_;  ///< the same, of those in want of room
    std::vector<std::vector<TransitionId>> watchers_;  ///< by PlaceId: whom a token's leaving wakes
    struct Ripening {
        base::Timestamp at;
        base::TokenId token;
        Reader reader;
        bool operator>(const Ripening& other) const {
            return std::tie(at, token) > std::tie(other.at, other.token);
        }
    };
    std::priority_queue<Ripening, std::vector<Ripening>, std::greater<>> ripening_;
    base::Timestamp now_;
    std::vector<std::uint64_t> claims_;  ///< by TransitionId; outlives a deployment
    std::priority_queue<HeapEntry> heap_;
    std::deque<std::pair<TransitionId, Candidate>> searching_;  ///< whose combinations are many
    std::size_t since_slice_ = 0;                               ///< firings
    std::size_t slice_ = combinations_max;
    std::uint64_t clock_ = 0;  ///< counts firings, for stamps
    std::uint64_t tickets_ = 0;
};

}  // namespace engine
