#include "base/json_schema_compare.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace base::schema {

namespace {

__extension__ using Wide = unsigned __int128;

std::strong_ordering compare_doubles(double left, double right) {
    if (left < right) return std::strong_ordering::less;
    if (left > right) return std::strong_ordering::greater;
    return std::strong_ordering::equal;
}

std::strong_ordering compare_integer_with_double(std::int64_t left, double right) {
    constexpr double two_to_63 = 9223372036854775808.0;
    if (right >= two_to_63) return std::strong_ordering::less;
    if (right < -two_to_63) return std::strong_ordering::greater;
    const double whole = std::floor(right);
    const auto order = left <=> static_cast<std::int64_t>(whole);
    if (order != std::strong_ordering::equal || whole == right) return order;
    return std::strong_ordering::less;
}

std::strong_ordering reversed(std::strong_ordering order) {
    return 0 <=> order;
}

// nlohmann keeps what is above int64 as unsigned.
bool beyond_int64(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
}

int rank(const Json& value) {
    if (value.is_null()) return 0;
    if (value.is_boolean()) return 1;
    if (value.is_number()) return 2;
    if (value.is_string()) return 3;
    return value.is_array() ? 4 : 5;
}

// value = digits * 10^exponent, digits >= 0: the sign does not matter for divisibility.
struct Decimal {
    std::uint64_t digits = 0;
    int exponent = 0;
};

Decimal decimal(const Json& value) {
    if (value.is_number_unsigned()) return {value.get<std::uint64_t>(), 0};
    if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        const auto bits = static_cast<std::uint64_t>(number);
        return {number < 0 ? 0 - bits : bits, 0};
    }
    char buffer[40];
    const double number = std::fabs(value.get<double>());
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
    const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
    Decimal result;
    const auto e = text.find('e');
    for (std::size_t i = 0; i < e; ++i) {
        if (text[i] == '.') continue;
        result.digits = result.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
        if (i > 1) --result.exponent;
    }
    int exponent = 0;
    const std::size_t first = text[e + 1] == '+' ? e + 2 : e + 1;
    std::from_chars(text.data() + first, text.data() + text.size(), exponent);
    result.exponent += exponent;
    return result;
}

std::uint64_t power_of_ten_modulo(int exponent, std::uint64_t modulus) {
    Wide result = 1 % modulus;
    Wide factor = 10 % modulus;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) result = result * factor % modulus;
        factor = factor * factor % modulus;
    }
    return static_cast<std::uint64_t>(result);
}

}  // namespace

std::strong_ordering compare_numbers(const Json& left, const Json& right) {
    if (left.is_number_float() && right.is_number_float()) {
        return compare_doubles(left.get<double>(), right.get<double>());
    }
    if (beyond_int64(left) || beyond_int64(right)) {
        if (beyond_int64(left) && beyond_int64(right)) {
            return left.get<std::uint64_t>() <=> right.get<std::uint64_t>();
        }
        if (right.is_number_float() || left.is_number_float()) {
            return compare_doubles(left.get<double>(), right.get<double>());
        }
        return beyond_int64(left) ? std::strong_ordering::greater : std::strong_ordering::less;
    }
    if (left.is_number_float()) {
        return reversed(compare_integer_with_double(right.get<std::int64_t>(), left.get<double>()));
    }
    if (right.is_number_float()) {
        return compare_integer_with_double(left.get<std::int64_t>(), right.get<double>());
    }
    return left.get<std::int64_t>() <=> right.get<std::int64_t>();
}

std::strong_ordering compare_values(const Json& left, const Json& right) {
    if (const auto order = rank(left) <=> rank(right); order != 0) return order;
    if (left.is_number()) return compare_numbers(left, right);
    if (left.is_boolean()) return left.get<bool>() <=> right.get<bool>();
    if (left.is_string()) {
        return left.get_ref<const std::string&>() <=> right.get_ref<const std::string&>();
    }
    if (left.is_null()) return std::strong_ordering::equal;
    if (const auto order = left.size() <=> right.size(); order != 0) return order;
    // Members are sorted by key.
    auto other = right.begin();
    for (auto item = left.begin(); item != left.end(); ++item, ++other) {
        if (left.is_object()) {
            if (const auto order = item.key() <=> other.key(); order != 0) return order;
        }
        if (const auto order = compare_values(*item, *other); order != 0) return order;
    }
    return std::strong_ordering::equal;
}

bool is_integer(const Json& value) {
    if (!value.is_number_float()) return value.is_number();
    const double number = value.get<double>();
    return std::isfinite(number) && std::trunc(number) == number;
}

bool is_multiple(const Json& value, const Json& divisor) {
    if (value.is_number_float() && !std::isfinite(value.get<double>())) return false;
    const auto of = decimal(value);
    const auto by = decimal(divisor);
    const int shift = of.exponent - by.exponent;
    if (of.digits == 0) return true;
    if (shift >= 0) {
        const Wide rest = of.digits % by.digits;
        return rest * power_of_ten_modulo(shift, by.digits) % by.digits == 0;
    }
    constexpr int digits_max = 20;  // of a uint64
    if (shift < -digits_max) return false;
    Wide scaled = by.digits;
    for (int i = 0; i < -shift && scaled <= of.digits; ++i)
        scaled *= 10;
    return scaled <= of.digits && of.digits % scaled == 0;
}

std::string shown(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    constexpr std::size_t bytes_max = 80;
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > bytes_max) text = text.substr(0, bytes_max) + "...";
    return text;
}

}  // namespace base::schema
