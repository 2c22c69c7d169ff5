#pragma once

#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace base {

using Json = nlohmann::json;

struct JsonLimits {
    std::size_t bytes_max = std::size_t{16} << 20U;
    std::size_t depth_max = 128;
    /// Values within one another, the outermost counted too. A value costs more memory and time
    /// than its text: `[]` is 2 bytes and some 60 of memory. What is stored is bounded by its bytes
    /// alone, so that it reads back.
    std::size_t nodes_max = std::numeric_limits<std::size_t>::max();
};

/// For text from outside: the body of a request, a file given on the command line.
inline constexpr JsonLimits outside_limits{.nodes_max = 1'000'000};

/// Strict RFC 8259 text -> value. Refused with the line and column: invalid UTF-8, a key given
/// twice, integers outside int64 (they would be read lossily), numbers that overflow a double, more
/// bytes, levels or nodes than `limits`.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

/// The canonical form that is stored and hashed: RFC 8785 with two changes. 64-bit integers stay
/// exact, and a double whose text has neither '.' nor 'e' gets ".0", so that 10.0 is still a double
/// after a replay. The value must hold no NaN, infinity or binary, and only valid UTF-8.
std::string canonical(const Json& value);
void append_canonical(std::string& out, const Json& value);
void append_canonical_string(std::string& out, std::string_view text);
void append_canonical_double(std::string& out, double value);

/// Appends `/key` to an RFC 6901 pointer, escaping `~` and `/`.
std::string pointer_child(std::string_view pointer, std::string_view key);

bool valid_utf8(std::string_view text);

}  // namespace base
