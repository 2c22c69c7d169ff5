#include "nets/cel/types.hpp"

#include <fmt/format.h>

namespace nets::cel {

namespace {

bool number(Kind kind) {
    return kind >= Kind::integer && kind <= Kind::real;
}

StaticKind time_kind(Op op, Kind left, Kind right) {
    const bool left_point = left == Kind::timestamp;
    const bool right_point = right == Kind::timestamp;
    const bool left_length = left == Kind::duration;
    const bool right_length = right == Kind::duration;
    if (op == Op::add) {
        if ((left_point && right_length) || (left_length && right_point)) return Kind::timestamp;
        if (left_length && right_length) return Kind::duration;
    }
    if (op == Op::subtract) {
        if (left_point && right_length) return Kind::timestamp;
        if ((left_point && right_point) || (left_length && right_length)) return Kind::duration;
    }
    return std::nullopt;
}

}  // namespace

StaticKind arithmetic_kind(Op op, Kind left, Kind right) {
    if (left == right && number(left)) {
        if (op == Op::modulo && left == Kind::real) return std::nullopt;
        return left;
    }
    const bool joined = left == Kind::string || left == Kind::bytes || left == Kind::list;
    if (op == Op::add && left == right && joined) return left;
    return time_kind(op, left, right);
}

bool ordered(Kind left, Kind right) {
    if (number(left) && number(right)) return true;
    if (left != right) return false;
    return left == Kind::boolean || left == Kind::string || left == Kind::bytes ||
           left == Kind::timestamp || left == Kind::duration;
}

bool comparable(Kind left, Kind right) {
    return left == right || (number(left) && number(right)) || left == Kind::null ||
           right == Kind::null;
}

std::string_view symbol(Op op) {
    switch (op) {
        case Op::logical_and:
            return "&&";
        case Op::logical_or:
            return "||";
        case Op::logical_not:
            return "!";
        case Op::negate:
        case Op::subtract:
            return "-";
        case Op::conditional:
            return "?:";
        case Op::add:
            return "+";
        case Op::multiply:
            return "*";
        case Op::divide:
            return "/";
        case Op::modulo:
            return "%";
        case Op::equal:
            return "==";
        case Op::not_equal:
            return "!=";
        case Op::less:
            return "<";
        case Op::less_equal:
            return "<=";
        case Op::greater:
            return ">";
        case Op::greater_equal:
            return ">=";
        case Op::in:
            return "in";
        case Op::item:
            return "[]";
        case Op::optional_item:
            return "[?]";
        case Op::select:
            return ".";
        case Op::optional_select:
            return ".?";
        case Op::has:
            return "has()";
        case Op::all:
            return "all()";
        case Op::exists:
            return "exists()";
        case Op::exists_one:
            return "exists_one()";
        case Op::filter:
            return "filter()";
        case Op::transform_list:
            return "map()";
        case Op::transform_map:
            return "transformMap()";
        case Op::bind:
            return "cel.bind()";
        case Op::optional_map:
            return "optMap()";
        case Op::optional_flat_map:
            return "optFlatMap()";
        case Op::or_optional:
            return "or()";
        case Op::or_value:
            return "orValue()";
        case Op::constant:
        case Op::name:
        case Op::variable:
        case Op::local:
        case Op::call:
        case Op::list:
        case Op::map:
            break;
    }
    return "value";
}

std::string no_operation(Op op, Kind left, Kind right) {
    std::string text = fmt::format("there is no {} {} {}", name(left), symbol(op), name(right));
    if (number(left) && number(right) && left != right) {
        text += "; convert one side, as in double(x)";
    } else if (op == Op::add && (left == Kind::string || right == Kind::string)) {
        text += "; string(x) makes text of a value";
    }
    return text;
}

}  // namespace nets::cel
