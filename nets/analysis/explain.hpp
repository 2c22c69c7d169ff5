#pragma once

#include "nets/analysis/report.hpp"

#include <string>

namespace nets::analysis {

/// The report for people, in words that need no theory.
std::string explained(const Report& report);

}  // namespace nets::analysis
