#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace nets::cel {

/// Compiles a pattern in RE2's syntax, within bounded memory.
base::Result<std::shared_ptr<const re2::RE2>> compile_pattern(std::string_view pattern);
/// What a search costs: linear in the text, and in the pattern where RE2 has to fall back to its
/// slower automaton.
std::uint64_t search_steps(const re2::RE2& pattern, std::string_view text);
/// True when the pattern is found anywhere in the text.
bool found_in(const re2::RE2& pattern, std::string_view text);

}  // namespace nets::cel
