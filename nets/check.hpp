#pragma once

#include "nets/finding.hpp"
#include "nets/net.hpp"

#include <vector>

namespace nets {

/// Everything that can be said about a compiled net without running it, errors first: shapes
/// (nets/shapes.hpp), time zones that this machine lacks, and what lint finds (nets/lint.hpp).
std::vector<Finding> check(const Net& net);

}  // namespace nets
