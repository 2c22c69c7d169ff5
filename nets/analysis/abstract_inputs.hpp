#pragma once

#include "nets/analysis/notes.hpp"
#include "nets/analysis/pt_net.hpp"
#include "nets/net.hpp"

#include <vector>

namespace nets::analysis {

/// An input arc to a place of the abstraction.
struct AbstractArc {
    const Transition& transition;
    const InputArc& arc;
    PlaceId place = 0;
    bool filtered = false;  ///< which tokens it means depends on what is not known
};

/// Adds the arc to each variant of the transition. Where it may take several numbers of tokens, a
/// variant becomes one for each.
void add_arc(const AbstractArc& of, std::vector<PtTransition>& variants, Notes& notes);

void add_weight(std::vector<PtArc>& arcs, PlaceId place, Count weight);
void set_inhibit(PtTransition& variant, PlaceId place, Count weight);

}  // namespace nets::analysis
