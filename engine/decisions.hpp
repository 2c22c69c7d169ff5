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

/// What an operation ends with.
struct Answer {
    std::string result;  ///< canonical JSON
    std::string meta;    ///< canonical JSON object
    std::string error;   ///< canonical JSON; empty: there is a result
    std::string output;  ///< as Outcome::output
    base::Timestamp at;  ///< when it came
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
///
/// Whoever decides at a time sees the marking of that time: delayed tokens that are due show first.
struct Decisions {
    Model& model;
    const Asker& asker;

    Decisions(Model& of, const Asker& by) : model(of), asker(by) { model.come_to(asker.now); }

    State& state() { return model.state_; }
    Scheduler& scheduler() { return model.scheduler_; }

    // decide_fire.cpp
    /// False when the firing has to wait for room.
    bool fire(const Enabled& enabled);

    // decide_timer.cpp
    void fire_timer(TransitionId id);
    void start_timers();
    /// The same after an opening: turns that were looked at in an earlier life are over.
    void open_timers();
    /// By so much; less than nothing: it went ahead.
    void wall_went_back(base::Duration back);
    [[nodiscard]] base::Timestamp timer_clock(const nets::Transition& rules) const;
    void await_turn(TransitionId id);

    // decide_claim.cpp
    bool claim(const Enabled& enabled);
    void drop_claim(ClaimId id);
    /// False when, since the claim, what it read is gone or something came that inhibits it.
    [[nodiscard]] bool still_enabled(const Model::Claim& claim);
    void prepared(ClaimId id, base::Result<Prepared> result);
    /// The claim ends with `operation.failed`, or waits for room for what it makes: then false.
    bool unprepared(ClaimId id, const base::Error& error);

    // decide_operation.cpp
    /// The attempt is invoked: whoever performs it may begin.
    void begin_attempt(base::OperationId id, std::uint32_t attempt);
    void conclude(
        const Operation& operation, EventType type, std::string error, std::string output = {}
    );
    struct Retry {
        std::string error;
        base::Timestamp at;
        bool lost = false;
        std::string output = {};  ///< as Outcome::output
    };
    void retry(const Operation& operation, Retry retry);
    void retry_due(base::OperationId id);
    Settled settle(Outcome outcome);
    Settled keep_late(const Outcome& outcome);

    // decide_finalize.cpp
    /// Writes the end of the operation. Where there is no room for what comes out it keeps the
    /// answer, and waits: then false.
    bool end_operation(const Operation& operation, EventType type, const Answer& answer);
    void keep_answer(const Operation& operation, const Answer& answer, const std::string& error);
    /// An operation or a claim that waits for room may have it now. True when it is over.
    bool room_came(places::Holder holder);

    // decide_reset.cpp
    /// Ends what holds the tokens, tells the event of it, writes that, and ends the cases that have
    /// nothing left.
    void emit_with(const Resets& resets, Event&& event);

    // decide_case.cpp
    /// Ends the case when nothing of it is left to happen.
    void end_if_quiet(base::CaseId id);
    /// The case is running. Its children are cancelled with it.
    Seq cancel(base::CaseId id);

    // decide_net.cpp
    /// The tokens that places of a new version begin with.
    void put_initial(Event& event, const nets::Net& net);

    // decide_migrate.cpp
    /// The tokens of places that go away are taken, and put where `migrate` says.
    std::vector<base::ErrorDetail> move_tokens(Event& event, const nets::Net& next);
    /// Firings that are only prepared start over, under the version to come: no record may name a
    /// version that nothing of the state follows any more.
    void drop_claims_of(const Deployment& deployment);
    /// A new version has new end places.
    void end_quiet_cases(std::string_view net);

    // decide_child.cpp
    /// Starts the case that the operation's attempt waits for.
    void start_child(base::OperationId id);
    /// The case is over: the firing that waits for it goes on.
    void child_over(base::CaseId id);
    /// Nobody waits for it any more.
    void cancel_child(base::CaseId id);

    // decide_work.cpp
    void watch(const Operation& operation);
    void deadline_due(base::OperationId id);
    /// After an opening: what was missed of children, deadlines and ends of cases.
    void resume_waits();

    Seq emit(Event&& event) { return model.emit(std::move(event), asker); }
    std::map<ClaimId, Model::Claim>& claims() { return model.claims_; }
    std::set<std::pair<base::Timestamp, base::OperationId>>& retries() { return model.retries_; }
    std::set<std::pair<base::Timestamp, TransitionId>>& timers() { return model.timers_; }
    std::map<TransitionId, Model::Turn>& turns() { return model.turns_; }
    std::set<std::pair<base::Timestamp, base::OperationId>>& deadlines() {
        return model.deadlines_;
    }
    auto& overtaken() { return model.overtaken_; }
    ClaimId next_claim() { return ++model.last_claim_ | places::claim_bit; }
};

/// What a timer would fire now, whatever its turn: nothing when its inputs lack tokens.
std::optional<Enabled> timer_firing(const Model& model, TransitionId id, base::Timestamp now);
/// What the firing would reset, beside the tokens that it takes.
Resets resets(
    const Model& model,
    const Deployment& deployment,
    const nets::Transition& rules,
    const Binding& binding
);

/// An event about the operation's present attempt.
Event operation_event(const State& state, const Operation& operation, EventType type);

struct Immediate {
    Event event;
    std::optional<places::PlaceId> full;  ///< the place that has no room for what it makes
    Resets resets;                        ///< for `emit_with`
};
/// What a firing without effect would write: `fired`, by `out` or by `fail`, else
/// `dead_letter.added`.
Immediate immediate(const Model& model, const Enabled& enabled, base::Timestamp now);

/// What an effectful firing is given: a call's arguments, the command, the input of an agent or a
/// child net. Canonical JSON.
base::Result<std::string> effect_input(
    const State& state, const nets::Transition& rules, Scope& scope, const Binding& binding
);
/// What the read arcs saw, kept with the operation: "the firing keeps the value it read". `limit`
/// when that is more than `rendered_bytes_max`.
base::Result<std::string> read_values(
    const State& state, const nets::Transition& rules, const Binding& binding
);
/// What a wait for an agent or a child case records as its `call`, or why it cannot begin.
base::Result<Prepared> prepare_wait(
    const State& state, const nets::Transition& rules, base::CaseId case_id, std::string_view input
);
/// The record that would start a case; refused as `start_case` says. `version`: empty = any.
base::Result<Event> case_start(
    const State& state, std::string_view net, std::string_view version, std::string_view input
);

/// What a firing that failed makes: tokens by its `fail` way, else a dead letter. `event.error` is
/// set and may be replaced, when the `fail` way fails too.
void route_failure(
    const State& state, Event& event, const FailedFiring& firing, base::Timestamp at
);

/// The binding of an operation, found again by the ids it holds.
Binding held_binding(const State& state, const Operation& operation);
/// Sets the aliases of read arcs from `values` (as Event::values). `tamper` when they cannot be
/// read.
base::Result<void> bind_values(
    Scope& scope, const nets::Transition& rules, std::string_view values
);
/// The error of a firing whose `fail` way failed too: the first one's code, and what both say.
std::string with_second_error(const std::string& first, const base::Error& second);
/// `{"id","transition"}` under the name `firing`.
void set_firing(Scope& scope, std::string_view id, std::string_view transition);

}  // namespace engine
