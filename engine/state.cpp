#include "engine/state.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

bool Deployment::ends_in(places::PlaceId place) const {
    return std::ranges::any_of(net->end, [&](nets::PlaceIndex index) {
        return places[index] == place;
    });
}

std::vector<places::PlaceId> Deployment::ends() const {
    std::vector<places::PlaceId> made;
    for (const auto index : net->end)
        made.push_back(places[index]);
    return made;
}

std::string_view name(CaseState state) {
    constexpr std::array names = {
        std::string_view{"running"},
        std::string_view{"completed"},
        std::string_view{"failed"},
        std::string_view{"cancelled"}
    };
    return names[static_cast<std::size_t>(state)];
}

std::string_view name(OperationState state) {
    constexpr std::array names = {
        std::string_view{"invoking"},
        std::string_view{"retrying"},
        std::string_view{"uncertain"},
        std::string_view{"returned"}
    };
    return names[static_cast<std::size_t>(state)];
}

Performer performer(const nets::Transition& rules) {
    if (std::holds_alternative<nets::Agent>(rules.action)) return Performer::agent;
    if (std::holds_alternative<nets::ChildNet>(rules.action)) return Performer::child;
    return Performer::handler;
}

const Pause* State::pause_of(const TransitionEntry& transition) const {
    if (pauses.empty()) return nullptr;
    for (const auto& key :
         {std::pair{transition.net, transition.name},
          std::pair{transition.net, std::string()},
          std::pair{std::string(), std::string()}}) {
        const auto found = pauses.find(key);
        if (found != pauses.end()) return &found->second;
    }
    return nullptr;
}

State::State(std::string model_id)
    : model(std::move(model_id)),
      dead_letter_(ensure_place({"", std::string(dead_letter_place)})) {}

std::optional<TransitionId> State::find_transition(
    std::string_view net, std::string_view transition
) const {
    const auto found = transition_ids.find(std::pair{net, transition});
    if (found == transition_ids.end()) return std::nullopt;
    return found->second;
}

std::optional<places::PlaceId> State::place(const PlaceName& name) const {
    const auto found = places.find(name);
    if (found == places.end()) return std::nullopt;
    return found->second;
}

std::optional<places::PlaceId> State::place_in_force(const PlaceName& name) const {
    const auto id = place(name);
    if (!id) return std::nullopt;
    const auto has = [id](const Deployment* deployed) {
        return deployed != nullptr &&
               std::ranges::find(deployed->places, *id) != deployed->places.end();
    };
    const auto shared_by = [&](const auto& net) { return has(net.second.current.get()); };
    const bool there =
        name.net.empty() ? std::ranges::any_of(nets, shared_by) : has(current(name.net));
    return there ? id : std::nullopt;
}

places::PlaceId State::ensure_place(const PlaceName& name) {
    const auto [entry, made] = places.try_emplace(name, 0);
    if (made) entry->second = store.add_place({.net = name.net, .name = name.name});
    return entry->second;
}

Case* State::find_case(base::CaseId id) {
    const auto found = cases.find(id);
    return found == cases.end() ? nullptr : &found->second;
}

const Case* State::find_case(base::CaseId id) const {
    const auto found = cases.find(id);
    return found == cases.end() ? nullptr : &found->second;
}

const std::string* State::owner_of(base::CaseId id) const {
    if (const Case* found = find_case(id)) return &found->owner;
    const auto left = retired_owners.find(id);
    return left == retired_owners.end() ? nullptr : left->second;
}

Operation* State::find_operation(base::OperationId id) {
    const auto found = operations.find(id);
    return found == operations.end() ? nullptr : &found->second;
}

const Operation* State::find_operation(base::OperationId id) const {
    const auto found = operations.find(id);
    return found == operations.end() ? nullptr : &found->second;
}

const Deployment* State::current(std::string_view net) const {
    const auto found = nets.find(net);
    return found == nets.end() ? nullptr : found->second.current.get();
}

std::shared_ptr<const Deployment> deployment(const State& state, Seq seq) {
    const auto found = state.deployments.find(seq);
    return found == state.deployments.end() ? nullptr : found->second.lock();
}

}  // namespace engine
