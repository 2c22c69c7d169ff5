#pragma once

#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <vector>

namespace nets::analysis {

/// Stubborn sets: in each marking, a choice of transitions such that whatever the others do, in
/// whatever order, neither disables one of these nor comes out differently before or after it. To
/// find every deadlock it is enough to fire those.
class StubbornSets {
public:
    explicit StubbornSets(const PtNet& net);
    /// Enabled transitions that suffice; empty only when none is enabled.
    [[nodiscard]] std::vector<TransitionId> of(const Marking& marking) const;

private:
    [[nodiscard]] bool enabled(const Marking& marking, TransitionId transition) const;
    /// Transitions of which one must fire before a disabled one can.
    [[nodiscard]] const std::vector<TransitionId>& enablers(
        const Marking& marking, TransitionId transition
    ) const;
    [[nodiscard]] std::vector<TransitionId> closure(
        const Marking& marking, TransitionId seed, std::size_t give_up_at
    ) const;

    std::vector<std::vector<Touch>> touches_;
    std::vector<std::vector<TransitionId>> conflicts_;  ///< of each transition
    std::vector<std::vector<TransitionId>> adders_;     ///< of each place
    std::vector<std::vector<TransitionId>> takers_;     ///< of each place
};

}  // namespace nets::analysis
