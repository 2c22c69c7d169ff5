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

struct Announced {
    std::shared_ptr<const nets::Net> net;
    bool adopts = false;  ///< running cases follow this version
};

Result<Announced> announced(const Event& event) {
    // At hand already: this binary wrote the record, and its text is not read again.
    if (event.compiled) {
        return Announced{event.compiled, event.info.starts_with(R"({"adopts":true,)")};
    }
    const auto info = base::parse_json(event.info);
    if (!info) return fail(info.error());
    if (!info->is_object() || !info->contains("document")) {
        return fail(ErrorCode::validation, "net.deployed without a document");
    }
    const bool adopts = info->value("adopts", false);
    auto net = nets::compile(info->at("document"));
    if (!net) return fail(std::move(net.error()));
    return Announced{std::make_shared<const nets::Net>(std::move(*net)), adopts};
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

// Cases under way follow the version that took over their tokens: its end places count.
void adopt_cases(State& state, const std::shared_ptr<const Deployment>& made) {
    for (auto& [id, value] : state.cases) {
        if (value.state != CaseState::running) continue;
        if (value.deployment->net->name != made->net->name) continue;
        value.deployment = made;
        value.open_tokens = 0;
        for (auto slot = state.store.first_of_case(id); slot != places::no_slot;
             slot = state.store.next_of_case(slot)) {
            const auto place = state.store.token(slot).place;
            if (place != state.dead_letter() && !made->ends_in(place)) ++value.open_tokens;
        }
    }
}

// Of the nets that are deployed now, the one that says what may arrive in a shared place.
std::optional<base::Schema> shared_schema(const State& state, std::string_view place) {
    for (const auto& [name, entry] : state.nets) {
        if (!entry.current) continue;
        const auto index = entry.current->net->place(place);
        if (!index) continue;
        const nets::Place& declared = entry.current->net->places[*index];
        if (declared.shared && declared.schema) return declared.schema->compiled;
    }
    return std::nullopt;
}

// A place that no version has any more takes what an older firing brings.
void forget_schemas(State& state, const Deployment& deployment) {
    for (const auto id : deployment.places) {
        auto& place = state.store.place(id);
        place.schema = place.net.empty() ? shared_schema(state, place.name) : std::nullopt;
    }
}

}  // namespace

void take_schemas(State& state, const Deployment& deployment) {
    for (std::size_t i = 0; i < deployment.places.size(); ++i) {
        const nets::Place& rules = deployment.net->places[i];
        auto& schema = state.store.place(deployment.places[i]).schema;
        schema.reset();
        if (rules.shared) {
            schema = shared_schema(state, rules.name);
        } else if (rules.schema) {
            schema = rules.schema->compiled;
        }
    }
}

Result<void> apply_deployed(State& state, const Event& event, const RecordHead& head) {
    auto told = announced(event);
    if (!told) return fail(std::move(told.error()));
    auto made = std::make_shared<Deployment>();
    made->net = std::move(told->net);
    made->seq = head.seq;
    made->at = head.ts;
    made->by = event.actor;
    const nets::Net& rules = *made->net;
    for (const auto& place : rules.places) {
        const auto id = state.ensure_place({place.shared ? "" : rules.name, place.name});
        auto& box = state.store.place(id);
        box.capacity = place.capacity;
        box.cases = place.cases;
        made->places.push_back(id);
    }
    NetEntry& entry = state.nets[rules.name];
    const auto before = entry.current;
    if (before) retire(state, *before);
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
    if (before) forget_schemas(state, *before);
    take_schemas(state, *made);
    if (told->adopts) adopt_cases(state, made);
    state.deployments[head.seq] = made;
    std::erase_if(state.deployments, [](const auto& held) { return held.second.expired(); });
    return {};
}

Result<void> apply_undeployed(State& state, const Event& event) {
    const auto found = state.nets.find(event.net);
    if (found == state.nets.end() || !found->second.current) {
        return fail(ErrorCode::validation, fmt::format("net '{}' is not deployed", event.net));
    }
    const auto gone = std::exchange(found->second.current, nullptr);
    retire(state, *gone);
    forget_schemas(state, *gone);
    return {};
}

}  // namespace engine
