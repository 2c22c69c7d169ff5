#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

/// Parameters of a query string, decoded, in the order given. Duplicates stay visible.
class Query {
public:
    void add(std::string name, std::string value) {
        items_.emplace_back(std::move(name), std::move(value));
    }
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& items() const {
        return items_;
    }
    [[nodiscard]] bool has(std::string_view name) const;
    /// The one value of that name; validation when it is given twice.
    [[nodiscard]] base::Result<std::optional<std::string>> one(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
    /// Refuses every parameter that is not among `names`, all at once.
    [[nodiscard]] base::Result<void> only(std::initializer_list<std::string_view> names) const;

private:
    std::vector<std::pair<std::string, std::string>> items_;
};

struct Target {
    std::vector<std::string> path;
    Query query;
};

inline constexpr std::size_t path_segments_max = 64;
inline constexpr std::size_t query_parameters_max = 256;

/// Splits and decodes a request target (`/a/b?c=d`, or a whole http URL as a proxy would send it).
/// Strict: malformed percent-encoding, bytes that are not UTF-8, control characters, `.` and `..`
/// segments and fragments are refused. Segments are split before they are decoded. In the query,
/// `+` is a space, as forms send it.
base::Result<Target> parse_target(std::string_view target);

/// Refuses malformed encoding, invalid UTF-8 and NUL.
base::Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

/// Encodes all but the unreserved characters: for one segment of a path, or a name or value of a
/// query.
std::string percent_encode(std::string_view text);

/// `/api/models/a%2Fb?wait=30s` from its parts.
std::string make_target(
    std::initializer_list<std::string_view> segments,
    std::initializer_list<std::pair<std::string_view, std::string_view>> query = {}
);

}  // namespace http
