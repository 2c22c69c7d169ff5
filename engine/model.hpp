#pragma once

#include "base/limits.hpp"
#include "engine/log.hpp"
#include "engine/scheduler.hpp"
#include "engine/snapshot_store.hpp"
#include "engine/state.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// A claim is the right to prepare an operation: its tokens are reserved, nothing is written yet. A
/// crash forgets it and the firing starts over.
using ClaimId = std::uint64_t;

/// Who asks, when, and (for an idempotent request) under which key.
struct Asker {
    std::string actor = "engine";
    base::Timestamp now;
    std::string request_key;      ///< "" = none
    base::Digest request_digest;  ///< of what was asked under that key
};

/// What the engine wants done outside. Handed out only once the records before it are durable, save
/// `Prepare`, which writes nothing and sends nothing.
struct Prepare {
    ClaimId claim = 0;
    std::string net;
    std::string transition;
    base::CaseId case_id;
    std::string principal;  ///< who started the case, else who deployed the net
    std::string tool_id;    ///< of a `call`; empty for a command token
    std::string version;    ///< asked for, or empty
    std::string input;      ///< canonical JSON: a call's arguments, or the command token
    std::optional<base::Duration> timeout;
};
struct Perform {
    base::OperationId operation;
    std::uint32_t attempt = 1;
};
struct Cancel {
    base::OperationId operation;
};
struct CaseOver {
    base::CaseId case_id;
};
using Effect = std::variant<Prepare, Perform, Cancel, CaseOver>;

/// What preparing a call or a command found out.
struct Prepared {
    std::string call;    ///< canonical JSON: enough to perform it, also after a restart
    std::string effect;  ///< pure | idempotent | once
    std::string tool_id;
    std::string version_hash;
};

/// How an attempt ended.
struct Outcome {
    enum class Kind : std::uint8_t {
        returned,       ///< `result` and `meta`
        error,          ///< `error`: it ran, or may have run, and failed
        never_started,  ///< `error`: proof that nothing began; another try harms nobody
        lost,           ///< nobody knows: the lease ran out, the executor is gone
    };
    base::OperationId operation;
    std::uint32_t attempt = 1;
    std::uint64_t fencing = 0;
    Kind kind = Kind::returned;
    bool stale = false;  ///< its lease was not in force: evidence only
    std::string result;  ///< canonical JSON
    std::string meta;    ///< canonical JSON object
    base::Error error;
    std::string details;  ///< canonical JSON for error.details, or empty
    std::string usage;    ///< canonical JSON for error.usage: what an attempt that ran used
    std::string output;   ///< canonical JSON: what it printed, for the record; or empty
    std::string digest;   ///< of what was reported, for evidence
};

/// Named limits of a model.
using base::limits::token_bytes_max;
inline constexpr std::uint32_t lost_attempts_max = 16;
/// After so many times in a row that what a firing read was replaced before the firing was
/// prepared, it is kept from others for the time of the next preparation.
inline constexpr std::uint32_t overtaken_max = 3;
inline constexpr std::size_t overtaken_kept = 10'000;
inline constexpr std::uint32_t child_depth_max = 16;  ///< cases within one another
inline constexpr std::size_t child_result_bytes_max = std::size_t{1} << 20U;
inline constexpr std::size_t tokens_put_max = 10'000;  ///< in one request

/// One model, alive: its state, its scheduler, and the records and effects that deciding yields.
/// Decisions are the functions of engine/decide.hpp. One strand; no I/O, no clock of its own.
class Model {
public:
    explicit Model(std::string id);
    ~Model();

