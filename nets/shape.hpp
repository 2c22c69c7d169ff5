#pragma once

#include "base/json.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Looks into a JSON Schema for what it says outright about a value: no evaluation, so `unsure` is
/// an honest answer wherever alternatives, conditions or foreign references stand between.
namespace nets::shape {

enum class Field : std::uint8_t {
    named,     ///< the schema describes it
    unsure,    ///< it may be there
    unnamed,   ///< the schema lists fields, this is none of them, others are allowed
    excluded,  ///< it cannot be there
};

/// As JSON Schema names it; a double without a fraction is an "integer".
std::string_view json_type(const base::Json& value);

/// One subschema within its document.
struct View {
    const base::Json* root = nullptr;
    const base::Json* schema = nullptr;  ///< null: nothing is known

    [[nodiscard]] View resolved() const;  ///< local references followed
    /// A field of an object of this shape; `into` becomes its own shape, or null where unknown.
    [[nodiscard]] Field field(std::string_view name, View& into) const;
    [[nodiscard]] View items() const;
    /// False when a value of this JSON type ("object", "integer", ...) can never fit.
    [[nodiscard]] bool allows(std::string_view type) const;
    /// "an object or null", for a message; "" when the schema does not say.
    [[nodiscard]] std::string types() const;
};

}  // namespace nets::shape
