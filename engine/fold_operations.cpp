#include "engine/fold_parts.hpp"
#include "engine/retire.hpp"
#include "engine/room.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<void> hold(State& state, const Operation& operation) {
    for (const auto& arc : operation.reserved) {
        for (const auto id : arc) {
            const auto slot = state.store.find(id);
            if (slot == places::no_slot) {
                return fail(
                    ErrorCode::validation, fmt::format("token {} is not there to reserve", text(id))
                );
            }
            const auto& token = state.store.token(slot);
            if ((token.holder & places::claim_bit) != 0) {
                state.store.hand_over(slot, operation.id.seq);
            } else if (token.holder == 0) {
                if (token.hidden) {
                    state.delayed.erase({token.visible_at, token.id});
                    if (Case* owner = state.find_case(token.case_id)) --owner->delayed;
                    state.store.reveal(slot);
                }
                state.store.reserve(slot, operation.id.seq);
            } else {
                return fail(
                    ErrorCode::validation, fmt::format("token {} is reserved already", text(id))
                );
            }
        }
    }
    return {};
}

void hold_room(State& state, Operation& operation) {
    operation.room =
        room_needed(state, *operation.deployment, operation.rules(), operation.reserved);
    for (const auto place : operation.room)
        state.store.hold_room(place);
}

Result<Operation*> known(State& state, base::OperationId id) {
    Operation* operation = state.find_operation(id);
    if (operation != nullptr) return operation;
    return fail(ErrorCode::validation, fmt::format("operation {} is unknown", text(id)));
}

Result<Operation*> known(State& state, const Event& event) {
    return known(state, event.operation);
}

Result<void> begin(State& state, const Event& event, const RecordHead& head) {
    const auto transition = state.find_transition(event.net, event.transition);
    auto rules = deployment(state, event.deployment);
    if (!transition || !rules) {
        return fail(ErrorCode::validation, "operation.invoking names an unknown transition");
    }
    const auto index = rules->net->transition(event.transition);
    if (!index)
        return fail(ErrorCode::validation, "operation.invoking names an unknown transition");
    if (event.reserved.size() > rules->net->transitions[*index].in.size())
        return fail(
            ErrorCode::validation, "operation.invoking reserves for arcs that are not there"
        );
    const base::OperationId id{head.seq};
    Operation& made = state.operations[id];
    made.id = id;
    made.transition = *transition;
    made.deployment = std::move(rules);
    made.index = *index;
    made.case_id = event.case_id;
    made.reserved = event.reserved;
    made.values = event.values;
    made.started = head.ts;
    made.attempt_started = head.ts;
    made.call = event.call;
    made.tool_id = event.tool_id;
    made.version_hash = event.version_hash;
    made.effect = event.effect;
    ++state.transitions[made.transition].in_flight;
    if (Case* owner = state.find_case(made.case_id)) {
        owner->operations.push_back(id);
        reconsider(state, *owner);
    }
    if (auto held = hold(state, made); !held) return held;
    hold_room(state, made);
    index_work(state, made);
    return {};
}

void summarise(State& state, base::CaseId case_id, const OperationSummary& summary) {
    Case* owner = state.find_case(case_id);
    if (owner == nullptr) return;
    std::erase(owner->operations, summary.id);
    owner->finished.push_back(summary);
    if (owner->finished.size() > Case::finished_kept) owner->finished.pop_front();
    reconsider(state, *owner);
}

// The case that waited for it may leave now, and so may the child that it waited for.
void erase(State& state, const Operation& over) {
    const auto child = over.child;
    state.operations.erase(over.id);
    if (Case* free = state.find_case(child)) reconsider(state, *free);
}

void release_room(State& state, const Operation& operation) {
    for (const auto place : operation.room)
        state.store.release_room(place);
}

// What it held and is still there is free again, and so is the room.
void let_go(State& state, const Operation& over) {
    forget_work(state, over);
    for (const auto& arc : over.reserved) {
        for (const auto id : arc) {
            const auto slot = state.store.find(id);
            if (slot != places::no_slot && state.store.token(slot).holder == over.id.seq)
                state.store.release(slot);
        }
    }
    release_room(state, over);
}

std::string state_name(const Event& event) {
    return std::string(name(event.type)).substr(std::string_view("operation.").size());
}

}  // namespace

