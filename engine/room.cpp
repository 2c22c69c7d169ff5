#include "engine/room.hpp"

#include <algorithm>
#include <map>

namespace engine {

namespace {

// The most that one way through the rules may put into each place.
std::map<places::PlaceId, std::uint64_t> most_made(
    const nets::Outputs& outputs, const Deployment& deployment
) {
    std::map<places::PlaceId, std::uint64_t> together;
    std::map<places::PlaceId, std::uint64_t> most;
    for (const auto& rule : outputs.rules) {
        if (rule.each) continue;
        const auto place = deployment.places[rule.place];
        // Rules that exclude each other need room for one of them.
        const bool alone = outputs.first_only || rule.otherwise;
        const auto count = alone ? 1 : ++together[place];
        most[place] = std::max(most[place], count);
    }
    return most;
}

std::uint64_t taken_from(
    const State& state, places::PlaceId place, const std::vector<std::vector<base::TokenId>>& taken
) {
    std::uint64_t count = 0;
    for (const auto& arc : taken) {
        for (const auto id : arc) {
            const auto slot = state.store.find(id);
            if (slot != places::no_slot && state.store.token(slot).place == place) ++count;
        }
    }
    return count;
}

std::uint64_t taken_from(
    const State& state, places::PlaceId place, const nets::Transition& rules, const Binding& binding
) {
    std::uint64_t count = 0;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != nets::ArcKind::consume) continue;
        for (const auto slot : binding.arcs[arc])
            count += state.store.token(slot).place == place ? 1 : 0;
    }
    return count;
}

}  // namespace

std::vector<places::PlaceId> room_needed(
    const State& state,
    const Deployment& deployment,
    const nets::Transition& rules,
    const std::vector<std::vector<base::TokenId>>& taken
) {
    std::vector<places::PlaceId> needed;
    for (const auto& [place, made] : most_made(rules.out, deployment)) {
        if (!state.store.place(place).capacity) continue;
        const auto own = taken_from(state, place, taken);
        // More than the place can hold never comes: such an answer fails.
        const auto most = std::min(made, *state.store.place(place).capacity);
        if (most > own) needed.insert(needed.end(), most - own, place);
    }
    return needed;
}

std::optional<places::PlaceId> first_full(
    const State& state, const std::vector<places::PlaceId>& needed
) {
    for (const auto place : needed) {
        const auto more = static_cast<std::uint64_t>(std::ranges::count(needed, place));
        if (!state.store.place(place).has_room(more)) return place;
    }
    return std::nullopt;
}

std::optional<places::PlaceId> without_room(
    const State& state, const Produced& produced, const RoomGiven& given
) {
    const auto capped = [&](const NewToken& token) {
        return state.store.place(token.place).capacity.has_value();
    };
    if (std::ranges::none_of(produced, capped)) return std::nullopt;
    for (const auto& [id, more] : by_place(produced)) {
        const auto& place = state.store.place(id);
        if (!place.capacity) continue;
        const auto held = static_cast<std::uint64_t>(std::ranges::count(given.held, id));
        auto fewer = taken_from(state, id, given.rules, given.binding);
        for (const auto slot : given.reset)
            fewer += state.store.token(slot).place == id ? 1 : 0;
        const bool waited_for =
            place.awaited_by != 0 && (given.holder == 0 || place.awaited_by < given.holder);
        if (waited_for && more > fewer + held) return id;
        if (place.count + place.room_held + more > *place.capacity + fewer + held) return id;
    }
    return std::nullopt;
}

}  // namespace engine
