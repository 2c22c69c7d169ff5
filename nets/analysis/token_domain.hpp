#pragma once

#include "base/json.hpp"
#include "nets/cel/cel.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace nets::analysis {

/// What is asked of a token, which the condition knows as `alias`.
struct TokenCondition {
    const cel::Program* program = nullptr;
    std::string_view alias;
};

/// Tokens that together take every way through the conditions: one for each choice of values on,
/// between and beyond the constants that fields are compared with. `schema` (may be null) says with
/// `enum` and `const` which values there are. Nothing when a condition asks something else (another
/// name, arithmetic, a function) or when there are too many.
std::vector<base::Json> telling_tokens(
    std::span<const TokenCondition> conditions, const base::Json* schema
);

}  // namespace nets::analysis
