#include "base/limits.hpp"
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
    const auto info = base::parse_json(event.info, base::limits::stored);
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
    const auto [entry, made] = state.transition_ids.try_emplace(TransitionName{net, name}, next);
    if (made) state.transitions.push_back({.net = net, .name = name});
    return entry->second;
}

void retire(State& state, const Deployment& deployment) {
    for (const auto id : deployment.transitions)
        state.transitions[id].deployment = nullptr;
}

// Cases under way follow the version that took over their tokens.
void adopt_cases(State& state, const std::shared_ptr<const Deployment>& made) {
    for (auto& [id, value] : state.cases) {
        if (value.state != CaseState::running) continue;
        if (value.deployment->net->name == made->net->name) adopt_case(state, value, made);
    }
}

// A shared place is as the nets say that have it now. They do not contradict each other; the newest
// counts where in an older log they do.
void settle_shared(State& state, places::Place& place) {
    place.schema.reset();
    place.capacity.reset();
    place.cases = true;
    Seq capacity_said = 0;
    for (const auto& [name, entry] : state.nets) {
        if (!entry.current) continue;
        const auto index = entry.current->net->place(place.name);
        if (!index) continue;
        const nets::Place& declared = entry.current->net->places[*index];
        if (!declared.shared) continue;
        if (declared.schema && !place.schema) place.schema = declared.schema->compiled;
        if (!declared.cases) place.cases = false;
        if (declared.capacity && entry.current->seq > capacity_said) {
            place.capacity = declared.capacity;
            capacity_said = entry.current->seq;
        }
    }
}

// A place that no version has any more takes what an older firing brings.
void let_go_of(State& state, const Deployment& deployment) {
    for (const auto id : deployment.places) {
        auto& place = state.store.place(id);
        if (place.net.empty())
            settle_shared(state, place);
        else
            place.schema.reset();
    }
}

}  // namespace

void adopt_case(State& state, Case& value, const std::shared_ptr<const Deployment>& made) {
    value.deployment = made;
    value.open_tokens = 0;
    for (auto slot = state.store.first_of_case(value.id); slot != places::no_slot;
         slot = state.store.next_of_case(slot)) {
        const auto place = state.store.token(slot).place;
        if (place != state.dead_letter() && !made->ends_in(place)) ++value.open_tokens;
    }
}

void settle_places(State& state, const Deployment& deployment) {
    for (std::size_t i = 0; i < deployment.places.size(); ++i) {
        const nets::Place& rules = deployment.net->places[i];
        auto& place = state.store.place(deployment.places[i]);
        if (rules.shared) {
            settle_shared(state, place);
            continue;
        }
        place.capacity = rules.capacity;
        place.cases = rules.cases;
        place.schema = rules.schema ? std::optional(rules.schema->compiled) : std::nullopt;
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
    if (before) let_go_of(state, *before);
    settle_places(state, *made);
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
    let_go_of(state, *gone);
    return {};
}

}  // namespace engine
