#include "base/json_schema_compare.hpp"
#include "base/json_schema_evaluation.hpp"

#include <algorithm>
#include <fmt/format.h>

/// Rules that look at one value and not into it.
namespace base::schema {

namespace {

unsigned types_of(const Json& value) {
    if (value.is_null()) return type_null;
    if (value.is_boolean()) return type_boolean;
    if (value.is_string()) return type_string;
    if (value.is_array()) return type_array;
    if (value.is_object()) return type_object;
    if (!value.is_number()) return 0;
    return is_integer(value) ? type_integer | type_number : type_number;
}

std::string names_of_types(unsigned types) {
    std::string names;
    const auto add = [&](Type type, std::string_view name) {
        if ((types & type) == 0) return;
        if (!names.empty()) names += " or ";
        names += name;
    };
    add(type_null, "null");
    add(type_boolean, "boolean");
    add(type_integer, "integer");
    add(type_number, "number");
    add(type_string, "string");
    add(type_array, "array");
    add(type_object, "object");
    return names;
}

std::string listed(const std::vector<Json>& values) {
    constexpr std::size_t shown_max = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(values.size(), shown_max); ++i)
        text += (i == 0 ? "" : ", ") + shown(values[i]);
    return values.size() > shown_max ? text + ", ..." : text;
}

std::uint64_t code_points(std::string_view text) {
    return static_cast<std::uint64_t>(std::ranges::count_if(text, [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
}

}  // namespace

bool Evaluation::value_rules(const ValueRules& rules, const Subject& subject) {
    const auto& value = subject.value;
    bool valid = true;
    if (rules.types != 0 && (types_of(value) & rules.types) == 0) {
        valid = fault(
            subject, fmt::format("{} is not of type {}", shown(value), names_of_types(rules.types))
        );
    }
    if (!valid && enough()) return false;
    if (rules.one_of || rules.constant) {
        const std::uint64_t alternatives = rules.one_of ? rules.one_of->size() : 1;
        if (!spend(alternatives + weight(value))) return false;
    }
    const auto same = [&](const Json& other) { return compare_values(value, other) == 0; };
    if (rules.one_of && std::ranges::none_of(*rules.one_of, same)) {
        valid =
            fault(subject, fmt::format("{} is none of {}", shown(value), listed(*rules.one_of)));
    }
    if (rules.constant && !same(*rules.constant)) {
        valid = fault(
            subject, fmt::format("{} is not the constant {}", shown(value), shown(*rules.constant))
        );
    }
    return valid;
}

bool Evaluation::number_rules(const NumberRules& rules, const Subject& subject) {
    const auto& value = subject.value;
    bool valid = true;
    const auto hold = [&](const std::optional<Json>& limit, std::string_view not_so, auto&& holds) {
        if (!limit || holds(compare_numbers(value, *limit))) return;
        valid = fault(subject, fmt::format("{} is {} {}", shown(value), not_so, shown(*limit)));
    };
    hold(rules.maximum, "greater than the maximum", [](auto order) { return order <= 0; });
    hold(rules.minimum, "less than the minimum", [](auto order) { return order >= 0; });
    hold(rules.exclusive_maximum, "not less than", [](auto order) { return order < 0; });
    hold(rules.exclusive_minimum, "not greater than", [](auto order) { return order > 0; });
    if (rules.multiple_of && !is_multiple(value, *rules.multiple_of)) {
        valid = fault(
            subject,
            fmt::format("{} is not a multiple of {}", shown(value), shown(*rules.multiple_of))
        );
    }
    return valid;
}

bool Evaluation::string_rules(const StringRules& rules, const Subject& subject) {
    const auto& text = subject.value.get_ref<const std::string&>();
    bool valid = true;
    if (!spend(1 + text.size() / 64)) return false;
    if (rules.length_max || rules.length_min) {
        const auto length = code_points(text);
        if (rules.length_max && length > *rules.length_max) {
            valid = fault(
                subject,
                fmt::format("has {} characters; at most {} may be", length, *rules.length_max)
            );
        }
        if (rules.length_min && length < *rules.length_min) {
            valid = fault(
                subject,
                fmt::format("has {} characters; at least {} must be", length, *rules.length_min)
            );
        }
    }
    if (!valid && enough()) return false;
    if (rules.pattern && !spend(compiled_.patterns[*rules.pattern].steps(text))) return false;
    if (rules.pattern && !compiled_.patterns[*rules.pattern].found_in(text)) {
        valid = fault(
            subject,
            fmt::format(
                "{} does not match the pattern '{}'", shown(subject.value), rules.pattern_text
            )
        );
    }
    if (rules.format != nullptr && !rules.format(text)) {
        valid = fault(
            subject,
            fmt::format("{} is not of the format '{}'", shown(subject.value), rules.format_name)
        );
    }
    return valid;
}

}  // namespace base::schema
