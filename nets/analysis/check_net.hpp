#pragma once

#include "nets/analysis/report.hpp"
#include "nets/net.hpp"

namespace nets::analysis {

/// The limit of the check at deployment: a count, so that the verdict is the same everywhere.
inline constexpr std::uint64_t deployment_states_max = 200'000;

/// Lint and behaviour of a net: its abstraction is checked, what `lint` sees in the document is
/// added. Findings that depend on what was abstracted away are warnings.
Report check(const Net& net, const Limits& limits, const ProgressCallback& progress = {});

}  // namespace nets::analysis
