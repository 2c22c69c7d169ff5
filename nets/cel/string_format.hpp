#pragma once

#include "base/result.hpp"
#include "nets/cel/cel.hpp"
#include "nets/cel/value.hpp"

#include <string_view>

namespace nets::cel {

/// `pattern.format(arguments)` of cel-spec's strings extension: %s %d %f %e %x %X %o %b %%, with a
/// precision for %f and %e.
base::Result<Value> format_text(std::string_view pattern, const Value& arguments, Budget& budget);

}  // namespace nets::cel
