#include "engine/fold_parts.hpp"
#include "engine/retire.hpp"

#include <fmt/format.h>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<void> apply_case_started(State& state, const Event& event, const RecordHead& head) {
    auto rules = deployment(state, event.deployment);
    if (!rules) return fail(ErrorCode::validation, "case.started names an unknown deployment");
    Case& made = state.cases[base::CaseId{head.seq}];
    made.id = {head.seq};
    made.deployment = std::move(rules);
    made.owner = event.actor;
    made.started = head.ts;
    if (!event.operation) return {};
    Operation* parent = state.find_operation(event.operation);
    if (parent == nullptr) {
        return fail(ErrorCode::validation, "case.started names an unknown operation");
    }
    made.parent = event.operation;
    parent->child = made.id;
    const Case* above = state.find_case(parent->case_id);
    made.depth = (above != nullptr ? above->depth : 1) + 1;
    return {};
}

Result<void> apply_case_over(State& state, const Event& event, const RecordHead& head) {
    Case* over = state.find_case(event.case_id);
    if (over == nullptr) {
        return fail(ErrorCode::validation, fmt::format("case {} is unknown", text(event.case_id)));
    }
    over->ended = head.ts;
    if (event.type == EventType::case_cancelled) {
        over->state = CaseState::cancelled;
    } else {
        over->state = over->dead_letters > 0 ? CaseState::failed : CaseState::completed;
    }
    reconsider(state, *over);
    return {};
}

Result<void> apply_fired(State& state, const Event& event) {
    const auto found = state.find_transition(event.net, event.transition);
    if (!found) {
        return fail(
            ErrorCode::validation,
            fmt::format("transition '{}/{}' is unknown", event.net, event.transition)
        );
    }
    TransitionEntry& transition = state.transitions[*found];
    if (event.type == EventType::fired)
        ++(event.error.empty() ? transition.fired : transition.failed);
    if (event.next.us != 0) transition.timer_next = event.next;
    return {};
}

Result<void> apply_redriven(State& state, const Event& event) {
    Case* reopened = state.find_case(event.case_id);
    // A letter that came after its case had completed is the affair of the net that took the token.
    if (reopened == nullptr || reopened->state != CaseState::failed) return {};
    reopened->state = CaseState::running;
    reopened->ended = {};
    // What was deployed while it was over has not taken it over.
    const auto net = state.nets.find(reopened->deployment->net->name);
    if (net != state.nets.end() && net->second.current)
        adopt_case(state, *reopened, net->second.current);
    reconsider(state, *reopened);
    return {};
}

}  // namespace engine
