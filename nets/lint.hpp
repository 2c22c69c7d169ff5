#pragma once

#include "nets/finding.hpp"
#include "nets/net.hpp"

#include <vector>

namespace nets {

/// What is allowed and still looks like a mistake, seen without running anything: places nobody
/// feeds or reads, transitions that nothing can reach, settings and names without effect. In the
/// order of the document. Only warnings.
std::vector<Finding> lint(const Net& net);

}  // namespace nets
