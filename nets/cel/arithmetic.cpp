#include "nets/cel/evaluation.hpp"
#include "nets/cel/functions.hpp"
#include "nets/cel/times.hpp"
#include "nets/cel/types.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace nets::cel {

namespace {

std::unexpected<base::Error> overflow(Op op, std::string_view kind) {
    return wrong(fmt::format("{} overflows {}", symbol(op), kind));
}

template <class Integer>
base::Result<Integer> whole(Op op, Integer left, Integer right, std::string_view kind) {
    Integer result = 0;
    bool overflows = false;
    if (op == Op::add) {
        overflows = __builtin_add_overflow(left, right, &result);
    } else if (op == Op::subtract) {
        overflows = __builtin_sub_overflow(left, right, &result);
    } else if (op == Op::multiply) {
        overflows = __builtin_mul_overflow(left, right, &result);
    } else {
        if (right == 0) return wrong(op == Op::divide ? "division by zero" : "modulus by zero");
        if constexpr (std::is_signed_v<Integer>) {
            if (left == std::numeric_limits<Integer>::min() && right == -1) {
                return overflow(op, kind);
            }
        }
        result = op == Op::divide ? left / right : left % right;
    }
    if (overflows) return overflow(op, kind);
    return result;
}

double fractional(Op op, double left, double right) {
    if (op == Op::add) return left + right;
    if (op == Op::subtract) return left - right;
    return op == Op::multiply ? left * right : left / right;
}

// A number from a token widens from int to double to meet the other side.
double widened(const Value& number) {
    return number.is(Kind::integer) ? static_cast<double>(number.as_integer()) : number.as_real();
}

bool mixes(const Value& left, const Value& right) {
    return (left.soft() || right.soft()) && !left.is(Kind::uinteger) && !right.is(Kind::uinteger);
}

base::Result<Value> numbers(Op op, const Value& left, const Value& right) {
    Value result;
    if (left.is(Kind::integer) && right.is(Kind::integer)) {
        const auto made = whole(op, left.as_integer(), right.as_integer(), "int");
        if (!made) return std::unexpected(made.error());
        result = Value::integer(*made);
    } else if (left.is(Kind::uinteger) && right.is(Kind::uinteger)) {
        const auto made = whole(op, left.as_uinteger(), right.as_uinteger(), "uint");
        if (!made) return std::unexpected(made.error());
        result = Value::uinteger(*made);
    } else if (op != Op::modulo && (left.kind() == right.kind() || mixes(left, right))) {
        result = Value::real(fractional(op, widened(left), widened(right)));
    } else {
        return wrong(no_operation(op, left.kind(), right.kind()));
    }
    return left.soft() || right.soft() ? result.softened() : result;
}

base::Result<Value> joined(const Value& left, const Value& right, Budget& budget) {
    if (left.is(Kind::list)) {
        if (!spend(budget, left.size() + right.size())) return out_of_steps();
        std::vector<Value> elements;
        elements.reserve(left.size() + right.size());
        for (const Value* part : {&left, &right}) {
            for (std::size_t i = 0; i < part->size(); ++i)
                elements.push_back(part->at(i));
        }
        return Value::list(std::move(elements));
    }
    if (!spend_text(budget, left.text().size() + right.text().size())) return out_of_steps();
    std::string text;
    text.reserve(left.text().size() + right.text().size());
    text.append(left.text()).append(right.text());
    return left.is(Kind::string) ? Value::string(std::move(text)) : Value::bytes(std::move(text));
}

}  // namespace

base::Result<Value> arithmetic(Op op, const Value& left, const Value& right, Budget& budget) {
    if (left.is_number() && right.is_number()) return numbers(op, left, right);
    const StaticKind result = arithmetic_kind(op, left.kind(), right.kind());
    if (!result) return wrong(no_operation(op, left.kind(), right.kind()));
    if (*result == Kind::timestamp || *result == Kind::duration) {
        return time_arithmetic(op == Op::subtract, left, right);
    }
    return joined(left, right, budget);
}

base::Result<Value> negate(const Value& value) {
    if (value.is(Kind::integer)) {
        if (value.as_integer() == std::numeric_limits<std::int64_t>::min()) {
            return overflow(Op::negate, "int");
        }
        const Value result = Value::integer(-value.as_integer());
        return value.soft() ? result.softened() : result;
    }
    if (value.is(Kind::real)) {
        const Value result = Value::real(-value.as_real());
        return value.soft() ? result.softened() : result;
    }
    return wrong(fmt::format("there is no -{}", name(value.kind())));
}

}  // namespace nets::cel
