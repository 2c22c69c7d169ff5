#include "nets/cel/functions.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>

// The functions of cel-spec's math extension.
namespace nets::cel {

namespace {

using Choice = bool (*)(std::partial_ordering);

template <Choice better>
base::Result<Value> best(Arguments arguments, Budget& budget) {
    if (!spend(budget, arguments.size())) return out_of_steps();
    Value chosen = arguments[0];
    for (const Value& candidate : arguments.subspan(1)) {
        if (better(order(candidate, chosen))) chosen = candidate;
    }
    return chosen;
}

template <Choice better>
base::Result<Value> best_of_list(Arguments arguments, Budget& budget) {
    const Value& list = arguments[0];
    if (!spend(budget, list.size())) return out_of_steps();
    if (list.size() == 0) return wrong("an empty list has no greatest or least element");
    Value chosen = list.at(0);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Value candidate = list.at(i);
        if (!candidate.is_number()) {
            return wrong(fmt::format("{} among the numbers", a_kind(candidate.kind())));
        }
        if (better(order(candidate, chosen))) chosen = candidate;
    }
    return chosen;
}

template <double (*function)(double)>
base::Result<Value> rounded(Arguments arguments, Budget& /*budget*/) {
    return Value::real(function(arguments[0].as_real()));
}

double ceiling(double value) {
    return std::ceil(value);
}
double floor_of(double value) {
    return std::floor(value);
}
double nearest(double value) {
    return std::round(value);
}
double truncated(double value) {
    return std::trunc(value);
}

base::Result<Value> square_root(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::integer))
        return Value::real(std::sqrt(static_cast<double>(value.as_integer())));
    if (value.is(Kind::uinteger)) {
        return Value::real(std::sqrt(static_cast<double>(value.as_uinteger())));
    }
    return Value::real(std::sqrt(value.as_real()));
}

base::Result<Value> absolute(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::real)) return Value::real(std::abs(value.as_real()));
    if (value.is(Kind::uinteger)) return value;
    if (value.as_integer() == std::numeric_limits<std::int64_t>::min()) {
        return wrong("math.abs() overflows int");
    }
    return Value::integer(std::abs(value.as_integer()));
}

base::Result<Value> sign(Arguments arguments, Budget& /*budget*/) {
    const Value& value = arguments[0];
    if (value.is(Kind::real)) {
        const double number = value.as_real();
        if (std::isnan(number)) return value;
        return Value::real(number > 0 ? 1 : number < 0 ? -1 : 0);
    }
    if (value.is(Kind::uinteger)) return Value::uinteger(value.as_uinteger() > 0 ? 1 : 0);
    return Value::integer(value.as_integer() > 0 ? 1 : value.as_integer() < 0 ? -1 : 0);
}

base::Result<Value> is_nan(Arguments arguments, Budget& /*budget*/) {
    return Value::boolean(std::isnan(arguments[0].as_real()));
}
base::Result<Value> is_infinite(Arguments arguments, Budget& /*budget*/) {
    return Value::boolean(std::isinf(arguments[0].as_real()));
}
base::Result<Value> is_finite(Arguments arguments, Budget& /*budget*/) {
    return Value::boolean(std::isfinite(arguments[0].as_real()));
}

// The bits of an int or uint; the result has the kind of the first argument.
std::uint64_t bits(const Value& value) {
    return value.is(Kind::integer) ? static_cast<std::uint64_t>(value.as_integer())
                                   : value.as_uinteger();
}
Value from_bits(const Value& like, std::uint64_t made) {
    return like.is(Kind::integer) ? Value::integer(static_cast<std::int64_t>(made))
                                  : Value::uinteger(made);
}

base::Result<Value> bit_and(Arguments arguments, Budget& /*budget*/) {
    return from_bits(arguments[0], bits(arguments[0]) & bits(arguments[1]));
}
base::Result<Value> bit_or(Arguments arguments, Budget& /*budget*/) {
    return from_bits(arguments[0], bits(arguments[0]) | bits(arguments[1]));
}
base::Result<Value> bit_xor(Arguments arguments, Budget& /*budget*/) {
    return from_bits(arguments[0], bits(arguments[0]) ^ bits(arguments[1]));
}
base::Result<Value> bit_not(Arguments arguments, Budget& /*budget*/) {
    return from_bits(arguments[0], ~bits(arguments[0]));
}

// Shifts the bits; a negative int is not extended by its sign.
template <bool left>
base::Result<Value> shift(Arguments arguments, Budget& /*budget*/) {
    const std::int64_t count = arguments[1].as_integer();
    if (count < 0) return wrong(fmt::format("a shift by {} bits", count));
    if (count > 63) return from_bits(arguments[0], 0);
    const auto places = static_cast<unsigned>(count);
    const std::uint64_t value = bits(arguments[0]);
    return from_bits(arguments[0], left ? value << places : value >> places);
}

}  // namespace

void add_math_functions(std::vector<Function>& all) {
    const Kinds number = number_kinds;
    const Kinds real = kinds(Kind::real);
    const Kinds list = kinds(Kind::list);
    const Kinds integer = kinds(Kind::integer);
    const Kinds uinteger = kinds(Kind::uinteger);
    const auto add = [&](std::string_view name, std::vector<Kinds> parameters, auto call) {
        all.push_back({name, false, std::move(parameters), std::nullopt, call});
    };
    add("math.greatest", {number}, best<std::is_gt>);
    all.back().variadic = true;
    add("math.greatest", {list}, best_of_list<std::is_gt>);
    add("math.least", {number}, best<std::is_lt>);
    all.back().variadic = true;
    add("math.least", {list}, best_of_list<std::is_lt>);
    add("math.ceil", {real}, rounded<ceiling>);
    add("math.floor", {real}, rounded<floor_of>);
    add("math.round", {real}, rounded<nearest>);
    add("math.trunc", {real}, rounded<truncated>);
    add("math.sqrt", {number}, square_root);
    add("math.abs", {number}, absolute);
    add("math.sign", {number}, sign);
    add("math.isNaN", {real}, is_nan);
    add("math.isInf", {real}, is_infinite);
    add("math.isFinite", {real}, is_finite);
    for (const Kinds kind : {integer, uinteger}) {
        add("math.bitAnd", {kind, kind}, bit_and);
        add("math.bitOr", {kind, kind}, bit_or);
        add("math.bitXor", {kind, kind}, bit_xor);
        add("math.bitNot", {kind}, bit_not);
        add("math.bitShiftLeft", {kind, integer}, shift<true>);
        add("math.bitShiftRight", {kind, integer}, shift<false>);
    }
}

}  // namespace nets::cel
