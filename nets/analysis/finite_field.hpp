#pragma once

#include "base/json.hpp"
#include "nets/analysis/possible.hpp"
#include "nets/cel/value.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nets::analysis {

/// More values than this are not told apart.
inline constexpr std::size_t values_max = 16;

/// A field of which a schema lists the values, and which every token has.
struct FiniteField {
    Path path{};  ///< empty: the token itself
    /// Distinct, in the order of the schema. `1` stands for `1.0` too: to JSON Schema and to
    /// expressions they are the same.
    std::vector<cel::Value> values{};
    /// Nothing else in the schema could rule one of the values out.
    bool exact = true;

    /// The place of the value in `values`.
    [[nodiscard]] std::optional<std::size_t> index_of(const cel::Value& value) const;
    /// Of a token; nothing where the field is missing or holds something else.
    [[nodiscard]] std::optional<std::size_t> index_in(const base::Json& token) const;
};

/// The schema itself or, where it only refers to another within `root`, that one. Null where it is
/// no object or cannot be found.
const base::Json* referred(const base::Json& root, const base::Json& schema);

/// What the schema, a part of `root`, says of that property. Null where it says nothing.
const base::Json* property_of(
    const base::Json& root, const base::Json& schema, const std::string& name
);

/// Nothing unless the schema demands an object with the field at each step of the path, and names
/// the values by `enum`, `const` or the type `boolean`.
std::optional<FiniteField> finite_field(const base::Json& schema, const Path& path);

}  // namespace nets::analysis