    /// Applies a stored record; only before `go_live`. The cases that it made leave memory are for
    /// `take_leaving`, until the next one.
    base::Result<void> replay(std::string_view bytes);
    std::vector<Case> take_leaving() { return std::exchange(state_.leaving, {}); }
    /// Takes the state of a snapshot; only as the very first thing.
    base::Result<void> restore(SnapshotReader& reader);
    /// From now on decisions are made, as the writer of `epoch` (which may still be 0 for a model
    /// that only reads; see `take_over`). Claims of an earlier life are gone; timers start.
    void go_live(base::Timestamp now);
    /// How far the clock on the wall is ahead of the model's time (behind: less than nothing). Only
    /// `cron` follows that clock. Told before `go_live`, and again when the clock was set.
    void follow_wall(base::Duration ahead);
    [[nodiscard]] base::Duration wall_ahead() const { return wall_ahead_; }
    void take_over(Epoch epoch) { epoch_ = epoch; }
    [[nodiscard]] Epoch epoch() const { return epoch_; }
    /// Records are not rendered: for benchmarks of the scheduler alone.
    void without_records() { rendering_ = false; }
    /// For tests of searches that take many turns.
    void try_at_once(std::size_t combinations) { scheduler_.try_at_once(combinations); }

    [[nodiscard]] const State& state() const { return state_; }
    [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }

    /// Writes the event: its record joins the batch, the state changes at once. Returns its seq.
    Seq emit(Event&& event, const Asker& asker);

    [[nodiscard]] bool has_records() const { return !batch_.empty(); }
    [[nodiscard]] std::size_t records() const { return batch_.records.size(); }
    RecordBatch take_records() { return std::exchange(batch_, {}); }
    [[nodiscard]] bool has_effects() const { return !effects_.empty(); }
    std::vector<Effect> take_effects() { return std::exchange(effects_, {}); }
    void want(Effect effect) { effects_.push_back(std::move(effect)); }

    /// Tokens that are due by then show, and those that are old enough count. Every decision begins
    /// with it; whoever only looks may ask for it.
    void come_to(base::Timestamp now);
    /// The time that it has come to.
    [[nodiscard]] base::Timestamp now() const { return now_; }
    /// Fires what can fire, up to `firings_max`, after bringing in what is due at `now`. Returns
    /// the number fired; fewer than the maximum means that nothing more can, unless the scheduler
    /// is still `searching`.
    std::size_t pump(base::Timestamp now, std::size_t firings_max);
    /// When `pump` has something to do by itself: a timer, a retry, a delayed token.
    [[nodiscard]] std::optional<base::Timestamp> next_due() const;
    /// When the timer has its next turn; of `cron` by the wall clock.
    [[nodiscard]] base::Timestamp next_turn(TransitionId timer) const;

    struct Claim {
        Enabled enabled;
        std::vector<std::vector<base::TokenId>> tokens;  ///< by arc: the consumed ones
        std::vector<base::TokenId> read;
        bool holds_read = false;            ///< what it read is reserved, too
        std::vector<places::PlaceId> room;  ///< as Operation::room
        std::string values;                 ///< as Event::values
        base::Timestamp since;
        /// It could not be prepared, and waits for room for what it makes of that.
        std::optional<base::Error> failure;
    };
    [[nodiscard]] const std::map<ClaimId, Claim>& claims() const { return claims_; }

private:
    friend struct Decisions;  // engine/decide_*.cpp

    State state_;
    Scheduler scheduler_;
    Epoch epoch_ = 0;
    bool live_ = false;
    bool rendering_ = true;
    RecordBatch batch_;
    std::vector<Effect> effects_;
    std::map<ClaimId, Claim> claims_;
    ClaimId last_claim_ = 0;
    /// How often in a row a firing that would take this token was overtaken; at most
    /// `overtaken_kept` are remembered.
    std::map<std::pair<TransitionId, base::TokenId>, std::uint32_t> overtaken_;
    std::vector<base::CaseId> revealed_;  ///< of tokens that came in sight: perhaps over
    std::set<std::pair<base::Timestamp, base::OperationId>> retries_;
    std::set<std::pair<base::Timestamp, TransitionId>> timers_;
    /// A turn in which a timer cannot fire leaves no record: memory is ahead of the state then.
    struct Turn {
        base::Timestamp recorded;  ///< as TransitionEntry::timer_next
        base::Timestamp due;
    };
    std::map<TransitionId, Turn> turns_;
    base::Duration wall_ahead_;
    base::Timestamp now_;
    /// Of agents and child cases: when a claim or an attempt may have run out.
    std::set<std::pair<base::Timestamp, base::OperationId>> deadlines_;
};

}  // namespace engine
