#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "nets/cel/value.hpp"

#include <nlohmann/json_fwd.hpp>

namespace nets::cel {

/// A value as JSON that keeps its kind, as the conformance cases write it: {"type": "int", "value":
/// "42"}. Numbers are text; bytes are `hex`; a list's value is a list of such objects, a map's a
/// list of pairs of them; an optional's is one of them or null. A value may hold the same list many
/// times over: what would exceed `limits` (its text and, for each value, some bytes) is `limit`.
base::Result<base::Json> to_typed(const Value& value, const WriteLimits& limits = {});
base::Result<Value> from_typed(const base::Json& typed);

/// Equal in value and in kind, all the way down; NaN is the same as NaN, 0.0 not as -0.0.
bool identical(const Value& left, const Value& right);

}  // namespace nets::cel
