#include "base/limits.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace base::limits {

namespace {

// The bytes of the valid character at the beginning of `text`; 0 when there is none.
std::size_t character(std::string_view text) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size()); ++length)
        if (valid_utf8(text.substr(0, length))) return length;
    return 0;
}

std::string valid_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = character(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

}  // namespace

std::size_t json_depth(std::string_view json) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
        switch (json[i]) {
            case '{':
            case '[':
                deepest = std::max(deepest, ++depth);
                break;
            case '}':
            case ']':
                if (depth != 0) --depth;
                break;
            case '"':
                for (++i; i < json.size() && json[i] != '"'; ++i)
                    if (json[i] == '\\') ++i;
                break;
            default:
                break;
        }
    }
    return deepest;
}

std::string recordable_text(std::string_view text, std::size_t bytes_max) {
    std::string out = valid_utf8(text) ? std::string(text) : valid_text(text);
    if (out.size() <= bytes_max) return out;
    std::size_t end = bytes_max;
    while (end != 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80)
        --end;
    const std::size_t left_out = out.size() - end;
    out.resize(end);
    return out + fmt::format(" ... ({} more bytes)", left_out);
}

}  // namespace base::limits
