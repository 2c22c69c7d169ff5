#include "base/length.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace base {

namespace {

/// A number and a unit, but more than a Duration holds.
bool overflows(std::string_view text) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) return false;
    const auto one = std::string("1").append(text.substr(digits));
    return duration(one) && !duration(text);
}

/// In quotes, without control characters, and not longer than a message should be.
std::string shown(std::string_view text) {
    std::size_t size = std::min(text.size(), std::size_t{60});
    while (size > 0 && size < text.size() &&
           (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80)
        --size;
    std::string out;
    append_canonical_string(out, text.substr(0, size));
    return out;
}

}  // namespace

Result<Duration> length_within(std::string_view text, LengthRange range) {
    const auto length = duration(text);
    if (length && *length >= range.min && *length <= range.max) return *length;
    if (length || overflows(text)) {
        return fail(
            ErrorCode::validation,
            fmt::format(
                "must be from {} to {}, not {}",
                base::text(range.min),
                base::text(range.max),
                shown(text)
            )
        );
    }
    return fail(
        ErrorCode::validation,
        fmt::format(
            "must be a duration such as '250ms', '30s', '5m', '2h' or '1d', not {}", shown(text)
        )
    );
}

}  // namespace base
