#pragma once

#include "nets/cel/lexer.hpp"
#include "nets/cel/node.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace nets::cel {

inline constexpr std::size_t source_bytes_max = std::size_t{64} * 1024;
/// Of brackets while parsing and of nodes in the tree; a chain `a + b + c` is as deep as it is
/// long, but && and || are not.
inline constexpr std::uint32_t nesting_max = 250;

/// Source -> tree, with macros recognized. On a fault adds to `faults` what is wrong: every lexical
/// fault, or the first of syntax.
Node parse(std::string_view source, std::vector<Fault>& faults);

/// When the call is a macro, makes it one; what is wrong with its arguments goes to `faults`.
void expand_macro(Node& call, std::vector<Fault>& faults);

}  // namespace nets::cel
