#pragma once

#include "base/json.hpp"

#include <compare>
#include <string>

namespace base::schema {

/// Numbers by their exact value, whether they are stored as integers or as doubles.
std::strong_ordering compare_numbers(const Json& left, const Json& right);

/// A total order of JSON values in which 1 and 1.0 are equal, and so are objects with equal
/// members. Recursive: the values' depth must be limited.
std::strong_ordering compare_values(const Json& left, const Json& right);

/// 1.0 and 1e300 are integers.
bool is_integer(const Json& value);

/// Exact in decimal: 0.0075 is a multiple of 0.0001. `divisor` is greater than zero.
bool is_multiple(const Json& value, const Json& divisor);

/// A value for a message: scalars as JSON, cut at 80 bytes; "an object", "an array".
std::string shown(const Json& value);

}  // namespace base::schema
