#include "nets/cel/evaluation.hpp"
#include "nets/cel/functions.hpp"
#include "nets/cel/literal.hpp"
#include "nets/cel/times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace nets::cel {

namespace {

constexpr std::size_t number_text_bytes_max = 1024;

std::unexpected<base::Error> no_conversion(std::string_view to, const Value& from) {
    return wrong(fmt::format("{}({}) is not possible", to, shown(from)));
}

base::Result<Value> to_boolean(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::boolean)) return value;
    constexpr std::array<std::string_view, 5> yes = {"1", "t", "true", "TRUE", "True"};
    constexpr std::array<std::string_view, 5> no = {"0", "f", "false", "FALSE", "False"};
    if (std::ranges::find(yes, value.text()) != yes.end()) return Value::boolean(true);
    if (std::ranges::find(no, value.text()) != no.end()) return Value::boolean(false);
    return no_conversion("bool", value);
}

base::Result<Value> to_integer(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::integer)) return value;
    if (value.is(Kind::timestamp)) return Value::integer(value.as_span().seconds);
    if (value.is(Kind::uinteger) && std::in_range<std::int64_t>(value.as_uinteger())) {
        return Value::integer(static_cast<std::int64_t>(value.as_uinteger()));
    }
    if (value.is(Kind::real) && value.as_real() > -0x1p63 && value.as_real() < 0x1p63) {
        return Value::integer(static_cast<std::int64_t>(value.as_real()));
    }
    if (value.is(Kind::string) && !value.text().starts_with("0x")) {
        if (const auto read = read_integer(value.text())) return Value::integer(*read);
    }
    return no_conversion("int", value);
}

base::Result<Value> to_uinteger(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::uinteger)) return value;
    if (value.is(Kind::integer) && value.as_integer() >= 0) {
        return Value::uinteger(static_cast<std::uint64_t>(value.as_integer()));
    }
    if (value.is(Kind::real) && value.as_real() >= 0 && value.as_real() < 0x1p64) {
        return Value::uinteger(static_cast<std::uint64_t>(value.as_real()));
    }
    if (value.is(Kind::string) && !value.text().starts_with("0x")) {
        if (const auto read = read_uinteger(value.text())) return Value::uinteger(*read);
    }
    return no_conversion("uint", value);
}

base::Result<Value> to_real(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::real)) return value;
    if (value.is(Kind::integer)) return Value::real(static_cast<double>(value.as_integer()));
    if (value.is(Kind::uinteger)) return Value::real(static_cast<double>(value.as_uinteger()));
    if (value.text().size() <= number_text_bytes_max) {
        if (const auto read = read_real(value.text())) return Value::real(*read);
    }
    return no_conversion("double", value);
}

base::Result<Value> to_string(Arguments arguments, Budget& budget) {
    const Value& value = arguments[0];
    switch (value.kind()) {
        case Kind::string:
            return value;
        case Kind::bytes:
            if (!spend_text(budget, value.text().size())) return out_of_steps();
            if (!base::valid_utf8(value.text())) return wrong("the bytes are not UTF-8 text");
            return Value::string(std::string(value.text()));
        case Kind::uinteger:
            return Value::string(fmt::format("{}", value.as_uinteger()));
        default:
            return Value::string(shown(value));
    }
}

base::Result<Value> to_bytes(Arguments arguments, Budget& budget) {
    const Value& value = arguments[0];
    if (value.is(Kind::bytes)) return value;
    if (!spend_text(budget, value.text().size())) return out_of_steps();
    return Value::bytes(std::string(value.text()));
}

base::Result<Value> to_timestamp(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::timestamp)) return value;
    if (value.is(Kind::integer)) return timestamp_in_range({value.as_integer(), 0});
    return read_timestamp(value.text());
}

base::Result<Value> to_duration(Arguments arguments, Budget& budget) {
    const Value& value = arguments[0];
    if (value.is(Kind::duration)) return value;
    if (!spend_text(budget, value.text().size())) return out_of_steps();
    return read_duration(value.text());
}

}  // namespace

void add_conversions(std::vector<Function>& all) {
    const Kinds text = kinds(Kind::string);
    const Kinds numeric = number_kinds | text;
    const auto add = [&](Kind to, std::string_view name, Kinds from, auto call) {
        all.push_back({name, false, {static_cast<Kinds>(from)}, to, call});
    };
    add(Kind::boolean, "bool", kinds(Kind::boolean, Kind::string), to_boolean);
    add(Kind::integer, "int", numeric | kinds(Kind::timestamp), to_integer);
    add(Kind::uinteger, "uint", numeric, to_uinteger);
    add(Kind::real, "double", numeric, to_real);
    add(Kind::string,
        "string",
        numeric | kinds(Kind::boolean, Kind::bytes, Kind::timestamp, Kind::duration),
        to_string);
    add(Kind::bytes, "bytes", kinds(Kind::bytes, Kind::string), to_bytes);
    add(Kind::timestamp, "timestamp", text | kinds(Kind::timestamp, Kind::integer), to_timestamp);
    add(Kind::duration, "duration", text | kinds(Kind::duration), to_duration);
}

}  // namespace nets::cel
