#pragma once

#include "tests/simulation/master.hpp"

#include <cstdint>
#include <string>

namespace simulation {

/// What one run did, for the test to show that it did something.
struct Report {
    std::uint64_t steps = 0;
    std::size_t effects = 0;
    std::size_t cases = 0;
    std::size_t crashes = 0;
};

/// One world from beginning to end: clients, a master and executors under faults for a while, then
/// quiet until everything is over. Throws `Violation` when an invariant of engine.md is broken. The
/// seed decides everything: the same number gives the same run.
Report simulate(std::uint64_t seed, Defect defect = Defect::none);

}  // namespace simulation
