#include "nets/cel/static_checks.hpp"

#include "nets/cel/functions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace nets::cel {

namespace {

using Faults = std::vector<Fault>;

void fault(const Node& node, std::string message, Faults& faults) {
    if (faults.size() < faults_max) faults.push_back({node.at, std::move(message)});
}

bool fits(const Function& function, const std::vector<StaticKind>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Kinds set = function.parameters[std::min(i, function.parameters.size() - 1)];
        if (arguments[i] && !holds(set, *arguments[i])) return false;
    }
    return true;
}

// A number made from a soft one is soft, so its kind does not decide what it mixes with.
StaticKind result_of(
    const std::vector<const Function*>& candidates, const std::vector<StaticKind>& arguments
) {
    const StaticKind result = candidates.front()->result;
    for (const Function* function : candidates) {
        if (function->result != result) return std::nullopt;
    }
    if (!result || !holds(number_kinds, *result)) return result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& parameters = candidates.front()->parameters;
        const Kinds set = parameters[std::min(i, parameters.size() - 1)];
        if (!arguments[i] && (set & number_kinds) != 0) return std::nullopt;
    }
    return result;
}

void want_condition(const Node& node, const StaticKind& kind, Faults& faults) {
    if (!kind || *kind == Kind::boolean) return;
    fault(node, fmt::format("{} asks for a bool, not {}", symbol(node.op), a_kind(*kind)), faults);
}

StaticKind check_negate(const Node& node, const StaticKind& kind, Faults& faults) {
    if (kind && *kind != Kind::integer && *kind != Kind::real) {
        fault(node, fmt::format("there is no -{}", name(*kind)), faults);
        return std::nullopt;
    }
    return kind;
}

StaticKind check_item(const Node& node, const StaticKind& kind, Faults& faults) {
    if (kind && *kind != Kind::list && *kind != Kind::map && *kind != Kind::optional) {
        fault(node, fmt::format("{} has no elements to index", a_kind(*kind)), faults);
    }
    return std::nullopt;
}

StaticKind check_arithmetic(
    const Node& node, const StaticKind& left, const StaticKind& right, Faults& faults
) {
    if (!left || !right) return std::nullopt;
    const StaticKind result = arithmetic_kind(node.op, *left, *right);
    if (!result) fault(node, no_operation(node.op, *left, *right), faults);
    return result;
}

StaticKind check_comparison(
    const Node& node, const StaticKind& left, const StaticKind& right, Faults& faults
) {
    if (node.op == Op::in) {
        if (right && *right != Kind::list && *right != Kind::map) {
            fault(
                node, fmt::format("'in' looks into a list or map, not {}", a_kind(*right)), faults
            );
        }
    } else if (left && right) {
        const bool equality = node.op == Op::equal || node.op == Op::not_equal;
        if (equality && !comparable(*left, *right)) {
            fault(node, fmt::format("{} never equals {}", a_kind(*left), a_kind(*right)), faults);
        }
        if (!equality && !ordered(*left, *right)) {
            fault(node, no_operation(node.op, *left, *right), faults);
        }
    }
    return Kind::boolean;
}

}  // namespace

StaticKind check_call(const Node& node, const std::vector<StaticKind>& arguments, Faults& faults) {
    bool arity = false;
    std::vector<const Function*> candidates;
    for (const Function& function : node.overloads) {
        if (!takes(function, arguments.size())) continue;
        arity = true;
        if (fits(function, arguments)) candidates.push_back(&function);
    }
    if (!arity) {
        fault(
            node,
            fmt::format(
                "{}() does not take {} argument{}",
                node.text,
                arguments.size() - (node.member ? 1 : 0),
                arguments.size() - (node.member ? 1 : 0) == 1 ? "" : "s"
            ),
            faults
        );
        return std::nullopt;
    }
    if (candidates.empty()) {
        std::vector<std::string_view> given;
        for (const StaticKind& kind : arguments)
            given.push_back(kind ? name(*kind) : "any");
        fault(
            node, fmt::format("{}() does not take ({})", node.text, fmt::join(given, ", ")), faults
        );
        return std::nullopt;
    }
    return result_of(candidates, arguments);
}

StaticKind check_operator(
    const Node& node, const std::vector<StaticKind>& kinds_of, Faults& faults
) {
    switch (node.op) {
        case Op::list:
            return Kind::list;
        case Op::map:
            return Kind::map;
        case Op::has:
            return Kind::boolean;
        case Op::optional_select:
        case Op::optional_item:
        case Op::or_optional:
            return Kind::optional;
        case Op::logical_and:
        case Op::logical_or:
        case Op::logical_not:
            for (const StaticKind& kind : kinds_of)
                want_condition(node, kind, faults);
            return Kind::boolean;
        case Op::conditional:
            want_condition(node, kinds_of[0], faults);
            return kinds_of[1] == kinds_of[2] ? kinds_of[1] : std::nullopt;
        case Op::negate:
            return check_negate(node, kinds_of[0], faults);
        case Op::item:
            return check_item(node, kinds_of[0], faults);
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::divide:
        case Op::modulo:
            return check_arithmetic(node, kinds_of[0], kinds_of[1], faults);
        case Op::equal:
        case Op::not_equal:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
        case Op::in:
            return check_comparison(node, kinds_of[0], kinds_of[1], faults);
        case Op::constant:
        case Op::name:
        case Op::variable:
        case Op::local:
        case Op::select:
        case Op::call:
        case Op::all:
        case Op::exists:
        case Op::exists_one:
        case Op::filter:
        case Op::transform_list:
        case Op::transform_map:
        case Op::bind:
        case Op::optional_map:
        case Op::optional_flat_map:
        case Op::or_value:
            break;
    }
    return std::nullopt;
}

}  // namespace nets::cel
