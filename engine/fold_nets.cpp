#include "base/json.hpp"
#include "engine/fold_parts.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<std::shared_ptr<const nets::Net>> compiled(const Event& event) {
    if (event.compiled) return event.compiled;
    const auto info = base::parse_json(event.info);
    if (!info) return fail(info.error());
    if (!info->is_object() || !info->contains("document")) {
        return fail(ErrorCode::validation, "net.deployed without a document");
    }
    auto net = nets::compile(info->at("document"));
    if (!net) return fail(std::move(net.error()));
    return std::make_shared<const nets::Net>(std::move(*net));
}

// A transition keeps its number and its counts over versions that have it under the same name.
TransitionId ensure_transition(State& state, const std::string& net, const std::string& name) {
    const auto next = static_cast<TransitionId>(state.transitions.size());
    const auto [entry, made] = state.transition_ids.try_emplace({net, name}, next);
    if (made) state.transitions.push_back({.net = net, .name = name});
    return entry->second;
}

void retire(State& state, const Deployment& deployment) {
    for (const auto id : deployment.transitions)
        state.transitions[id].deployment = nullptr;
}

}  // namespace

Result<void> apply_deployed(State& state, const Event& event, const RecordHead& head) {
    auto net = compiled(event);
    if (!net) return fail(std::move(net.error()));
    auto made = std::make_shared<Deployment>();
    made->net = *net;
    made->seq = head.seq;
    made->at = head.ts;
    made->by = event.actor;
    const nets::Net& rules = **net;
    for (const auto& place : rules.places) {
        const auto id = state.ensure_place({place.shared ? "" : rules.name, place.name});
        auto& box = state.store.place(id);
        box.capacity = place.capacity;
        box.cases = place.cases;
        made->places.push_back(id);
    }
    NetEntry& entry = state.nets[rules.name];
    if (entry.current) retire(state, *entry.current);
    for (std::size_t i = 0; i < rules.transitions.size(); ++i) {
        const auto id = ensure_transition(state, rules.name, rules.transitions[i].name);
        made->transitions.push_back(id);
        state.transitions[id].index = static_cast<nets::TransitionIndex>(i);
    }
    for (const auto id : made->transitions) {
        state.transitions[id].deployment = made;
        state.transitions[id].timer_next = {};
    }
    entry.versions.push_back({rules.version, head.seq, head.ts, event.actor, rules.digest});
    entry.current = made;
    state.deployments[head.seq] = made;
    std::erase_if(state.deployments, [](const auto& held) { return held.second.expired(); });
    return {};
}

Result<void> apply_undeployed(State& state, const Event& event) {
    const auto found = state.nets.find(event.net);
    if (found == state.nets.end() || !found->second.current) {
        return fail(ErrorCode::validation, fmt::format("net '{}' is not deployed", event.net));
    }
    retire(state, *found->second.current);
    found->second.current = nullptr;
    return {};
}

}  // namespace engine
