#include "base/json_schema_compare.hpp"
#include "base/json_schema_compiler.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

/// The keywords that look at one kind of value each.
namespace base::schema {

namespace {

constexpr std::array type_names = {
    std::pair<std::string_view, Type>{"null", type_null},
    std::pair<std::string_view, Type>{"boolean", type_boolean},
    std::pair<std::string_view, Type>{"integer", type_integer},
    std::pair<std::string_view, Type>{"number", type_number},
    std::pair<std::string_view, Type>{"string", type_string},
    std::pair<std::string_view, Type>{"array", type_array},
    std::pair<std::string_view, Type>{"object", type_object},
};

}  // namespace

void Compiler::wrong(const Source& source, std::string_view keyword, std::string message) {
    faults_.add(source.at, keyword, ErrorCode::validation, std::move(message));
}

std::uint8_t Compiler::type(const Source& source, const Json& value) {
    if (value.is_string()) {
        for (const auto& [name, type] : type_names) {
            if (value.get_ref<const std::string&>() == name) return type;
        }
    }
    wrong(
        source,
        "type",
        fmt::format(
            "{} is no type; null, boolean, integer, number, string, array and object are",
            shown(value)
        )
    );
    return 0;
}

std::uint8_t Compiler::types(const Source& source, const Json& value) {
    if (!value.is_array()) return type(source, value);
    if (value.empty()) wrong(source, "type", "must name at least one type");
    unsigned types = 0;
    for (const auto& item : value) {
        const unsigned one = type(source, item);
        if ((types & one) != 0) wrong(source, "type", fmt::format("names {} twice", shown(item)));
        types |= one;
    }
    return static_cast<std::uint8_t>(types);
}

const Json* Compiler::number(const Source& source, std::string_view keyword) {
    const auto* given = source.given(keyword);
    if (given == nullptr || given->is_number()) return given;
    wrong(source, keyword, "must be a number");
    return nullptr;
}

std::optional<std::uint64_t> Compiler::count(const Source& source, std::string_view keyword) {
    const auto* given = source.given(keyword);
    if (given == nullptr) return std::nullopt;
    if (!given->is_number() || !is_integer(*given) || compare_numbers(*given, 0) < 0) {
        wrong(source, keyword, "must be an integer, and not negative");
        return std::nullopt;
    }
    constexpr double two_to_63 = 9223372036854775808.0;
    if (given->is_number_float() && given->get<double>() >= two_to_63) return UINT64_MAX;
    return given->get<std::uint64_t>();
}

std::optional<std::size_t> Compiler::pattern(
    const Source& source, std::string_view keyword, const std::string& text
) {
    if (const auto known = patterns_.find(text); known != patterns_.end()) return known->second;
    // Compiling costs as much as what is compiled: it ends with the first that is too much.
    if (pattern_instructions_ > compiled_.limits.pattern_instructions_max) return std::nullopt;
    auto made = Pattern::compile(text);
    if (!made) {
        auto message = made.error().message;
        if (!made.error().next.empty()) message += "; " + made.error().next;
        faults_.add(source.at, keyword, made.error().code, std::move(message));
        return std::nullopt;
    }
    pattern_instructions_ += made->instructions();
    if (pattern_instructions_ > compiled_.limits.pattern_instructions_max) {
        faults_.add(
            source.at,
            keyword,
            ErrorCode::limit,
            fmt::format(
                "the patterns up to here have more than {} instructions; make them smaller",
                compiled_.limits.pattern_instructions_max
            )
        );
        return std::nullopt;
    }
    compiled_.patterns.push_back(std::move(*made));
    patterns_.emplace(text, compiled_.patterns.size() - 1);
    return compiled_.patterns.size() - 1;
}

std::vector<std::string> Compiler::names(
    const Source& source, std::string_view keyword, const Json& value
) {
    std::vector<std::string> names;
    if (!value.is_array()) {
        wrong(source, keyword, "must be a list of names");
        return names;
    }
    for (const auto& item : value) {
        if (!item.is_string()) {
            wrong(source, keyword, fmt::format("{} is not a name", shown(item)));
        } else if (std::ranges::find(names, item.get_ref<const std::string&>()) != names.end()) {
            wrong(source, keyword, fmt::format("names {} twice", shown(item)));
        } else {
            names.push_back(item.get<std::string>());
        }
    }
    return names;
}

MaybeNode Compiler::child(const Source& source, std::string_view keyword) {
    const auto* given = source.given(keyword);
    if (given == nullptr) return std::nullopt;
    return node(*given);
}

std::vector<NodeId> Compiler::children(const Source& source, std::string_view keyword) {
    std::vector<NodeId> ids;
    const auto* given = source.given(keyword);
    if (given == nullptr) return ids;
    if (!given->is_array() || given->empty()) {
        wrong(source, keyword, "must be a list of at least one schema");
        return ids;
    }
    for (const auto& item : *given)
        ids.push_back(node(item));
    return ids;
}

std::map<std::string, NodeId> Compiler::members(const Source& source, std::string_view keyword) {
    std::map<std::string, NodeId> ids;
    const auto* given = source.given(keyword);
    if (given == nullptr) return ids;
    if (!given->is_object()) {
        wrong(source, keyword, "must be an object whose members are schemas");
        return ids;
    }
    for (const auto& [name, schema] : given->items())
        ids.emplace(name, node(schema));
    return ids;
}

void Compiler::build_value(const Source& source, Node& node) {
    ValueRules rules;
    const auto* type_given = source.given("type");
    const auto* one_of = source.given("enum");
    const auto* constant = source.given("const");
    if (type_given == nullptr && one_of == nullptr && constant == nullptr) return;
    if (type_given != nullptr) rules.types = types(source, *type_given);
    if (one_of != nullptr) {
        if (one_of->is_array()) {
            rules.one_of = one_of->get<std::vector<Json>>();
        } else {
            wrong(source, "enum", "must be a list of values");
        }
    }
    if (constant != nullptr) rules.constant = *constant;
    node.value = std::make_unique<ValueRules>(std::move(rules));
}

void Compiler::build_number(const Source& source, Node& node) {
    NumberRules rules;
    bool any = false;
    const auto take = [&](std::string_view keyword, std::optional<Json>& rule) {
        const auto* given = number(source, keyword);
        if (given == nullptr) return;
        rule = *given;
        any = true;
    };
    take("multipleOf", rules.multiple_of);
    take("maximum", rules.maximum);
    take("exclusiveMaximum", rules.exclusive_maximum);
    take("minimum", rules.minimum);
    take("exclusiveMinimum", rules.exclusive_minimum);
    if (rules.multiple_of && compare_numbers(*rules.multiple_of, 0) <= 0) {
        wrong(source, "multipleOf", "must be greater than zero");
    }
    if (any) node.number = std::make_unique<NumberRules>(std::move(rules));
}

void Compiler::build_string(const Source& source, Node& node) {
    StringRules rules;
    rules.length_max = count(source, "maxLength");
    rules.length_min = count(source, "minLength");
    if (const auto* given = source.given("pattern")) {
        if (given->is_string()) {
            rules.pattern_text = given->get<std::string>();
            rules.pattern = pattern(source, "pattern", rules.pattern_text);
        } else {
            wrong(source, "pattern", "must be a regular expression");
        }
    }
    const auto* format = source.given("format");
    if (format != nullptr && !format->is_string()) {
        wrong(source, "format", "must be the name of a format");
    } else if (format != nullptr &&
               (options_.format_assertions || source.dialect.formats_asserted)) {
        rules.format_name = format->get<std::string>();
        rules.format = format_check(rules.format_name);
        if (rules.format == nullptr) {
            faults_.add(
                source.at,
                "format",
                ErrorCode::unsupported,
                fmt::format("the format '{}' is not known here", rules.format_name)
            );
        }
    }
    if (rules.length_max || rules.length_min || rules.pattern || rules.format != nullptr) {
        node.string = std::make_unique<StringRules>(std::move(rules));
    }
}

void Compiler::build_items(const Source& source, ArrayRules& rules) {
    if (source.dialect.draft == SchemaDraft::draft2020_12) {
        rules.prefix = children(source, "prefixItems");
        const auto* items = source.given("items");
        if (items != nullptr && items->is_array()) {
            wrong(source, "items", "must be a schema; a list of schemas is called prefixItems");
        } else {
            rules.items = child(source, "items");
        }
        return;
    }
    const auto* items = source.given("items");
    if (items != nullptr && items->is_array()) {
        for (const auto& item : *items)
            rules.prefix.push_back(node(item));
        rules.items = child(source, "additionalItems");
    } else {
        rules.items = child(source, "items");
    }
}

void Compiler::build_array(const Source& source, Node& node) {
    ArrayRules rules;
    rules.items_max = count(source, "maxItems");
    rules.items_min = count(source, "minItems");
    if (const auto* unique = source.given("uniqueItems")) {
        if (!unique->is_boolean()) wrong(source, "uniqueItems", "must be true or false");
        rules.unique = *unique == true;
    }
    build_items(source, rules);
    rules.contains = child(source, "contains");
    rules.contains_min = count(source, "minContains").value_or(1);
    rules.contains_max = count(source, "maxContains");
    rules.unevaluated = child(source, "unevaluatedItems");
    if (rules.items_max || rules.items_min || rules.unique || !rules.prefix.empty() ||
        rules.items || rules.contains || rules.unevaluated) {
        node.array = std::make_unique<ArrayRules>(std::move(rules));
    }
}

void Compiler::build_object(const Source& source, Node& node) {
    ObjectRules rules;
    rules.members_max = count(source, "maxProperties");
    rules.members_min = count(source, "minProperties");
    if (const auto* required = source.given("required")) {
        rules.required = names(source, "required", *required);
    }
    rules.properties = members(source, "properties");
    for (const auto& [text, id] : members(source, "patternProperties")) {
        if (const auto made = pattern(source, "patternProperties", text)) {
            rules.patterns.emplace_back(*made, id);
        }
    }
    rules.additional = child(source, "additionalProperties");
    rules.names = child(source, "propertyNames");
    rules.unevaluated = child(source, "unevaluatedProperties");
    if (rules.members_max || rules.members_min || !rules.required.empty() ||
        !rules.properties.empty() || !rules.patterns.empty() || rules.additional || rules.names ||
        rules.unevaluated) {
        node.object = std::make_unique<ObjectRules>(std::move(rules));
    }
}

}  // namespace base::schema
