#pragma once

#include "nets/finding.hpp"
#include "nets/net.hpp"

#include <vector>

namespace nets {

/// What the schemas of its places say about a net that compiled, before any token is there:
/// expressions that read a field which the schema rules out, templates that make what the place
/// they fill refuses, initial tokens that do not fit. These are errors. A field that an open schema
/// does not name is a warning.
std::vector<Finding> check_shapes(const Net& net);

}  // namespace nets