Result<void> apply_invoking(State& state, const Event& event, const RecordHead& head) {
    if (!event.operation) return begin(state, event, head);
    const auto operation = known(state, event);
    if (!operation) return fail(operation.error());
    (*operation)->state = OperationState::invoking;
    (*operation)->attempt = event.attempt;
    (*operation)->attempt_started = head.ts;
    (*operation)->next = {};
    (*operation)->child = {};
    (*operation)->steps = 0;
    (*operation)->progress.clear();
    ++(*operation)->revision;
    index_work(state, **operation);
    return {};
}

Result<void> apply_held_up(State& state, const Event& event) {
    const auto operation = known(state, event);
    if (!operation) return fail(operation.error());
    Operation& held = **operation;
    ++held.revision;
    held.error = event.error;
    held.next = event.next;
    held.claim.clear();
    held.claimed_until = {};
    const bool uncertain = event.type == EventType::operation_uncertain;
    held.state = uncertain ? OperationState::uncertain : OperationState::retrying;
    if (event.info == R"({"lost":true})") ++held.lost;
    index_work(state, held);
    return {};
}

Result<void> apply_returned(State& state, const Event& event, const RecordHead& head) {
    const auto operation = known(state, event);
    if (!operation) return fail(operation.error());
    Operation& returned = **operation;
    ++returned.revision;
    returned.state = OperationState::returned;
    returned.error = event.error;
    returned.answer = event.info;
    returned.answered = head.ts;
    returned.next = {};
    returned.claim.clear();
    returned.claimed_until = {};
    // It waits for all of its room at once: two that keep a part each would wait for ever.
    release_room(state, returned);
    returned.room.clear();
    index_work(state, returned);
    return {};
}

Result<void> apply_over(State& state, const Event& event, const RecordHead& head) {
    OperationSummary summary{
        .id = event.operation,
        .transition = event.transition,
        .tool_id = event.tool_id,
        .version_hash = event.version_hash,
        .state = state_name(event),
        .error = event.error,
    };
    const auto transition = state.find_transition(event.net, event.transition);
    if (transition) {
        TransitionEntry& entry = state.transitions[*transition];
        ++(event.error.empty() && event.type == EventType::operation_finalized ? entry.fired
                                                                               : entry.failed);
        if (event.operation) --entry.in_flight;
    }
    if (!event.operation) {  // could not be prepared: it had no earlier record
        summary.id = {head.seq};
        summarise(state, event.case_id, summary);
        return {};
    }
    const auto operation = known(state, event);
    if (!operation) return fail(operation.error());
    const Operation& over = **operation;
    let_go(state, over);
    summary.tool_id = over.tool_id;
    summary.version_hash = over.version_hash;
    summarise(state, over.case_id, summary);
    erase(state, over);
    return {};
}

Result<void> apply_reset(State& state, const Event& event) {
    for (const auto id : event.cancelled) {
        const auto operation = known(state, id);
        if (!operation) return fail(operation.error());
        const Operation& over = **operation;
        let_go(state, over);
        TransitionEntry& transition = state.transitions[over.transition];
        ++transition.failed;
        --transition.in_flight;
        const OperationSummary summary{
            .id = id,
            .transition = transition.name,
            .tool_id = over.tool_id,
            .version_hash = over.version_hash,
            .state = "cancelled",
            .error = fmt::format(
                R"({{"code":"cancelled","message":"'{}' reset a place that it held tokens of"}})",
                event.transition
            ),
        };
        summarise(state, over.case_id, summary);
        erase(state, over);
    }
    return {};
}

// Records of before results were kept in them name no executor.
Result<void> apply_late_result(State& state, const Event& event, const RecordHead& head) {
    if (event.executor.empty()) return {};
    state.late_results.emplace_back(event.operation, head.seq);
    if (state.late_results.size() > State::late_results_kept) state.late_results.pop_front();
    return {};
}

Result<void> apply_progress(State& state, const Event& event) {
    const auto operation = known(state, event);
    if (!operation) return fail(operation.error());
    (*operation)->progress = event.info;
    return {};
}

Result<void> apply_lease(State& state, const Event& event) {
    const auto operation = known(state, event);
    if (!operation) return fail(operation.error());
    (*operation)->executor = event.executor;
    (*operation)->fencing = event.fencing;
    return {};
}

}  // namespace engine
