#include "base/utf8.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace base {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::size_t character_bytes_max = 4;

std::size_t character_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xE0) return 2;
    return lead < 0xF0 ? 3 : 4;
}

bool continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

// The character that `bytes` begin with; empty: they begin with none.
std::string_view first_character(std::string_view bytes) {
    const auto length = character_length(static_cast<unsigned char>(bytes.front()));
    const auto character = bytes.substr(0, length);
    return character.size() == length && valid_utf8(character) ? character : std::string_view{};
}

}  // namespace

std::string lossy_utf8(std::string_view bytes) {
    if (valid_utf8(bytes)) return std::string(bytes);
    std::string out;
    while (!bytes.empty()) {
        const auto character = first_character(bytes);
        out += character.empty() ? replacement : character;
        bytes.remove_prefix(character.empty() ? 1 : character.size());
    }
    return out;
}

std::string_view without_cut_end(std::string_view bytes) {
    for (std::size_t size = 1; size < character_bytes_max && size <= bytes.size(); ++size) {
        const auto lead = static_cast<unsigned char>(bytes[bytes.size() - size]);
        if ((lead & 0xC0U) == 0x80) continue;
        const bool cut = lead >= 0xC2 && lead <= 0xF4 && character_length(lead) > size;
        return cut ? bytes.substr(0, bytes.size() - size) : bytes;
    }
    return bytes;
}

std::string_view without_cut_start(std::string_view bytes) {
    std::size_t start = 0;
    while (start < std::min(bytes.size(), character_bytes_max - 1) && continuation(bytes[start]))
        ++start;
    return bytes.substr(start);
}

std::string preview_head(std::string_view bytes, std::size_t bytes_max) {
    auto part = bytes.size() <= bytes_max ? bytes : without_cut_end(bytes.substr(0, bytes_max));
    std::string out;
    while (!part.empty()) {
        const auto character = first_character(part);
        const auto piece = character.empty() ? replacement : character;
        if (out.size() + piece.size() > bytes_max) break;
        out += piece;
        part.remove_prefix(character.empty() ? 1 : character.size());
    }
    return out;
}

std::string preview_tail(std::string_view bytes, std::size_t bytes_max) {
    const bool cut = bytes.size() > bytes_max;
    const auto text =
        lossy_utf8(cut ? without_cut_start(bytes.substr(bytes.size() - bytes_max)) : bytes);
    std::size_t start = text.size() - std::min(text.size(), bytes_max);
    while (start < text.size() && continuation(text[start]))
        ++start;
    return text.substr(start);
}

void append_utf8(std::string& out, std::uint32_t point) {
    const auto tail = [&](unsigned shift) {
        out += static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
    };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0U | (point >> 6U));
        tail(0);
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0U | (point >> 12U));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0U | (point >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return lossy_utf8(text);
    return fmt::format("{} ... ({} bytes in all)", preview_head(text, bytes_max), text.size());
}

}  // namespace base
