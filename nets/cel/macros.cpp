#include "nets/cel/parser.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace nets::cel {

namespace {

/// A macro called on what it goes through: range.name(variable, [variable,] [filter,] body).
struct RangeMacro {
    std::string_view name;
    std::size_t arguments;
    std::size_t variables;
    Op op;
};

constexpr std::array<RangeMacro, 16> range_macros = {{
    {"all", 2, 1, Op::all},
    {"all", 3, 2, Op::all},
    {"exists", 2, 1, Op::exists},
    {"exists", 3, 2, Op::exists},
    {"exists_one", 2, 1, Op::exists_one},
    {"existsOne", 2, 1, Op::exists_one},
    {"existsOne", 3, 2, Op::exists_one},
    {"exists_one", 3, 2, Op::exists_one},
    {"filter", 2, 1, Op::filter},
    {"map", 2, 1, Op::transform_list},
    {"map", 3, 1, Op::transform_list},
    {"transformList", 3, 2, Op::transform_list},
    {"transformList", 4, 2, Op::transform_list},
    {"transformMap", 3, 2, Op::transform_map},
    {"transformMap", 4, 2, Op::transform_map},
    {"optMap", 2, 1, Op::optional_map},
}};

const RangeMacro* find_range_macro(const Node& call) {
    static constexpr RangeMacro flat = {"optFlatMap", 2, 1, Op::optional_flat_map};
    const std::size_t arguments = call.children.size() - 1;
    if (call.text == flat.name && arguments == flat.arguments) return &flat;
    const auto* found = std::ranges::find_if(range_macros, [&](const RangeMacro& macro) {
        return macro.name == call.text && macro.arguments == arguments;
    });
    return found == range_macros.end() ? nullptr : found;
}

bool simple_name(const Node& node, const Node& call, std::vector<Fault>& faults) {
    if (node.op == Op::name && !node.rooted) return true;
    faults.push_back({node.at, fmt::format("{}() takes the name of a variable here", call.text)});
    return false;
}

void expand_range_macro(Node& call, const RangeMacro& macro, std::vector<Fault>& faults) {
    auto& children = call.children;
    for (std::size_t i = 1; i <= macro.variables; ++i) {
        if (!simple_name(children[i], call, faults)) return;
    }
    std::string first = std::move(children[1].text);
    if (macro.variables == 2) {
        call.pair = true;
        call.second = std::move(children[2].text);
        if (call.second == first) {
            faults.push_back(
                {children[2].at, fmt::format("the two variables are both named '{}'", first)}
            );
        }
    }
    const auto variables_end = children.begin() + 1 + static_cast<std::ptrdiff_t>(macro.variables);
    children.erase(children.begin() + 1, variables_end);
    call.op = macro.op;
    call.text = std::move(first);
}

void expand_has(Node& call, std::vector<Fault>& faults) {
    Node& field = call.children.front();
    if (field.op != Op::select && field.op != Op::optional_select) {
        faults.push_back({field.at, "has() takes the field of something, as in has(order.total)"});
        return;
    }
    Node operand = std::move(field.children.front());
    call.op = Op::has;
    call.text = std::move(field.text);
    call.children.clear();
    call.children.push_back(std::move(operand));
}

void expand_bind(Node& call, std::vector<Fault>& faults) {
    if (!simple_name(call.children[1], call, faults)) return;
    call.op = Op::bind;
    call.text = std::move(call.children[1].text);
    call.children.erase(call.children.begin(), call.children.begin() + 2);
}

}  // namespace

void expand_macro(Node& call, std::vector<Fault>& faults) {
    if (!call.member) {
        if (call.text == "has" && call.children.size() == 1) expand_has(call, faults);
        return;
    }
    const Node& target = call.children.front();
    if (call.text == "bind" && call.children.size() == 4 && target.op == Op::name &&
        target.text == "cel") {
        expand_bind(call, faults);
    } else if (call.children.size() == 2 && call.text == "or") {
        call.op = Op::or_optional;
    } else if (call.children.size() == 2 && call.text == "orValue") {
        call.op = Op::or_value;
    } else if (const RangeMacro* macro = find_range_macro(call)) {
        expand_range_macro(call, *macro, faults);
    }
}

}  // namespace nets::cel
