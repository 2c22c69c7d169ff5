#pragma once

#include "base/sha256.hpp"
#include "engine/event.hpp"
#include "engine/work_index.hpp"
#include "nets/net.hpp"
#include "places/store.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_map.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

using TransitionId = std::uint32_t;  ///< dense in its model, never reused

/// Shared places that every model has.
inline constexpr std::string_view dead_letter_place = "p-dead-letter";
inline constexpr std::string_view tool_catalog_place = "p-tool-catalog";

/// One version of a net in this model. Immutable; firings in flight keep the one they began with.
struct Deployment {
    std::shared_ptr<const nets::Net> net;  // shared: compiled nets are kept by every reader of them
    Seq seq = 0;                           ///< of its `net.deployed` record
    base::Timestamp at;
    std::string by;
    std::vector<places::PlaceId> places;    ///< by nets::PlaceIndex
    std::vector<TransitionId> transitions;  ///< by nets::TransitionIndex

    [[nodiscard]] bool ends_in(places::PlaceId place) const;
    [[nodiscard]] std::vector<places::PlaceId> ends() const;
};

struct VersionInfo {
    std::string version;
    Seq seq = 0;
    base::Timestamp at;
    std::string by;
    base::Digest digest;
};

/// A net's name and all that was ever deployed under it; `current` is null when it is undeployed.
struct NetEntry {
    std::shared_ptr<const Deployment> current;
    std::vector<VersionInfo> versions;
};

struct TransitionEntry {
    std::string net;
    std::string name;
    std::shared_ptr<const Deployment> deployment;  ///< null when no version has it
    nets::TransitionIndex index = 0;
    std::uint64_t fired = 0;
    std::uint64_t failed = 0;
    std::uint64_t in_flight = 0;  ///< operations; claims are no part of the state
    base::Timestamp timer_next;   ///< 0 = not a timer, or not started

    [[nodiscard]] const nets::Transition& rules() const {
        return deployment->net->transitions[index];
    }
};

enum class CaseState : std::uint8_t { running, completed, failed, cancelled };
std::string_view name(CaseState state);

/// An operation that is over, as its case still shows it.
struct OperationSummary {
    base::OperationId id;
    std::string transition;
    std::string tool_id;
    std::string version_hash;
    std::string state;
    std::string error;  ///< canonical JSON, or empty
};

struct Case {
    base::CaseId id;
    std::shared_ptr<const Deployment> deployment;
    std::string owner;
    CaseState state = CaseState::running;
    base::Timestamp started;
    base::Timestamp ended;
    std::uint64_t tokens = 0;       ///< live ones, dead letters not counted
    std::uint64_t open_tokens = 0;  ///< of these, not on an end place
    std::uint64_t delayed = 0;      ///< of these, not yet visible; a matter of time, not of the log
    std::uint64_t dead_letters = 0;
    base::OperationId parent;                   ///< the firing that waits for this case, or none
    std::uint32_t depth = 1;                    ///< 1 = nobody's child
    std::vector<base::OperationId> operations;  ///< not final
    std::deque<OperationSummary> finished;      ///< the newest `finished_kept`
    Seq retirable = 0;  ///< since this record it may leave memory; 0 = it may not

    static constexpr std::size_t finished_kept = 100;
    [[nodiscard]] bool quiet() const { return operations.empty() && open_tokens == 0; }
};

/// `requested` to `approved` are reached only where a decision stands between, and `returned` only
/// where there is no room for what comes out; a plain call goes invoking -> finalized.
enum class OperationState : std::uint8_t { invoking, retrying, uncertain, returned };
std::string_view name(OperationState state);

/// An effectful firing that is not over. Its tokens are reserved under its id.
struct Operation {
    base::OperationId id;
    OperationState state = OperationState::invoking;
    std::uint64_t revision = 1;  ///< grows with every edge
    TransitionId transition = 0;
    std::shared_ptr<const Deployment> deployment;
    nets::TransitionIndex index = 0;
    base::CaseId case_id;
    std::vector<std::vector<base::TokenId>> reserved;  ///< by arc
    std::string values;  ///< canonical JSON, alias -> data of the read arcs; or empty
    std::uint32_t attempt = 1;
    std::uint32_t lost = 0;  ///< attempts that ended without an answer
    base::Timestamp started;
    base::Timestamp next;  ///< of a retry
    std::string call;      ///< canonical JSON: what the handler prepared
    std::string tool_id;
    std::string version_hash;
    std::string effect;         ///< pure | idempotent | once
    std::string error;          ///< canonical JSON of the last error, or empty
    std::string executor;       ///< of the last lease
    std::uint64_t fencing = 0;  ///< of the last lease
    base::Timestamp attempt_started;
    base::CaseId child;             ///< of a `net`: the case that this attempt started
    std::string claim;              ///< of an `agent`: names the claim in force, or empty
    base::Timestamp claimed_until;  ///< of that claim; `executor` is who has it
    std::uint64_t steps = 0;        ///< of an `agent`, as told with its heartbeats
    std::string progress;  ///< `{"message","percent"}` of this attempt, as it last said; or empty
    std::vector<places::PlaceId> room;  ///< one entry a token that room is held for
    std::string answer;  ///< when returned: `{"meta","result"}` as canonical JSON; empty: `error`
    base::Timestamp answered;  ///< when it returned: the `now` of its outputs

