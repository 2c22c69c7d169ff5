#include "nets/cel/literal.hpp"

#include "base/utf8.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace nets::cel {

namespace {

std::optional<std::uint32_t> digits_value(std::string_view text, std::size_t count, int base) {
    if (text.size() < count) return std::nullopt;
    std::uint32_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + count, value, base);
    if (read.ec != std::errc() || read.ptr != text.data() + count) return std::nullopt;
    return value;
}

char simple_escape(char c) {
    switch (c) {
        case 'a':
            return '\a';
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'v':
            return '\v';
        case '\\':
        case '?':
        case '"':
        case '\'':
        case '`':
            return c;
        default:
            return '\0';
    }
}

struct Escape {
    std::uint32_t point = 0;
    std::size_t length = 0;  // characters after the backslash
};

std::expected<Escape, std::string> read_escape(std::string_view rest, bool bytes) {
    const char c = rest.empty() ? '\0' : rest.front();
    if (const char simple = simple_escape(c); simple != '\0') {
        return Escape{static_cast<unsigned char>(simple), 1};
    }
    std::optional<std::uint32_t> point;
    std::size_t length = 0;
    if (c == 'x' || c == 'X') {
        length = 3;
        point = digits_value(rest.substr(1), 2, 16);
    } else if (c >= '0' && c <= '3') {
        length = 3;
        point = digits_value(rest, 3, 8);
    } else if ((c == 'u' || c == 'U') && !bytes) {
        length = c == 'u' ? 5 : 9;
        point = digits_value(rest.substr(1), length - 1, 16);
    }
    if (!point) {
        return std::unexpected(fmt::format("the escape \\{} is malformed", rest.substr(0, 1)));
    }
    if (*point > 0x10FFFF || (*point >= 0xD800 && *point < 0xE000)) {
        return std::unexpected(
            fmt::format("the escape \\{} names no character", rest.substr(0, length))
        );
    }
    return Escape{*point, length};
}

std::string_view without_plus(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    return text;
}

}  // namespace

std::expected<std::string, std::string> decode_literal(std::string_view body, LiteralStyle style) {
    if (style.raw) return std::string(body);
    std::string out;
    out.reserve(body.size());
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] != '\\') {
            out += body[i];
            continue;
        }
        const auto escape = read_escape(body.substr(i + 1), style.bytes);
        if (!escape) return std::unexpected(escape.error());
        if (style.bytes) {
            out += static_cast<char>(escape->point);
        } else {
            base::append_utf8(out, escape->point);
        }
        i += escape->length;
    }
    return out;
}

std::optional<std::uint64_t> read_uinteger(std::string_view text) {
    text = without_plus(text);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::int64_t> read_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (negative && text.starts_with('+')) return std::nullopt;
    const auto magnitude = read_uinteger(text);
    if (!magnitude) return std::nullopt;
    constexpr std::uint64_t min_magnitude = std::uint64_t{1} << 63U;
    if (negative && *magnitude == min_magnitude) return INT64_MIN;
    if (*magnitude >= min_magnitude) return std::nullopt;
    const auto value = static_cast<std::int64_t>(*magnitude);
    return negative ? -value : value;
}

std::optional<double> read_real(std::string_view text) {
    text = without_plus(text);
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
    if (read.ec == std::errc::result_out_of_range) {
        // Too small and too large look the same to from_chars.
        value = std::strtod(std::string(text).c_str(), nullptr);
        if (std::isinf(value)) return std::nullopt;
        return value;
    }
    if (read.ec != std::errc()) return std::nullopt;
    return value;
}

std::string real_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    if (value == 0) return std::signbit(value) ? "-0" : "0";
    const double magnitude = std::abs(value);
    const auto format = magnitude < 1e-4 || magnitude >= 1e21 ? std::chars_format::scientific
                                                              : std::chars_format::fixed;
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
    return {buffer, end};
}

}  // namespace nets::cel
