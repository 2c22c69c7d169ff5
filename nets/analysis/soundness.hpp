#pragma once

#include "nets/analysis/components.hpp"
#include "nets/analysis/state_space.hpp"

#include <optional>
#include <vector>

namespace nets::analysis {

/// What "a case is over" means. Resource places, those that hold tokens before any case begins,
/// are not the case's and may hold what they like. The rest is: a case is over when none of its
/// tokens is left but on end places.
class CaseEnd {
public:
    explicit CaseEnd(const PtNet& net, Count cases = 1);
    [[nodiscard]] bool over(const Marking& marking) const;
    /// As many tokens on end places as there are cases, or more.
    [[nodiscard]] bool all_ended(const Marking& marking) const;
    /// Places that keep a case that is not over.
    [[nodiscard]] std::vector<PlaceId> leftovers(const Marking& marking) const;
    /// Resource places that hold another number than before the cases.
    [[nodiscard]] std::vector<PlaceId> changed_resources(const Marking& marking) const;

private:
    enum class Role : std::uint8_t { of_case, end, resource };
    std::vector<Role> roles_;
    std::vector<bool> outside_;
    std::vector<PlaceId> group_of_;  ///< see `first_of_place`
    Marking before_;
    Count cases_;
};

/// Soundness of a net with a start and ends, by its complete state space.
struct Soundness {
    /// From the state, no marking can be reached in which the case is over.
    std::optional<StateId> cannot_complete;
    /// Like it, and nothing at all can fire. Found first where there is both.
    std::optional<StateId> stuck;
    /// All cases have a token on an end place, and yet one is not over.
    std::optional<StateId> improper;
    /// The cases are over, but a resource place holds another number than before.
    std::optional<StateId> drained;
    /// False: the time was over. What was found is so; what was not found is not known.
    bool complete = true;
};
/// Of the cases that the budget names.
Soundness soundness(
    const PtNet& net, const StateSpace& space, const Components& components, const Budget& budget
);

}  // namespace nets::analysis
