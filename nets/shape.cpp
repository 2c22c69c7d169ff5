#include "nets/shape.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace nets::shape {

namespace {

using base::Json;

constexpr std::size_t references_max = 32;

const Json* member(const Json* schema, const char* name) {
    if (schema == nullptr || !schema->is_object()) return nullptr;
    const auto found = schema->find(name);
    return found == schema->end() ? nullptr : &*found;
}

// Keywords that may describe fields elsewhere than in `properties`.
bool branches(const Json& schema) {
    constexpr std::array words = {
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
        "dependencies",
        "patternProperties",
    };
    return std::ranges::any_of(words, [&](const char* word) { return schema.contains(word); });
}

std::vector<std::string> listed_types(const Json* schema) {
    const Json* type = member(schema, "type");
    if (type == nullptr) return {};
    if (type->is_string()) return {type->get<std::string>()};
    if (type->is_array()) return type->get<std::vector<std::string>>();
    return {};
}

}  // namespace

std::string_view json_type(const Json& value) {
    if (value.is_object()) return "object";
    if (value.is_array()) return "array";
    if (value.is_string()) return "string";
    if (value.is_boolean()) return "boolean";
    if (value.is_null()) return "null";
    if (value.is_number_integer()) return "integer";
    const double number = value.get<double>();
    return number == static_cast<double>(static_cast<std::int64_t>(number)) ? "integer" : "number";
}

View View::resolved() const {
    View view = *this;
    for (std::size_t i = 0; i < references_max; ++i) {
        const Json* reference = member(view.schema, "$ref");
        // Beside other keywords a reference adds to them: what they say still holds.
        if (reference == nullptr || view.schema->size() != 1) return view;
        const auto& text = reference->get_ref<const std::string&>();
        if (text != "#" && !text.starts_with("#/")) return {root, nullptr};
        if (text.contains('%')) return {root, nullptr};
        try {
            view.schema = &root->at(Json::json_pointer(text.substr(1)));
        } catch (const Json::exception&) {
            return {root, nullptr};
        }
    }
    return {root, nullptr};
}

Field View::field(std::string_view name, View& into) const {
    const View view = resolved();
    into = {root, nullptr};
    if (view.schema == nullptr || !view.schema->is_object()) return Field::unsure;
    if (!view.allows("object")) return Field::excluded;
    if (const Json* properties = member(view.schema, "properties")) {
        if (const auto found = properties->find(name); found != properties->end()) {
            into.schema = &*found;
            return *found == false ? Field::excluded : Field::named;
        }
    }
    const bool patterns = view.schema->contains("patternProperties");
    const Json* more = member(view.schema, "additionalProperties");
    if (more != nullptr && !patterns) {
        if (*more == false) return Field::excluded;
        if (more->is_object()) {
            into.schema = more;
            return Field::named;
        }
    }
    if (branches(*view.schema)) return Field::unsure;
    if (member(view.schema, "unevaluatedProperties") != nullptr &&
        view.schema->at("unevaluatedProperties") == false) {
        return Field::excluded;
    }
    return view.schema->contains("properties") ? Field::unnamed : Field::unsure;
}

View View::items() const {
    const View view = resolved();
    if (view.schema == nullptr || member(view.schema, "prefixItems") != nullptr) {
        return {root, nullptr};
    }
    const Json* items = member(view.schema, "items");
    return {root, items != nullptr && items->is_object() ? items : nullptr};
}

bool View::allows(std::string_view type) const {
    const auto types = listed_types(resolved().schema);
    if (types.empty()) return true;
    return std::ranges::any_of(types, [&](const std::string& listed) {
        return listed == type || (listed == "number" && type == "integer");
    });
}

std::string View::types() const {
    return fmt::format("{}", fmt::join(listed_types(resolved().schema), " or "));
}

}  // namespace nets::shape
