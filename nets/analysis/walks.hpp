#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace nets::analysis {

/// What random walks met. They prove nothing, but what they find is there.
struct Walks {
    std::optional<std::vector<TransitionId>> deadlock;    ///< a sequence to it
    std::optional<std::vector<TransitionId>> beyond_one;  ///< to two tokens in a place
    std::optional<std::vector<TransitionId>> stuck;       ///< to a deadlock that `accepts` refuses
    std::vector<Count> place_max;
    Count marking_max = 0;
    std::vector<std::uint8_t> fires;  ///< for each transition: 1 = was enabled
};

struct WalkOptions {
    std::uint64_t steps_max = 200'000;              ///< of all walks together
    std::uint64_t length_max = 10'000;              ///< of one walk
    std::uint64_t seed = 1;                         ///< the same seed walks the same ways
    std::function<bool(const Marking&)> accepts{};  ///< which deadlocks are good ends
};

Walks random_walks(
    const PtNet& net, const Marking& initial, Budget& budget, const WalkOptions& options = {}
);

}  // namespace nets::analysis
