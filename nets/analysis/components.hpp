#pragma once

#include "nets/analysis/state_space.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace nets::analysis {

/// The strongly connected components of a complete state space: groups of states that can reach
/// each other. They are numbered so that an edge leads into the same component or a lower one.
struct Components {
    std::vector<std::uint32_t> of_state;
    std::uint32_t count = 0;
    bool complete = true;  ///< false: the time was over, and nothing of this is of account
};

/// `space` must be complete and hold its edges.
Components components(const StateSpace& space, const Budget& budget);

struct NotReaching {
    bool complete = true;            ///< false: the time was over, and it was not found out
    std::optional<StateId> first{};  ///< so one with a shortest trace
};
/// States that can reach no state satisfying `goal`.
NotReaching first_state_not_reaching(
    const StateSpace& space,
    const Components& components,
    const std::function<bool(StateId)>& goal,
    const Budget& budget
);

/// For each transition: whether it, or another of its group, can fire again from every reachable
/// state. `group_of` names a member of each transition's group, the same for all of the group.
/// Nothing when the time is over first.
std::optional<std::vector<std::uint8_t>> live_transitions(
    const StateSpace& space,
    const Components& components,
    const std::vector<TransitionId>& group_of,
    const Budget& budget
);

}  // namespace nets::analysis
