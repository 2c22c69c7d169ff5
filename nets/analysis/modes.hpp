#pragma once

#include "nets/analysis/possible.hpp"
#include "nets/analysis/unfolding.hpp"
#include "nets/net.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nets::analysis {

/// A way for a transition to bind: one value for each arc to a place that is taken apart.
struct Mode {
    std::vector<std::optional<std::size_t>> values{};  ///< of each arc
    Holds guard = Holds::yes;
    std::vector<Holds> where{};  ///< of each arc
    struct Rival {
        std::size_t arc = 0;
        std::size_t value = 0;
    };
    /// The order of the arc may prefer a token with this value to that of the mode.
    std::vector<Rival> rivals{};
};

/// The modes that conditions do not rule out; nothing when there are more than `modes_max`. Of a
/// transition that has nothing to do with places taken apart, there is the one.
std::optional<std::vector<Mode>> modes_of(
    const Transition& transition,
    const TransitionTexts* texts,
    const Unfolding& unfolding,
    std::size_t modes_max
);

/// What is known of the aliases in a mode.
std::vector<KnownField> known_in(
    const Mode& mode, const Transition& transition, const Unfolding& unfolding
);

/// Whether `where` of the arc lets a token with the value pass.
Holds lets_pass(
    const InputArc& arc, const cel::Node& where, std::size_t value, const Unfolding& unfolding
);

/// `[status="paid"]`, as the ids of the places tell it; "" where there is nothing to tell.
std::string mode_text(const Mode& mode, const Transition& transition, const Unfolding& unfolding);

}  // namespace nets::analysis
