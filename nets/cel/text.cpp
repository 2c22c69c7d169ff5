#include "nets/cel/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace nets::cel {

namespace {

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

constexpr std::array<std::string_view, 25> white_space = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00a0", "\u1680",
    "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
    "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
};

}  // namespace

std::size_t character_count(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) {
        return !continues(c);
    }));
}

std::size_t byte_of_character(std::string_view text, std::size_t n) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        if (continues(text[at])) continue;
        if (n-- == 0) break;
    }
    return at;
}

std::size_t find_text(std::string_view text, std::string_view part, std::size_t from) {
    if (part.empty()) return from <= text.size() ? from : std::string_view::npos;
    if (from >= text.size()) return std::string_view::npos;
    // std::string_view::find takes quadratic time on texts made for it; memmem does not.
    const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
    if (!found) return std::string_view::npos;
    return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::size_t find_text_back(std::string_view text, std::string_view part, std::size_t from) {
    if (part.size() > text.size()) return std::string_view::npos;
    const std::size_t end = std::min(text.size(), from + part.size());
    const std::string text_reversed(
        text.rbegin() + static_cast<std::ptrdiff_t>(text.size() - end), text.rend()
    );
    const std::string part_reversed(part.rbegin(), part.rend());
    const std::size_t found = find_text(text_reversed, part_reversed, 0);
    if (found == std::string_view::npos) return found;
    return end - found - part.size();
}

std::vector<std::string_view> characters(std::string_view text) {
    std::vector<std::string_view> all;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && continues(text[end]))
            ++end;
        all.push_back(text.substr(at, end - at));
        at = end;
    }
    return all;
}

std::string_view trimmed(std::string_view text) {
    bool more = true;
    while (more) {
        more = false;
        for (const std::string_view space : white_space) {
            if (text.starts_with(space)) {
                text.remove_prefix(space.size());
                more = true;
            }
            if (text.ends_with(space)) {
                text.remove_suffix(space.size());
                more = true;
            }
        }
    }
    return text;
}

}  // namespace nets::cel
