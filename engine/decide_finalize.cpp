#include "base/limits.hpp"
#include "engine/decisions.hpp"
#include "engine/room.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

// How operations end: by `out`, by the `fail` way or as a dead letter, as soon as there is room.
namespace engine {

using base::ErrorCode;
using nets::FixedName;

Binding held_binding(const State& state, const Operation& operation) {
    Binding binding{.case_id = operation.case_id};
    binding.arcs.resize(operation.rules().in.size());
    for (std::size_t arc = 0; arc < operation.reserved.size(); ++arc) {
        for (const auto id : operation.reserved[arc]) {
            binding.arcs[arc].push_back(state.store.find(id));
        }
    }
    return binding;
}

namespace {

std::vector<places::Slot> all_slots(const Binding& binding) {
    std::vector<places::Slot> slots;
    for (const auto& arc : binding.arcs)
        slots.insert(slots.end(), arc.begin(), arc.end());
    return slots;
}

void become_dead_letter(const State& state, Event& event, const std::vector<places::Slot>& slots) {
    event.produced.clear();
    event.produced.push_back(dead_letter_token({
        .state = state,
        .net = event.net,
        .transition = event.transition,
        .operation = event.operation,
        .case_id = event.case_id,
        .error = event.error,
        .tokens = slots,
    }));
}

// What `out` makes of the answer. `now` is when it came, a delay counts from `at`.
base::Result<Produced> made_of(
    const State& state,
    const Operation& operation,
    const Binding& binding,
    const Answer& answer,
    base::Timestamp at
) {
    const nets::Transition& rules = operation.rules();
    Scope scope(state, rules);
    scope.bind(binding, operation.case_id);
    if (auto bound = bind_values(scope, rules, operation.values); !bound)
        return base::fail(std::move(bound.error()));
    scope.set(FixedName::now, nets::cel::Value::timestamp(answer.at));
    set_firing(scope, text(operation.id), rules.name);
    base::Result<void> set = scope.set_json(FixedName::result, answer.result);
    if (set) set = scope.set_json(FixedName::meta, answer.meta);
    if (!set) return base::fail(ErrorCode::bad_output, set.error().message);
    return evaluate(rules.out, *operation.deployment, scope, operation.case_id, at);
}

// The record's `info`: the answer's meta, and what the job printed.
std::string info_of(const Answer& answer, bool with_meta) {
    const std::string_view meta = with_meta ? std::string_view(answer.meta) : "";
    if (answer.output.empty()) return std::string(meta);
    auto info = meta.empty() ? base::Json::object() : *base::parse_json(meta, base::limits::stored);
    info["output"] = *base::parse_json(answer.output, base::limits::stored);
    return base::canonical(info);
}

struct Ending {
    Event event;
    Resets resets;
    std::optional<places::PlaceId> full;  ///< the place that has no room for what it makes
};

Ending ending(
    const Model& model,
    const Operation& operation,
    EventType type,
    const Answer& answer,
    base::Timestamp now
) {
    const State& state = model.state();
    const Binding binding = held_binding(state, operation);
    const auto slots = all_slots(binding);
    Ending made{operation_event(state, operation, type), {}, {}};
    Event& event = made.event;
    for (const auto& arc : operation.reserved)
        event.consumed.insert(event.consumed.end(), arc.begin(), arc.end());
    event.error = answer.error;
    if (event.error.empty()) {
        const base::Timestamp at = std::max(now, state.ts);
        auto produced = made_of(state, operation, binding, answer, at);
        if (produced) {
            event.produced = std::move(*produced);
            made.resets = resets(model, *operation.deployment, operation.rules(), binding);
        } else {
            // An error after the effect is never answered by running again.
            event.error = error_json(produced.error(), operation.attempt, {});
        }
    }
    event.info = info_of(answer, event.error.empty());
    if (!event.error.empty()) {
        const FailedFiring failed{
            operation.rules(), *operation.deployment, binding, operation.values, slots
        };
        route_failure(state, event, failed, now);
    }
    made.full = without_room(
        state,
        event.produced,
        {operation.rules(), binding, made.resets.tokens, operation.room, operation.id.seq}
    );
    if (made.full && type == EventType::operation_abandoned) {
        // Somebody wants it to be over.
        become_dead_letter(state, event, slots);
        made.full.reset();
    }
    return made;
}

// What the operation returned with, kept until there is room. When it cannot be read the operation
// ends with that as its error.
Answer kept_answer(const Operation& operation) {
    Answer answer{.at = operation.answered};
    if (operation.answer.empty()) {
        answer.error = operation.error;
        return answer;
    }
    const auto parsed = base::parse_json(operation.answer, base::limits::stored);
    if (parsed && parsed->is_object() && parsed->contains("result") && parsed->contains("meta")) {
        answer.result = base::canonical(parsed->at("result"));
        answer.meta = base::canonical(parsed->at("meta"));
        if (const auto output = parsed->find("output"); output != parsed->end())
            answer.output = base::canonical(*output);
        return answer;
    }
    const base::Error unreadable{
        ErrorCode::tamper,
        fmt::format(
            "the result that was kept cannot be read: {}",
            parsed ? "it has no result and meta" : parsed.error().message
        ),
        {},
        {}
    };
    answer.error = error_json(unreadable, operation.attempt, {});
    return answer;
}

// What the `fail` outputs produce of the error in the event.
base::Result<Produced> made_of_failure(
    const State& state, const Event& event, const FailedFiring& firing, base::Timestamp now
) {
    Scope scope(state, firing.rules);
    scope.bind(firing.binding, event.case_id);
    if (auto bound = bind_values(scope, firing.rules, firing.values); !bound)
        return base::fail(std::move(bound.error()));
    scope.set(FixedName::now, nets::cel::Value::timestamp(now));
    set_firing(scope, event.operation ? text(event.operation) : "", firing.rules.name);
    if (auto set = scope.set_json(FixedName::error, event.error); !set)
        return base::fail(std::move(set.error()));
    return evaluate(*firing.rules.fail, firing.deployment, scope, event.case_id, now);
}

}  // namespace

void route_failure(
    const State& state, Event& event, const FailedFiring& firing, base::Timestamp at
) {
    const base::Timestamp now = std::max(at, state.ts);
    if (firing.rules.fail) {
        auto produced = made_of_failure(state, event, firing, now);
        if (produced) {
            event.produced = std::move(*produced);
            return;
        }
        event.error = with_second_error(event.error, produced.error());
    }
    become_dead_letter(state, event, firing.slots);
}

bool Decisions::end_operation(const Operation& operation, EventType type, const Answer& answer) {
    auto made = ending(model, operation, type, answer, asker.now);
    if (made.full) {
        keep_answer(operation, answer, made.event.error);
        scheduler().wait_for_room(operation.id.seq, *made.full);
        return false;
    }
    const TransitionId transition = operation.transition;
    const base::CaseId case_id = operation.case_id;
    const base::CaseId child = operation.child;
    if (made.event.error.empty()) {
        emit_with(made.resets, std::move(made.event));
        scheduler().freed(transition);
        return true;
    }
    emit(std::move(made.event));
    scheduler().freed(transition);
    cancel_child(child);
    if (case_id) end_if_quiet(case_id);
    return true;
}

void Decisions::keep_answer(
    const Operation& operation, const Answer& answer, const std::string& error
) {
    if (operation.state == OperationState::returned) return;
    Event event = operation_event(state(), operation, EventType::operation_returned);
    event.error = error;
    if (error.empty()) {
        const auto output = answer.output.empty() ? "" : R"(,"output":)" + answer.output;
        event.info = R"({"meta":)" + answer.meta + output + R"(,"result":)" + answer.result + "}";
    }
    const base::CaseId child = operation.child;
    emit(std::move(event));
    cancel_child(child);
}

bool Decisions::room_came(places::Holder holder) {
    if ((holder & places::claim_bit) != 0) {
        const auto claim = claims().find(holder);
        return claim != claims().end() && unprepared(holder, *claim->second.failure);
    }
    const Operation* operation = state().find_operation({holder});
    if (operation == nullptr || operation->state != OperationState::returned) return false;
    return end_operation(*operation, EventType::operation_finalized, kept_answer(*operation));
}

std::optional<places::PlaceId> waits_for_room(const Model& model, const Operation& operation) {
    if (operation.state != OperationState::returned) return std::nullopt;
    const auto answer = kept_answer(operation);
    return ending(model, operation, EventType::operation_finalized, answer, answer.at).full;
}

}  // namespace engine
