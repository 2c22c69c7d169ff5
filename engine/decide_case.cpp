#include "engine/arrival.hpp"
#include "engine/decisions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

void Decisions::end_if_quiet(base::CaseId id) {
    const Case* ending = state().find_case(id);
    if (ending == nullptr || ending->state != CaseState::running) return;
    if (!ending->quiet() || ending->delayed != 0) return;
    Event event;
    event.type = EventType::case_ended;
    event.case_id = id;
    event.net = ending->deployment->net->name;
    event.info = ending->dead_letters > 0 ? R"({"state":"failed"})" : R"({"state":"completed"})";
    emit(std::move(event));
    model.want(CaseOver{id});
    child_over(id);
}

Result<Event> case_start(
    const State& state, std::string_view net, std::string_view version, std::string_view input
) {
    const Deployment* rules = state.current(net);
    if (rules == nullptr) {
        return fail(
            ErrorCode::not_found,
            fmt::format("model '{}' has no net '{}'", state.model, net),
            "deploy it first: netwright net deploy FILE"
        );
    }
    if (!version.empty() && rules->net->version != version) {
        return fail(
            ErrorCode::not_found,
            fmt::format(
                "net '{}' is deployed in version {}, not {}", net, rules->net->version, version
            )
        );
    }
    if (!rules->net->start) {
        return fail(
            ErrorCode::validation,
            fmt::format("net '{}' has no start place", net),
            "name one in \"start\", or put tokens into its places"
        );
    }
    const auto place = rules->places[*rules->net->start];
    if (input.size() > token_bytes_max) {
        return fail(
            ErrorCode::too_large,
            fmt::format(
                "an input of {} bytes; the inline limit is {}", input.size(), token_bytes_max
            ),
            "put the bytes into a blob and pass its URN"
        );
    }
    if (auto faults = arrival_faults(state.store.place(place), input, ""); !faults.empty()) {
        return fail(base::Error{
            faults.front().code,
            fmt::format("the input does not fit the start place of net '{}'", net),
            "mend it and start again",
            std::move(faults)
        });
    }
    if (!state.store.place(place).has_room(1)) {
        return fail(
            ErrorCode::conflict,
            fmt::format("place '{}' is at its capacity", state.store.place(place).name),
            "wait until the net has taken tokens from it"
        );
    }
    Event event;
    event.type = EventType::case_started;
    event.case_id = {state.seq + 1};
    event.net = rules->net->name;
    event.deployment = rules->seq;
    event.produced.push_back(
        {.place = place, .case_id = event.case_id, .data = places::Payload::make(input)}
    );
    return event;
}

Result<Seq> start_case(Model& model, std::string_view net, std::string input, const Asker& asker) {
    auto event = case_start(model.state(), net, {}, input);
    if (!event) return fail(std::move(event.error()));
    Decisions decisions{model, asker};
    const Seq seq = decisions.emit(std::move(*event));
    decisions.end_if_quiet({seq});
    return seq;
}

Seq Decisions::cancel(base::CaseId id) {
    const Case& cancelled = *state().find_case(id);
    std::vector<ClaimId> held;
    for (const auto& [claim, what] : claims()) {
        if (what.enabled.binding.case_id == id) held.push_back(claim);
    }
    for (const auto operation : std::vector(cancelled.operations)) {
        const Operation& ending = *state().find_operation(operation);
        Event event = operation_event(state(), ending, EventType::operation_cancelled);
        event.error = error_json(
            {ErrorCode::cancelled, "the case was cancelled", {}, {}}, ending.attempt, {}
        );
        const TransitionId transition = ending.transition;
        const base::CaseId child = ending.child;
        // The case's own tokens go; those without a case (a lock that all share) are freed.
        for (const auto& arc : ending.reserved) {
            std::ranges::copy_if(arc, std::back_inserter(event.consumed), [&](base::TokenId token) {
                return state().store.token(state().store.find(token)).case_id == id;
            });
        }
        if (ending.state == OperationState::invoking &&
            performer(ending.rules()) == Performer::handler) {
            model.want(Cancel{operation});
        }
        emit(std::move(event));
        scheduler().freed(transition);
        cancel_child(child);
    }
    Event event;
    event.type = EventType::case_cancelled;
    event.case_id = id;
    event.net = cancelled.deployment->net->name;
    for (auto slot = state().store.first_of_case(id); slot != places::no_slot;
         slot = state().store.next_of_case(slot)) {
        if (state().store.token(slot).place != state().dead_letter()) {
            event.consumed.push_back(state().store.token(slot).id);
        }
    }
    // In order of making, so that the record does not depend on the order of a list.
    std::ranges::sort(event.consumed);
    for (const auto claim : held)
        drop_claim(claim);
    const Seq seq = emit(std::move(event));
    model.want(CaseOver{id});
    child_over(id);
    return seq;
}

base::Error case_is_over(base::CaseId id, CaseState state) {
    return {ErrorCode::conflict, fmt::format("case {} is over: {}", text(id), name(state)), {}, {}};
}

Result<Seq> cancel_case(Model& model, base::CaseId id, const Asker& asker) {
    const Case* cancelled = model.state().find_case(id);
    if (cancelled == nullptr) {
        return fail(ErrorCode::not_found, fmt::format("case {} is unknown", text(id)));
    }
    if (cancelled->state != CaseState::running) {
        return fail(case_is_over(id, cancelled->state));
    }
    return Decisions{model, asker}.cancel(id);
}

}  // namespace engine
