#pragma once

#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"
#include "nets/analysis/report.hpp"

namespace nets::analysis {

/// Everything that can be found out about a net within the limits. Pure but for the clock of
/// `limits`; without a limit on time the report is the same on every run and every machine.
Report check(const PtNet& net, const Limits& limits, const ProgressCallback& progress = {});

/// What the drawing alone shows: places nobody feeds or reads, transitions without inputs, too
/// little capacity.
std::vector<Finding> structure_findings(const PtNet& net, const Marking& initial);

}  // namespace nets::analysis
