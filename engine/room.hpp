#pragma once

#include "engine/outputs.hpp"
#include "engine/state.hpp"

#include <optional>
#include <span>
#include <vector>

/// Room in places with a capacity.
namespace engine {

/// What a firing with an effect keeps free until it is over: one entry for each token that `out`
/// may put into a place with a capacity, beyond those that the firing itself takes from there.
/// `each` and the `fail` way are not counted, and never more than the place can hold.
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

/// What a firing gives back when it happens, and whom it has to let pass.
struct RoomGiven {
    const nets::Transition& rules;
    const Binding& binding;
    std::span<const places::Slot> reset;
    std::span<const places::PlaceId> held;  ///< as Operation::room
    places::Holder holder = 0;              ///< 0 = it has not begun: all that wait are older
};
/// The first place that has no room for what is produced, after what the firing consumes and
/// resets left, or in which somebody older waits for room.
std::optional<places::PlaceId> without_room(
    const State& state, const Produced& produced, const RoomGiven& given
);

}  // namespace engine
