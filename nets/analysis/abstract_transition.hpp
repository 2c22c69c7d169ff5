#pragma once

#include "nets/analysis/notes.hpp"
#include "nets/analysis/pt_net.hpp"
#include "nets/analysis/unfolding.hpp"
#include "nets/net.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nets::analysis {

/// What became of a place of the net. Nothing, when it is shared with other nets.
struct AbstractPlace {
    std::optional<PlaceId> whole{};  ///< also of a start that is taken apart
    std::vector<PlaceId> values{};   ///< one a value, where it is taken apart
};

/// An abstraction in the making.
struct AbstractNet {
    PtNet net{};
    std::vector<AbstractPlace> places{};  ///< of the net, in its order
    std::vector<PlaceId> from_outside{
    };  ///< places of the abstraction that something outside fills
    std::optional<PlaceId> never_filled{};
    std::optional<PlaceId> dead_letters{};
    std::set<std::string> ids{};  ///< of the transitions
    Notes notes{};
};

struct Widened {
    std::size_t made = 0;   ///< transitions, where values were told apart
    bool too_wide = false;  ///< it would have been too many
};

/// Adds the ways of one transition of the net.
Widened add_transition(
    const Net& net, TransitionIndex transition, const Unfolding& unfolding, AbstractNet& into
);

}  // namespace nets::analysis
