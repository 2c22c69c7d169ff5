#pragma once

#include "engine/state.hpp"

#include <optional>
#include <vector>

/// The room that a firing with an effect keeps free until it is over.
namespace engine {

/// The places with a capacity, one entry for each token that `out` may put there beyond those that
/// the firing itself takes from that place. `each` and the `fail` way are not counted.
std::vector<places::PlaceId> room_needed(
    const State& state,
    const Deployment& deployment,
    const nets::Transition& rules,
    const std::vector<std::vector<base::TokenId>>& taken
);

/// The first of these places that has no room for all its entries.
std::optional<places::PlaceId> first_full(
    const State& state, const std::vector<places::PlaceId>& needed
);

}  // namespace engine
