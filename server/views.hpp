#pragma once

#include "base/json.hpp"
#include "engine/log.hpp"
#include "engine/model.hpp"
#include "engine/retire.hpp"
#include "transitions/dispatcher.hpp"

#include <string>

/// The JSON shapes of docs/http-api.md, from what the engine holds.
namespace server {

/// `view[name]` becomes the stored JSON; where that cannot be read `view.unreadable[name]` says
/// why.
void put_stored(base::Json& view, const char* name, std::string_view json);
base::Json token_view(const engine::State& state, const places::Token& token);
/// `{id, net, version, state, end, left, deadLetters, operations}`. At most `listed_max` of each.
base::Json case_view(const engine::Model& model, const engine::Case& value);
/// The same of a case that left memory.
base::Json case_view(const engine::Model& model, const engine::RetiredCase& value);
std::string case_state(const engine::Model& model, const engine::Case& value);
/// Typed relations between places: `{id, net, type, from, to}` each.
base::Json links_view(const nets::Net& net);
base::Json net_view(
    const engine::State& state, const std::string& name, const engine::NetEntry& entry
);
/// Where a returned operation waits for room; empty: it does not. May run expressions.
std::string room_reason(const engine::Model& model, const engine::Operation& operation);
base::Json operation_view(
    const engine::Model& model,
    const engine::Operation& operation,
    const transitions::Dispatcher& dispatcher
);
/// A work packet: `{operation, net, transition, case?, skill, persona?, budget?, maxSteps?, input,
/// state, attempt, since, agent?, until?, steps?}`.
base::Json work_view(const engine::State& state, const engine::Operation& operation);
/// `{by, at}`
base::Json pause_view(const engine::Pause& pause);
/// With `whyNot`: for each input arc what is there and why it does not do.
base::Json transition_view(
    const engine::Model& model, engine::TransitionId id, const transitions::Dispatcher& dispatcher
);
base::Json executor_view(const transitions::ExecutorView& view);
/// The record, with its hash.
std::string record_view(const engine::StoredRecord& record);

inline constexpr std::size_t listed_max = 1000;

}  // namespace server
