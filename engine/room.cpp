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
        if (made > own) needed.insert(needed.end(), made - own, place);
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

}  // namespace engine
