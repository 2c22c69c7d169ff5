#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace nets {

/// A stretch of a template's text: plain, or the inside of a `${...}`.
struct Piece {
    bool expression = false;
    std::string text;
    bool operator==(const Piece&) const = default;
};

/// Splits `Hello ${name}, $${this} is plain` into its pieces; `$${` stands for a plain `${`. An
/// expression ends at the `}` that CEL's own lexer would leave over: braces may nest, and those in
/// strings and comments do not count. Neighbouring plain pieces are one piece, and none is empty.
base::Result<std::vector<Piece>> split_interpolation(std::string_view text);

/// `${expression}` as a whole, and nothing around it: the inside. Anything else is returned as it
/// is, so that `where`, `guard` and the like may be written both ways.
std::string_view without_braces(std::string_view text);

}  // namespace nets
