#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"

#include <vector>

namespace nets::analysis {

/// A smaller net that has a deadlock exactly when the given one has, and in which all transitions
/// are live exactly when they all are in the given one. Counts of states and tokens differ.
struct Reduced {
    PtNet net;
    Marking initial;
    /// For each transition: what fires, in this order, in the given net.
    std::vector<std::vector<TransitionId>> stands_for;
    bool dropped_dead = false;  ///< a transition that can never fire was left out: not all are live
};

Reduced reduced(const PtNet& net, const Marking& initial, const Budget& budget);

}  // namespace nets::analysis
