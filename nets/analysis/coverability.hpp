#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nets::analysis {

/// How a net grows without end: after `prefix`, `pump` can be repeated for ever, and each time adds
/// tokens to `places`.
struct Pump {
    std::vector<TransitionId> prefix;
    std::vector<TransitionId> pump;
    std::vector<PlaceId> places;
};

struct Coverability {
    std::optional<Pump> pump;  ///< the first one found; there is one if and only if unbounded
    /// The tree is complete: without a pump, the net is bounded; with one, `unbounded` and `fires`
    /// are exact.
    bool complete = false;
    std::vector<PlaceId> unbounded;   ///< places known to grow without end
    std::vector<std::uint8_t> fires;  ///< for each transition: 1 = known to fire in some marking
};

/// Karp and Miller's tree, built breadth first, so that the sequence found is short. Where a
/// marking grows along a path, "arbitrarily many" takes the place of the counts that grow. Inhibit
/// arcs and capacities break that argument where they look at what grows: such a growth does not
/// count, and the tree ends at the first pump.
Coverability coverability(
    const PtNet& net, const Marking& initial, Budget& budget, std::uint64_t nodes_max
);

}  // namespace nets::analysis
