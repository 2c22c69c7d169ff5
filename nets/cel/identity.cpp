#include "nets/cel/value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace nets::cel {

namespace {

// A value that shares its parts may be far larger written than it is in memory.
constexpr std::size_t bytes_max = std::size_t{1} << 20U;

// Each text says its length, so that no two values run into the same bytes.
void append_text(std::string& out, char tag, std::string_view text) {
    out += tag;
    out += std::to_string(text.size());
    out += ':';
    out += text;
}

void append_whole(std::string& out, std::string_view digits) {
    out += 'n';
    out += digits;
    out += ';';
}

// A whole number is written the same whichever kind it has.
bool append_real(std::string& out, double value) {
    if (std::isnan(value)) return false;
    const bool whole = std::trunc(value) == value;
    if (whole && value >= -0x1p63 && value < 0x1p63) {
        append_whole(out, std::to_string(static_cast<std::int64_t>(value)));
    } else if (whole && value >= 0 && value < 0x1p64) {
        append_whole(out, std::to_string(static_cast<std::uint64_t>(value)));
    } else {
        out += 'r';
        out += std::to_string(std::bit_cast<std::uint64_t>(value));
        out += ';';
    }
    return true;
}

bool append(std::string& out, const Value& value);

bool append_list(std::string& out, const Value& list) {
    out += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!append(out, list.at(i))) return false;
    }
    out += ']';
    return true;
}

bool append_map(std::string& out, const Value& map) {
    std::vector<std::string> entries;
    std::size_t bytes = 0;
    for (const auto& [key, value] : map.entries()) {
        std::string& entry = entries.emplace_back();
        if (!append(entry, key) || !append(entry, value)) return false;
        bytes += entry.size();
        if (bytes > bytes_max) return false;
    }
    std::ranges::sort(entries);
    out += '{';
    for (const auto& entry : entries)
        out += entry;
    out += '}';
    return true;
}

// Values nest no deeper than JSON and expressions may, so the recursion is bounded.
bool append(std::string& out, const Value& value) {
    if (out.size() > bytes_max) return false;
    switch (value.kind()) {
        case Kind::null:
            out += '0';
            return true;
        case Kind::boolean:
            out += value.as_boolean() ? 't' : 'f';
            return true;
        case Kind::integer:
            append_whole(out, std::to_string(value.as_integer()));
            return true;
        case Kind::uinteger:
            append_whole(out, std::to_string(value.as_uinteger()));
            return true;
        case Kind::real:
            return append_real(out, value.as_real());
        case Kind::string:
            append_text(out, 's', value.text());
            return true;
        case Kind::bytes:
            append_text(out, 'b', value.text());
            return true;
        case Kind::type:
            append_text(out, 'y', value.text());
            return true;
        case Kind::timestamp:
        case Kind::duration:
            out += value.is(Kind::timestamp) ? '@' : 'd';
            out += std::to_string(value.as_span().seconds);
            out += '.';
            out += std::to_string(value.as_span().nanoseconds);
            out += ';';
            return true;
        case Kind::list:
            return append_list(out, value);
        case Kind::map:
            return append_map(out, value);
        case Kind::optional:
            out += value.inner() == nullptr ? 'e' : 'o';
            return value.inner() == nullptr || append(out, *value.inner());
    }
    return false;
}

}  // namespace

std::optional<std::string> identity(const Value& value) {
    std::string out;
    if (!append(out, value) || out.size() > bytes_max) return std::nullopt;
    return out;
}

}  // namespace nets::cel
