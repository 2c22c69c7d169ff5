#pragma once

#include "nets/net.hpp"

#include <string>
#include <vector>

namespace nets::analysis {

/// One way in which a firing of a transition can come out.
struct Outcome {
    std::vector<PlaceIndex> produced;  ///< a place as often as it gets a token
    bool by_fail = false;
    bool certain = true;  ///< false: it depends on data
};

struct Outcomes {
    std::vector<Outcome> ways;
    struct Loss {
        std::string what;      ///< for people
        bool narrows = false;  ///< see `Abstraction`
    };
    std::vector<Loss> lost;
};

/// All ways, up to a limit.
Outcomes outcomes_of(const Transition& transition);

}  // namespace nets::analysis
