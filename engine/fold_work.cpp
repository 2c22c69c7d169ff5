#include "base/limits.hpp"
#include "engine/fold_parts.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

void index_work(State& state, const Operation& operation) {
    const auto* agent = std::get_if<nets::Agent>(&operation.rules().action);
    if (agent == nullptr) return;
    const bool available = operation.state == OperationState::invoking && operation.claim.empty();
    state.work.put(operation.id, agent->skill, available);
}

void forget_work(State& state, const Operation& operation) {
    const auto* agent = std::get_if<nets::Agent>(&operation.rules().action);
    if (agent != nullptr) state.work.drop(operation.id, agent->skill);
}

Result<void> apply_work(State& state, const Event& event) {
    Operation* operation = state.find_operation(event.operation);
    if (operation == nullptr) {
        return fail(
            ErrorCode::validation, fmt::format("operation {} is unknown", text(event.operation))
        );
    }
    if (performer(operation->rules()) != Performer::agent) {
        return fail(
            ErrorCode::validation,
            fmt::format("operation {} does not wait for an agent", text(event.operation))
        );
    }
    ++operation->revision;
    if (event.type == EventType::work_released) {
        operation->claim.clear();
        operation->claimed_until = {};
        index_work(state, *operation);
        return {};
    }
    operation->claimed_until = event.next;
    if (event.type == EventType::work_claimed) {
        operation->executor = event.executor;
        operation->claim = event.lease;
        operation->steps = 0;
        index_work(state, *operation);
        return {};
    }
    if (event.info.empty()) return {};
    const auto info = base::parse_json(event.info, base::limits::stored);
    if (!info || !info->is_object()) return fail(ErrorCode::validation, "info is no object");
    operation->steps = info->value("steps", operation->steps);
    return {};
}

Result<void> apply_pause(State& state, const Event& event, const RecordHead& head) {
    const std::pair key{event.net, event.transition};
    if (event.type == EventType::scheduling_paused) {
        state.pauses[key] = {event.actor, head.ts};
    } else {
        state.pauses.erase(key);
    }
    return {};
}

}  // namespace engine
