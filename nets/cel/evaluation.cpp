#include "nets/cel/evaluation.hpp"

#include "nets/cel/functions.hpp"
#include "nets/cel/regex.hpp"
#include "nets/cel/types.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace nets::cel {

namespace {

// Making an error costs more than visiting a node.
constexpr std::uint64_t error_steps = 10;

bool absorbable(const base::Error& error) {
    return error.code != base::ErrorCode::limit;
}

}  // namespace

std::unexpected<base::Error> out_of_steps() {
    return base::fail(
        base::ErrorCode::limit,
        "the evaluation takes more steps than its budget",
        "go through fewer elements or make less text"
    );
}

std::unexpected<base::Error> wrong(std::string message) {
    return base::fail(base::ErrorCode::validation, std::move(message));
}

std::unexpected<base::Error> Evaluation::failed(const Node& node, std::string_view message) {
    if (!spend(budget_, error_steps)) return exhausted(node);
    return wrong(at_text(node.at, message));
}

std::unexpected<base::Error> Evaluation::exhausted(const Node& node) {
    auto error = out_of_steps();
    error.error().message = at_text(node.at, error.error().message);
    return error;
}

base::Result<Value> Evaluation::located(const Node& node, base::Result<Value> result) {
    if (result) return result;
    if (absorbable(result.error()) && !spend(budget_, error_steps)) return exhausted(node);
    result.error().message = at_text(node.at, result.error().message);
    return result;
}

const Value* Evaluation::look(const Node& node, base::Result<Value>& scratch) {
    if (node.op == Op::constant) return &node.value;
    if (node.op == Op::variable) return &values_[node.index];
    if (node.op == Op::local) return &locals_[node.index];
    scratch = run(node);
    return scratch ? &*scratch : nullptr;
}

base::Result<Value> Evaluation::run(const Node& node) {
    if (!spend(budget_, 1)) return exhausted(node);
    switch (node.op) {
        case Op::constant:
            return node.value;
        case Op::name:
            return failed(node, fmt::format("unknown name '{}'", node.text));
        case Op::variable:
            return values_[node.index];
        case Op::local:
            return locals_[node.index];
        case Op::select:
        case Op::optional_select:
            return select(node);
        case Op::has:
            return has(node);
        case Op::item:
        case Op::optional_item:
            return item(node);
        case Op::call:
            return call(node);
        case Op::logical_and:
            return logical(node, false);
        case Op::logical_or:
            return logical(node, true);
        case Op::logical_not:
        case Op::negate:
            return not_or_negate(node);
        case Op::conditional:
            return conditional(node);
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::divide:
        case Op::modulo:
            return arithmetic(node);
        case Op::equal:
        case Op::not_equal:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
            return compare(node);
        case Op::in:
            return contained(node);
        case Op::list:
            return list(node);
        case Op::map:
            return map(node);
        case Op::all:
        case Op::exists:
            return quantified(node);
        case Op::exists_one:
            return exists_one(node);
        case Op::filter:
            return filter(node);
        case Op::transform_list:
            return transform_list(node);
        case Op::transform_map:
            return transform_map(node);
        case Op::bind:
            return bind(node);
        case Op::optional_map:
        case Op::optional_flat_map:
            return optional_macro(node);
        case Op::or_optional:
        case Op::or_value:
            return or_else(node);
    }
    return failed(node, "not an expression");
}

// && and ||: a deciding value on any side wins over an error on another.
base::Result<Value> Evaluation::logical(const Node& node, bool deciding) {
    base::Result<Value> first_error;
    for (const Node& child : node.children) {
        base::Result<Value> scratch;
        const Value* value = look(child, scratch);
        if (value && value->is(Kind::boolean)) {
            if (value->as_boolean() == deciding) return Value::boolean(deciding);
            continue;
        }
        if (value) {
            const auto kind = a_kind(value->kind());
            scratch =
                failed(node, fmt::format("{} asks for a bool, not {}", symbol(node.op), kind));
        }
        if (!absorbable(scratch.error())) return scratch;
        if (first_error) first_error = std::move(scratch);
    }
    if (!first_error) return first_error;
    return Value::boolean(!deciding);
}

base::Result<Value> Evaluation::conditional(const Node& node) {
    base::Result<Value> scratch;
    const Value* value = look(node.children[0], scratch);
    if (!value) return scratch;
    if (!value->is(Kind::boolean)) {
        return failed(node, fmt::format("?: asks for a bool, not {}", a_kind(value->kind())));
    }
    return run(node.children[value->as_boolean() ? 1 : 2]);
}

base::Result<Value> Evaluation::not_or_negate(const Node& node) {
    base::Result<Value> scratch;
    const Value* value = look(node.children[0], scratch);
    if (!value) return scratch;
    if (node.op == Op::negate) return located(node, negate(*value));
    if (!value->is(Kind::boolean)) {
        return failed(node, fmt::format("! asks for a bool, not {}", a_kind(value->kind())));
    }
    return Value::boolean(!value->as_boolean());
}

