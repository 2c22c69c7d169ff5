#include "nets/fields.hpp"

#include "base/ids.hpp"
#include "base/length.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace nets {

std::string wrong_type(std::string_view wanted, const base::Json& value) {
    const auto given = [&]() -> std::string_view {
        if (value.is_null()) return "null";
        if (value.is_array()) return "a list";
        if (value.is_object()) return "an object";
        if (value.is_string()) return "a string";
        if (value.is_boolean()) return "a boolean";
        return value.is_number_integer() ? "an integer" : "a number with a fraction";
    };
    return fmt::format("must be {}, not {}", wanted, given());
}

std::string alternatives(std::span<const std::string_view> choices) {
    std::string out;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
        out += fmt::format("'{}'", choices[i]);
    }
    return out;
}

std::optional<std::string> read_text(const base::Json& value, const At& at, Faults& faults) {
    if (value.is_string()) return value.get<std::string>();
    faults.add(at, wrong_type("a string", value));
    return std::nullopt;
}

std::optional<bool> read_boolean(const base::Json& value, const At& at, Faults& faults) {
    if (value.is_boolean()) return value.get<bool>();
    faults.add(at, wrong_type("true or false", value));
    return std::nullopt;
}

std::optional<std::string> read_name(const base::Json& value, const At& at, Faults& faults) {
    auto text = read_text(value, at, faults);
    if (!text || base::valid_name(*text)) return text;
    faults.add(
        at,
        fmt::format(
            "{} is no name: letters, digits, '_' and '-', beginning with a letter, at most 128",
            in_quotes(*text)
        )
    );
    return std::nullopt;
}

std::optional<std::int64_t> read_integer(
    const base::Json& value, const At& at, Faults& faults, IntegerRange range
) {
    const auto wanted = fmt::format("a whole number from {} to {}", range.min, range.max);
    if (!value.is_number_integer()) {
        faults.add(at, wrong_type(wanted, value));
        return std::nullopt;
    }
    const bool huge = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto number = huge ? std::numeric_limits<std::int64_t>::max() : value.get<std::int64_t>();
    if (!huge && number >= range.min && number <= range.max) return number;
    faults.add(at, fmt::format("must be {}, not {}", wanted, value.dump()));
    return std::nullopt;
}

std::optional<double> read_number(
    const base::Json& value, const At& at, Faults& faults, NumberRange range
) {
    const auto wanted = fmt::format("a number from {} to {}", range.min, range.max);
    if (!value.is_number()) {
        faults.add(at, wrong_type(wanted, value));
        return std::nullopt;
    }
    const auto number = value.get<double>();
    if (number >= range.min && number <= range.max) return number;
    faults.add(at, fmt::format("must be {}, not {}", wanted, value.dump()));
    return std::nullopt;
}

std::optional<base::Duration> read_duration(
    const base::Json& value, const At& at, Faults& faults, DurationRange range
) {
    constexpr std::string_view wanted = "a duration such as '250ms', '30s', '5m', '2h' or '1d'";
    if (!value.is_string()) {
        faults.add(at, wrong_type(wanted, value));
        return std::nullopt;
    }
    const auto length =
        base::length_within(value.get_ref<const std::string&>(), {range.min, range.max});
    if (length) return *length;
    faults.add(at, length.error().message);
    return std::nullopt;
}

std::optional<std::size_t> read_choice(
    const base::Json& value, const At& at, Faults& faults, std::span<const std::string_view> choices
) {
    if (!value.is_string()) {
        faults.add(at, wrong_type(alternatives(choices), value));
        return std::nullopt;
    }
    const auto& text = value.get_ref<const std::string&>();
    const auto found = std::ranges::find(choices, text);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    faults.add(at, fmt::format("must be {}, not {}", alternatives(choices), in_quotes(text)));
    return std::nullopt;
}

bool expect_object(const base::Json& value, const At& at, Faults& faults) {
    if (value.is_object()) return true;
    faults.add(at, wrong_type("an object", value));
    return false;
}

bool expect_list(const base::Json& value, const At& at, Faults& faults) {
    if (value.is_array()) return true;
    faults.add(at, wrong_type("a list", value));
    return false;
}

Fields::Fields(
    const base::Json& object, const At& at, Faults& faults, std::span<const std::string_view> known
)
    : object_(expect_object(object, at, faults) ? &object : nullptr), at_(at), faults_(faults) {
    if (object_ == nullptr) return;
    for (const auto& [key, value] : object.get_ref<const base::Json::object_t&>()) {
        if (std::ranges::find(known, key) != known.end()) continue;
        const std::vector<std::string_view> names(known.begin(), known.end());
        const auto hint = faults.full() ? "" : did_you_mean(key, names);
        faults.add(at / key, fmt::format("unknown field {}{}", in_quotes(key), hint));
    }
}

const base::Json* Fields::find(std::string_view name) const {
    if (object_ == nullptr) return nullptr;
    const auto found = object_->find(name);
    return found == object_->end() ? nullptr : &*found;
}

const base::Json* Fields::require(std::string_view name) const {
    const auto* found = find(name);
    if (found == nullptr && object_ != nullptr) {
        faults_.add(at_, fmt::format("the field '{}' is missing", name));
    }
    return found;
}

}  // namespace nets
