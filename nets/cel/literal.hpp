#pragma once

#include "base/result.hpp"
#include "nets/cel/value.hpp"

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace nets::cel {

struct LiteralStyle {
    bool raw = false;
    bool bytes = false;
};

/// What the text between the quotes of a literal stands for; the error says which escape is wrong.
std::expected<std::string, std::string> decode_literal(std::string_view body, LiteralStyle style);

/// Decimal digits, or "0x" and hexadecimal ones, with an optional sign. None when malformed or out
/// of range.
std::optional<std::int64_t> read_integer(std::string_view text);
std::optional<std::uint64_t> read_uinteger(std::string_view text);
/// Decimal notation, "NaN", "Infinity", "inf" with an optional sign. Too small becomes 0; none when
/// malformed or too large.
std::optional<double> read_real(std::string_view text);
/// The shortest text that reads back: "1", "-0.0045", "1e+100", "NaN", "-Infinity".
std::string real_text(double value);

}  // namespace nets::cel
