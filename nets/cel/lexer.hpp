#pragma once

#include "base/result.hpp"
#include "nets/cel/node.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nets::cel {

enum class TokenKind : std::uint8_t {
    end,
    identifier,
    quoted_identifier,  ///< `in-backticks`
    integer,            ///< text without sign, decimal or 0x
    uinteger,           ///< the same, without its u
    real,
    string,
    bytes,
    punctuation,  ///< an operator or bracket, also ".?" and "[?"
};

struct Token {
    TokenKind kind = TokenKind::end;
    Position at;
    std::string text;  ///< decoded, for strings and bytes
};

/// A fault at a place of the source.
struct Fault {
    Position at;
    std::string message;
};

/// More faults of one expression than these are not told.
inline constexpr std::size_t faults_max = 100;

/// Splits the source into tokens, the last of which is `end`. Adds what is wrong to `faults` and
/// goes on after it; the tokens of a source with faults are not for parsing.
std::vector<Token> tokens(std::string_view source, std::vector<Fault>& faults);

}  // namespace nets::cel
