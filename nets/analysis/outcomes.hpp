#pragma once

#include "nets/analysis/possible.hpp"
#include "nets/net.hpp"

#include <functional>
#include <string>
#include <vector>

namespace nets::analysis {

/// One way in which a firing of a transition can come out.
struct Outcome {
    std::vector<const OutputRule*> produced;  ///< a rule as often as it makes a token
    bool by_fail = false;
    bool certain = true;    ///< false: it depends on data
    bool unrouted = false;  ///< no rule takes the result, and no `fail` the error
};

struct Outcomes {
    std::vector<Outcome> ways;
    struct Loss {
        std::string what;      ///< for people
        bool narrows = false;  ///< see `Abstraction`
        bool by_data = false;  ///< what is in the tokens decides whether it comes to be
    };
    std::vector<Loss> lost;
};

/// What is known about a firing.
struct Judging {
    /// Whether `when` of a rule, which has one, holds.
    std::function<Holds(const OutputRule&)> when = [](const OutputRule&) { return Holds::maybe; };
    /// Whether it matters what a token of the place holds.
    std::function<bool(PlaceIndex)> told_apart = [](PlaceIndex) { return false; };
};

/// All ways, up to a limit.
Outcomes outcomes_of(const Transition& transition, const Judging& judging = {});

}  // namespace nets::analysis