    [[nodiscard]] const nets::Transition& rules() const {
        return deployment->net->transitions[index];
    }
};

/// Who brings an operation to its end.
enum class Performer : std::uint8_t {
    handler,  ///< the engine's TransitionHandler: tools and commands
    agent,    ///< whoever claims the work packet; waits, and is never uncertain
    child,    ///< a child case of this model; never uncertain either
};
Performer performer(const nets::Transition& rules);

/// Of a model (both names empty), a net, or a transition.
struct Pause {
    std::string by;
    base::Timestamp at;
};

/// A request that was answered: the same one again gets the same answer.
struct AnsweredRequest {
    base::Digest digest;
    Seq seq = 0;
};

/// A net and its transition. Found at every firing: also by views, without a copy.
using TransitionName = std::pair<std::string, std::string>;
struct NameHash {
    using is_transparent = void;
    std::size_t operator()(const auto& name) const {
        constexpr std::size_t spread = 0x9E3779B97F4A7C15U;
        const std::hash<std::string_view> hash;
        return hash(name.first) * spread ^ hash(name.second);
    }
};
struct NameEqual {
    using is_transparent = void;
    bool operator()(const auto& left, const auto& right) const {
        return left.second == right.second && left.first == right.first;
    }
};

/// All of a model, as its log says. A pure fold: no clock, no randomness, no I/O.
struct State {
    /// Requests remembered for Idempotency-Key; older ones are forgotten.
    static constexpr std::size_t requests_kept = 100'000;

    std::string model;
    Seq seq = 0;
    base::Timestamp ts;
    Epoch epoch = 0;

    places::Store store;
    std::map<PlaceName, places::PlaceId, std::less<>> places;
    std::map<std::string, NetEntry, std::less<>> nets;
    std::map<Seq, std::weak_ptr<const Deployment>> deployments;
    std::deque<TransitionEntry> transitions;
    boost::unordered_flat_map<TransitionName, TransitionId, NameHash, NameEqual> transition_ids;
    boost::unordered_map<base::CaseId, Case, std::hash<base::CaseId>> cases;
    /// Cases in `cases` that may leave, the first to become so first (engine/retire.hpp).
    std::set<std::pair<Seq, base::CaseId>> retirable;
    std::uint64_t retired = 0;  ///< cases that left
    /// Of cases that left and still have tokens: who started them, as a name in `owners`.
    boost::unordered_flat_map<base::CaseId, const std::string*, std::hash<base::CaseId>>
        retired_owners;
    std::set<std::string> owners;
    /// Cases that the last record made leave; whoever folds takes them.
    std::vector<Case> leaving;
    std::map<base::OperationId, Operation> operations;  ///< that are not over
    WorkIndex work;                                     ///< those of them that wait for agents
    boost::unordered_map<std::string, AnsweredRequest> requests;
    std::deque<std::string> request_order;
    std::uint64_t dead_letters = 0;
    std::map<std::pair<std::string, std::string>, Pause, std::less<>> pauses;

    /// Records of results that did not count: the newest, by operation (with their executor).
    static constexpr std::size_t late_results_kept = 10'000;
    std::deque<std::pair<base::OperationId, Seq>> late_results;

    /// Tokens still hidden, by the time at which they become visible.
    std::set<std::pair<base::Timestamp, base::TokenId>> delayed;

    explicit State(std::string model_id);
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] std::optional<places::PlaceId> place(const PlaceName& name) const;
    /// The same, where a net has it now: not that of a version before, or of a net that is gone.
    [[nodiscard]] std::optional<places::PlaceId> place_in_force(const PlaceName& name) const;
    [[nodiscard]] places::PlaceId ensure_place(const PlaceName& name);
    [[nodiscard]] places::PlaceId dead_letter() const { return dead_letter_; }
    [[nodiscard]] Case* find_case(base::CaseId id);
    [[nodiscard]] const Case* find_case(base::CaseId id) const;
    /// Who started the case; null when it is unknown, or has left and has no tokens.
    [[nodiscard]] const std::string* owner_of(base::CaseId id) const;
    [[nodiscard]] Operation* find_operation(base::OperationId id);
    [[nodiscard]] const Operation* find_operation(base::OperationId id) const;
    [[nodiscard]] const Deployment* current(std::string_view net) const;
    [[nodiscard]] std::optional<TransitionId> find_transition(
        std::string_view net, std::string_view transition
    ) const;
    /// The pause that holds the transition: its own, its net's or the model's. Null: none.
    [[nodiscard]] const Pause* pause_of(const TransitionEntry& transition) const;

private:
    places::PlaceId dead_letter_;
};

/// Applies one event. The error `validation` says why a record does not fit the state before it (a
/// token consumed that is not there, ...): it can only come from a log that was tampered with.
base::Result<void> apply(State& state, const Event& event, const RecordHead& head);

/// Delayed tokens that are due become visible. Part of the live run only: whether a token is
/// visible is a matter of time, not of the log. Returns their cases, which may be over now.
std::vector<base::CaseId> reveal_due(State& state, base::Timestamp now);

/// The deployment that a record speaks of; null when unknown.
std::shared_ptr<const Deployment> deployment(const State& state, Seq seq);

}  // namespace engine
