#pragma once

#include "engine/decide.hpp"
#include "engine/outputs.hpp"

namespace engine {

struct FailedFiring {
    const nets::Transition& rules;
    const Deployment& deployment;
    const Binding& binding;
    std::string_view values;
    const std::vector<places::Slot>& slots;  ///< all that it consumes
};

/// What the reset arcs of one firing take with them.
struct Resets {
    std::vector<places::Slot> tokens;
    std::vector<base::OperationId> operations;  ///< that hold some of them
    std::vector<ClaimId> claims;                ///< the same

    [[nodiscard]] bool empty() const { return tokens.empty(); }
};

/// What the decisions share: the way into a model's private parts. Only engine/decide_*.cpp and
/// engine/model.cpp include this.
struct Decisions {
    Model& model;
    const Asker& asker;

    State& state() { return model.state_; }
    Scheduler& scheduler() { return model.scheduler_; }

    // decide_fire.cpp
    /// False when the firing has to wait for room.
    bool fire(const Enabled& enabled);
    struct Immediate {
        Event event;
        std::optional<places::PlaceId> full;  ///< the place that has no room for what it makes
        Resets resets;                        ///< for `emit_with`
    };
    /// What a firing without effect would write: `fired`, by `out` or by `fail`, else
    /// `dead_letter.added`.
    Immediate immediate(const Enabled& enabled);

    // decide_timer.cpp
    void fire_timer(TransitionId id, base::Timestamp due);
    void start_timers();

    // decide_claim.cpp
    bool claim(const Enabled& enabled);
    void drop_claim(ClaimId id);
    /// False when, since the claim, what it read is gone or something came that inhibits it.
    [[nodiscard]] bool still_enabled(const Model::Claim& claim);
    void prepared(ClaimId id, base::Result<Prepared> result);
    /// What a firing that failed makes: tokens by its `fail` way, else a dead letter. `event.error`
    /// is set and may be replaced, when the `fail` way fails too.
    void route_failure(Event& event, const FailedFiring& firing);

    // decide_operation.cpp
    void finalize(const Operation& operation, const Outcome& outcome);
    void conclude(const Operation& operation, EventType type, std::string error);
    void retry(const Operation& operation, std::string error, base::Timestamp at, bool lost);
    void retry_due(base::OperationId id);
    Settled settle(Outcome outcome);

    // decide_reset.cpp
    /// What the firing would reset; changes nothing. `own` is the firing's operation, if it is one.
    Resets resets(
        const Deployment& deployment,
        const nets::Transition& rules,
        const Binding& binding,
        base::OperationId own
    );
    /// Ends what holds the tokens, tells the event of it, writes that, and ends the cases that have
    /// nothing left.
    void emit_with(const Resets& resets, Event event);

    // decide_case.cpp
    /// Ends the case when nothing of it is left to happen.
    void end_if_quiet(base::CaseId id);

    Seq emit(Event event) { return model.emit(std::move(event), asker); }
    std::map<ClaimId, Model::Claim>& claims() { return model.claims_; }
    std::set<std::pair<base::Timestamp, base::OperationId>>& retries() { return model.retries_; }
    std::set<std::pair<base::Timestamp, TransitionId>>& timers() { return model.timers_; }
    ClaimId next_claim() { return ++model.last_claim_ | places::claim_bit; }
};

/// The binding of an operation, found again by the ids it holds.
Binding held_binding(const State& state, const Operation& operation);
/// Sets the aliases of read arcs from `values` (as Event::values).
void bind_values(Scope& scope, const nets::Transition& rules, std::string_view values);
/// `{"id","transition"}` under the name `firing`.
void set_firing(Scope& scope, std::string_view id, std::string_view transition);

}  // namespace engine
