#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <vector>

/// A siphon is a set of places that, once empty, stays empty: whatever puts a token into it needs
/// one from it. A trap is a set that, once it holds a token, always holds one.
namespace nets::analysis {

/// What can never fire, because it needs tokens from places that nothing will ever fill.
struct EmptySiphon {
    std::vector<PlaceId> places;  ///< the largest siphon without tokens
    struct Dead {
        TransitionId transition = 0;
        PlaceId missing = 0;  ///< a place of the siphon that it needs
    };
    std::vector<Dead> dead;  ///< ordered by transition
};
/// Nothing when the time is over first.
EmptySiphon largest_empty_siphon(const PtNet& net, const Marking& initial, const Budget& budget);

enum class SiphonTrap : std::uint8_t {
    holds,       ///< every siphon contains a trap that holds a token
    fails,       ///< some siphon does not: it may run empty
    not_decided  ///< the net has weights, inhibit or reset arcs or capacities, or the limit was hit
};
struct SiphonTrapAnswer {
    SiphonTrap answer = SiphonTrap::not_decided;
    std::vector<PlaceId> siphon;  ///< of `fails`
};
/// Decided for plain nets whose arcs all have weight 1. When it holds, and there is a transition,
/// the net has no deadlock.
SiphonTrapAnswer siphon_trap(const PtNet& net, const Marking& initial, const Budget& budget);

}  // namespace nets::analysis
