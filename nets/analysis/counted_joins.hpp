#pragma once

#include "nets/analysis/report.hpp"
#include "nets/net.hpp"

namespace nets::analysis {

/// A fan-out over `each` whose number goes along, `{"n": "${size(LIST)}"}`, and a join that takes
/// so many, `"take": "${plan.n}"`, have the same number for certain. The abstraction tries any, so
/// what it finds because the numbers differ is withdrawn: such findings go, such verdicts are
/// unknown.
void mind_counted_joins(const Net& net, Report& report);

}  // namespace nets::analysis
