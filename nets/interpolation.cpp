#include "nets/interpolation.hpp"

#include <fmt/format.h>
#include <optional>

namespace nets {

namespace {

constexpr std::string_view opening = "${";
constexpr std::string_view escaped_opening = "$${";

bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_name(char c) {
    return starts_name(c) || (c >= '0' && c <= '9');
}

// r, R, b, B or two of them, in front of a quote.
bool string_prefix(std::string_view word) {
    return word.size() <= 2 && word.find_first_not_of("rRbB") == std::string_view::npos;
}

// The offset behind the string that opens at `at`, or none when it does not end.
std::optional<std::size_t> skip_string(std::string_view text, std::size_t at, bool raw) {
    const char quote = text[at];
    const bool triple = text.substr(at, 3) == std::string(3, quote);
    const std::string close(triple ? 3 : 1, quote);
    for (std::size_t i = at + close.size(); i < text.size();) {
        if (text[i] == '\\' && !raw) {
            i += 2;
        } else if (text.substr(i, close.size()) == close) {
            return i + close.size();
        } else {
            ++i;
        }
    }
    return std::nullopt;
}

// The offset of the `}` that closes the expression beginning at `begin`.
std::optional<std::size_t> end_of_expression(std::string_view text, std::size_t begin) {
    std::size_t depth = 0;
    for (std::size_t i = begin; i < text.size();) {
        const char c = text[i];
        bool raw = false;
        if (starts_name(c)) {
            std::size_t end = i;
            while (end < text.size() && continues_name(text[end]))
                ++end;
            const auto word = text.substr(i, end - i);
            i = end;
            const bool quote = i < text.size() && (text[i] == '"' || text[i] == '\'');
            if (!quote || !string_prefix(word)) continue;
            raw = word.find_first_of("rR") != std::string_view::npos;
        }
        if (text[i] == '"' || text[i] == '\'') {
            const auto end = skip_string(text, i, raw);
            if (!end) return std::nullopt;
            i = *end;
        } else if (text.substr(i, 2) == "//") {
            i = text.find('\n', i);
            if (i == std::string_view::npos) return std::nullopt;
        } else {
            if (c == '}' && depth == 0) return i;
            if (c == '{') ++depth;
            if (c == '}') --depth;
            ++i;
        }
    }
    return std::nullopt;
}

}  // namespace

base::Result<std::vector<Piece>> split_interpolation(std::string_view text) {
    std::vector<Piece> pieces;
    std::string plain;
    const auto end_plain = [&] {
        if (!plain.empty()) pieces.push_back({.expression = false, .text = std::move(plain)});
        plain.clear();
    };
    for (std::size_t i = 0; i < text.size();) {
        if (text.substr(i, escaped_opening.size()) == escaped_opening) {
            plain += opening;
            i += escaped_opening.size();
        } else if (text.substr(i, opening.size()) == opening) {
            const std::size_t begin = i + opening.size();
            const auto end = end_of_expression(text, begin);
            if (!end) {
                return base::fail(
                    base::ErrorCode::validation,
                    fmt::format("the '${{' at character {} has no '}}' that ends it", i + 1),
                    "close the expression, or write '$${' for a plain '${'"
                );
            }
            end_plain();
            pieces.push_back(
                {.expression = true, .text = std::string(text.substr(begin, *end - begin))}
            );
            i = *end + 1;
        } else {
            plain += text[i++];
        }
    }
    end_plain();
    return pieces;
}

std::string_view without_braces(std::string_view text) {
    if (!text.starts_with(opening)) return text;
    const auto end = end_of_expression(text, opening.size());
    if (!end || *end + 1 != text.size()) return text;
    return text.substr(opening.size(), *end - opening.size());
}

}  // namespace nets
