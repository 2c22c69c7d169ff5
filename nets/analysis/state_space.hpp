#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/packing.hpp"
#include "nets/analysis/state_store.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace nets::analysis {

/// The markings that a net can reach, found breadth first, so that a trace to a state is a shortest
/// one, and so that states and edges come out the same on every run.
struct StateSpace {
    Packing packing;
    StateStore states;
    ChunkedArray<StateId> parents{};        ///< of each state; the first one's is itself
    ChunkedArray<StateId> targets{};        ///< of all edges, by source, then by transition
    ChunkedArray<std::uint64_t> offsets{};  ///< into `targets`, of each expanded state

    std::uint64_t expanded = 0;  ///< states whose successors are all known
    std::uint64_t edges = 0;     ///< firings out of expanded states
    std::optional<LimitHit> stopped{};
    std::vector<Count> place_max{};  ///< over the expanded states
    Count marking_max = 0;
    std::vector<std::uint8_t> fires{};  ///< for each transition: 1 = enabled in some expanded state
    std::optional<StateId> deadlock{};  ///< the first state where nothing is enabled
    std::optional<StateId> beyond_one{};  ///< the first state with two tokens in a place

    [[nodiscard]] bool complete() const { return !stopped; }
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] Marking marking(StateId state) const;
    /// Edges of an expanded state, in the order of the transitions enabled in it.
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> edge_range(StateId state) const;
    /// A shortest firing sequence from the initial marking.
    [[nodiscard]] std::vector<TransitionId> trace(StateId state) const;
};

class StubbornSets;

struct ExploreOptions {
    const std::vector<std::optional<Count>>* bounds = nullptr;  ///< of places, where known
    bool keep_edges = true;  ///< `targets` and `offsets`; needed for liveness and soundness
    /// Fire only as much as it takes to meet every deadlock. Not null: `edges`, `states`, `fires`
    /// and the maxima are then of this smaller graph.
    const StubbornSets* stubborn = nullptr;
    std::optional<std::uint64_t> states_max{};  ///< instead of the budget's
};

StateSpace explore(
    const PtNet& net, const Marking& initial, Budget& budget, const ExploreOptions& options = {}
);

}  // namespace nets::analysis
