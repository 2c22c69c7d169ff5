#pragma once

#include <array>
#include <string_view>

namespace catalog {

/// The tools that every master registers in the global catalog. Nobody else registers these ids.
inline constexpr std::array<std::string_view, 1> builtin_tool_ids = {"noop"};

}  // namespace catalog