base::Result<Value> Evaluation::compare(const Node& node) {
    base::Result<Value> left_scratch;
    const Value* left = look(node.children[0], left_scratch);
    if (!left) return left_scratch;
    base::Result<Value> right_scratch;
    const Value* right = look(node.children[1], right_scratch);
    if (!right) return right_scratch;
    if (node.op != Op::equal && node.op != Op::not_equal) return order_of(node, *left, *right);
    std::uint64_t work = 0;
    const bool same = equal(*left, *right, work, budget_.steps);
    if (!spend(budget_, work)) return exhausted(node);
    return Value::boolean(same == (node.op == Op::equal));
}

base::Result<Value> Evaluation::order_of(const Node& node, const Value& left, const Value& right) {
    if (!ordered(left.kind(), right.kind())) {
        return failed(node, no_operation(node.op, left.kind(), right.kind()));
    }
    if ((left.is(Kind::string) || left.is(Kind::bytes)) &&
        !spend_text(budget_, std::min(left.text().size(), right.text().size()))) {
        return exhausted(node);
    }
    const std::partial_ordering order = cel::order(left, right);
    switch (node.op) {
        case Op::less:
            return Value::boolean(std::is_lt(order));
        case Op::less_equal:
            return Value::boolean(std::is_lteq(order));
        case Op::greater:
            return Value::boolean(std::is_gt(order));
        default:
            return Value::boolean(std::is_gteq(order));
    }
}

base::Result<Value> Evaluation::arithmetic(const Node& node) {
    base::Result<Value> left_scratch;
    const Value* left = look(node.children[0], left_scratch);
    if (!left) return left_scratch;
    base::Result<Value> right_scratch;
    const Value* right = look(node.children[1], right_scratch);
    if (!right) return right_scratch;
    return located(node, cel::arithmetic(node.op, *left, *right, budget_));
}

base::Result<Value> Evaluation::contained(const Node& node) {
    base::Result<Value> left_scratch;
    const Value* element = look(node.children[0], left_scratch);
    if (!element) return left_scratch;
    base::Result<Value> right_scratch;
    const Value* container = look(node.children[1], right_scratch);
    if (!container) return right_scratch;
    if (container->is(Kind::map)) return Value::boolean(container->find(*element).has_value());
    if (!container->is(Kind::list)) {
        return failed(
            node, fmt::format("'in' looks into a list or map, not {}", a_kind(container->kind()))
        );
    }
    std::uint64_t work = 0;
    bool found = false;
    for (std::size_t i = 0; i < container->size() && !found && work <= budget_.steps; ++i)
        found = equal(*element, container->at(i), work, budget_.steps);
    if (!spend(budget_, work)) return exhausted(node);
    return Value::boolean(found);
}

base::Result<Value> Evaluation::call(const Node& node) {
    if (node.overloads.empty())
        return failed(node, fmt::format("unknown function '{}'", node.text));
    constexpr std::size_t few = 4;
    std::array<Value, few> in_place;
    std::vector<Value> many;
    std::span<Value> arguments(in_place.data(), std::min(node.children.size(), few));
    if (node.children.size() > few) {
        many.resize(node.children.size());
        arguments = many;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        auto value = run(node.children[i]);
        if (!value) return value;
        arguments[i] = std::move(*value);
    }
    if (node.pattern && arguments[0].is(Kind::string)) {
        const std::uint64_t steps = search_steps(*node.pattern, arguments[0].text());
        if (!spend(budget_, steps)) return exhausted(node);
        return Value::boolean(found_in(*node.pattern, arguments[0].text()));
    }
    return invoke(node, arguments);
}

base::Result<Value> Evaluation::invoke(const Node& node, std::span<Value> arguments) {
    const auto kind_of = [](const Value& value) { return name(value.kind()); };
    // A soft int may stand for a double, but an overload that takes it as it is comes first.
    for (const bool widen : {false, true}) {
        for (const Function& function : node.overloads) {
            if (!takes(function, arguments.size())) continue;
            bool fits = true;
            bool soft = false;
            for (std::size_t i = 0; i < arguments.size() && fits; ++i) {
                const Value& argument = arguments[i];
                const Kinds set = function.parameters[std::min(i, function.parameters.size() - 1)];
                fits = holds(set, argument.kind()) ||
                       (widen && argument.soft() && argument.is(Kind::integer) &&
                        holds(set, Kind::real));
                soft |= argument.soft();
            }
            if (!fits) continue;
            for (std::size_t i = 0; widen && i < arguments.size(); ++i) {
                const Kinds set = function.parameters[std::min(i, function.parameters.size() - 1)];
                if (holds(set, arguments[i].kind())) continue;
                arguments[i] = Value::real(static_cast<double>(arguments[i].as_integer()));
            }
            auto result = located(node, function.call(arguments, budget_));
            if (result && soft && result->is_number()) return result->softened();
            return result;
        }
    }
    std::vector<std::string_view> given;
    for (const Value& argument : arguments)
        given.push_back(kind_of(argument));
    return failed(node, fmt::format("{}() does not take ({})", node.text, fmt::join(given, ", ")));
}

}  // namespace nets::cel
