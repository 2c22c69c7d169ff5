#include "nets/analysis/finite_field.hpp"

#include "nets/shape.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace nets::analysis {
namespace {

using base::Json;

constexpr std::size_t references_max = 32;

/// Keywords that say nothing, or that are looked at here.
constexpr auto harmless = std::to_array<std::string_view>(
    {"$schema",
     "$id",
     "$defs",
     "definitions",
     "$comment",
     "title",
     "description",
     "default",
     "examples",
     "deprecated",
     "readOnly",
     "writeOnly",
     "type",
     "properties",
     "required",
     "additionalProperties",
     "enum",
     "const"}
);

bool only_harmless(const Json& schema) {
    return std::ranges::all_of(schema.items(), [](const auto& member) {
        return std::ranges::find(harmless, member.key()) != harmless.end();
    });
}

bool demands(const Json& schema, const std::string& field) {
    const auto type = schema.find("type");
    const auto required = schema.find("required");
    return type != schema.end() && *type == "object" && required != schema.end() &&
           required->is_array() && std::ranges::find(*required, Json(field)) != required->end();
}

/// Beyond it, whole numbers and doubles are not told apart for certain.
constexpr double exact_number_max = 9'007'199'254'740'992.0;

bool certain_number(const Json& value) {
    if (!value.is_number()) return true;
    return std::abs(value.get<double>()) < exact_number_max;
}

std::optional<std::vector<Json>> listed_values(const Json& schema) {
    const auto listed = schema.find("enum");
    const auto constant = schema.find("const");
    const auto type = schema.find("type");
    std::vector<Json> given;
    if (constant != schema.end()) {
        given = {*constant};
    } else if (listed != schema.end()) {
        given.assign(listed->begin(), listed->end());
    } else if (type != schema.end() && *type == "boolean") {
        given = {true, false};
    } else {
        return std::nullopt;
    }
    std::vector<Json> values;
    for (const Json& value : given) {
        if (!certain_number(value)) return std::nullopt;
        const bool known = std::ranges::find(values, value) != values.end();
        const bool listed_too =
            listed == schema.end() || std::ranges::find(*listed, value) != listed->end();
        const bool fits = shape::View{&schema, &schema}.allows(shape::json_type(value));
        if (!known && listed_too && fits) values.push_back(value);
    }
    return values;
}

/// Beside a reference these add nothing to what it says.
bool only_refers(const Json& schema) {
    constexpr auto beside = std::to_array<std::string_view>(
        {"$ref", "$defs", "definitions", "$schema", "$comment", "title", "description"}
    );
    return schema.contains("$ref") && std::ranges::all_of(schema.items(), [&](const auto& member) {
               return std::ranges::find(beside, member.key()) != beside.end();
           });
}

}  // namespace

const Json* referred(const Json& root, const Json& schema) {
    const Json* at = &schema;
    for (std::size_t i = 0; i < references_max && at != nullptr && at->is_object(); ++i) {
        if (!only_refers(*at)) return at;
        const Json reference{{"$ref", (*at)["$ref"]}};
        const Json* const next = shape::View{&root, &reference}.resolved().schema;
        if (next == &reference) return nullptr;
        at = next;
    }
    return nullptr;
}

const Json* property_of(const Json& root, const Json& schema, const std::string& name) {
    const auto properties = schema.find("properties");
    const bool there =
        properties != schema.end() && properties->is_object() && properties->contains(name);
    return there ? referred(root, (*properties)[name]) : nullptr;
}

std::optional<std::size_t> FiniteField::index_of(const cel::Value& value) const {
    const auto at = std::ranges::find(values, value);
    if (at == values.end()) return std::nullopt;
    return static_cast<std::size_t>(at - values.begin());
}

std::optional<std::size_t> FiniteField::index_in(const Json& token) const {
    const Json* at = &token;
    for (const std::string& name : path) {
        if (!at->is_object() || !at->contains(name)) return std::nullopt;
        at = &(*at)[name];
    }
    return index_of(cel::Value::json(*at));
}

std::optional<FiniteField> finite_field(const Json& schema, const Path& path) {
    FiniteField result{.path = path};
    const Json* at = referred(schema, schema);
    for (const std::string& name : path) {
        if (at == nullptr || !demands(*at, name)) return std::nullopt;
        result.exact =
            result.exact && only_harmless(*at) && !at->contains("enum") && !at->contains("const");
        at = property_of(schema, *at, name);
    }
    if (at == nullptr) return std::nullopt;
    auto values = listed_values(*at);
    if (!values || values->empty()) return std::nullopt;
    for (const Json& value : *values)
        result.values.push_back(cel::Value::owned_json(value));
    result.exact = result.exact && only_harmless(*at);
    return result;
}

}  // namespace nets::analysis
