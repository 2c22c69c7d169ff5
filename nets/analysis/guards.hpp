#pragma once

#include "nets/analysis/report.hpp"
#include "nets/net.hpp"

#include <vector>

namespace nets::analysis {

/// Tokens that no guard lets pass (`guards_gap`) and tokens that two guards let pass
/// (`guards_overlap`), each with a token that shows it. Only where that can be decided: everything
/// that takes tokens of a place takes one, on its own, by conditions that compare fields of the
/// token with constants. Values that a schema's `enum` rules out are not tried.
std::vector<Finding> guard_findings(const Net& net);

}  // namespace nets::analysis
