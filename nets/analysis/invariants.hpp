#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nets::analysis {

struct Term {
    std::uint32_t index = 0;  ///< a PlaceId or TransitionId
    std::int64_t factor = 1;
    bool operator==(const Term&) const = default;
};

/// Of places: the weighted sum of tokens is `value` in every reachable marking. Of transitions:
/// firing each so many times, where that is possible, leads back to the same marking.
struct Invariant {
    std::vector<Term> terms{};  ///< ordered by index, factors above 0
    Count value = 0;            ///< of place invariants
};

struct Invariants {
    std::vector<Invariant> found;
    /// Every invariant is a sum of those found. False after an overflow or a limit: then there may
    /// be more, and those found are still true.
    bool complete = true;
};

/// Exact: integers, checked for overflow. Places that a reset arc empties are in no invariant.
Invariants place_invariants(const PtNet& net, const Marking& initial, const Budget& budget);
Invariants transition_invariants(const PtNet& net, const Budget& budget);

/// For each place the most tokens that it can hold by the invariants, its capacity, or because
/// nothing adds to it; nothing where none of them says.
std::vector<std::optional<Count>> place_bounds(
    const PtNet& net, const Marking& initial, const Invariants& invariants, const Budget& budget
);

}  // namespace nets::analysis
