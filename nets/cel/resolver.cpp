#include "nets/cel/resolver.hpp"

#include "nets/cel/functions.hpp"
#include "nets/cel/regex.hpp"
#include "nets/cel/static_checks.hpp"
#include "nets/cel/types.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace nets::cel {

namespace {

std::optional<Value> type_named(std::string_view text) {
    for (int i = 0; i <= static_cast<int>(Kind::optional); ++i) {
        if (name(static_cast<Kind>(i)) == text) return Value::type(static_cast<Kind>(i));
    }
    return std::nullopt;
}

// "order.total" when the node is nothing but names and dots.
std::optional<std::string> dotted(const Node& node) {
    if (node.op == Op::name) return node.text;
    if (node.op != Op::select) return std::nullopt;
    auto prefix = dotted(node.children.front());
    if (prefix) *prefix += "." + node.text;
    return prefix;
}

const Node& root_of(const Node& chain) {
    const Node* node = &chain;
    while (node->op == Op::select)
        node = &node->children.front();
    return *node;
}

class Resolver {
public:
    Resolver(const Scope& scope, const CompileOptions& options, std::vector<Fault>& faults)
        : scope_(scope), options_(options), faults_(faults) {}

    StaticKind resolve(Node& node) {
        switch (node.op) {
            case Op::constant:
                return node.value.kind();
            case Op::name:
                return resolve_name(node);
            case Op::variable:
            case Op::local:
                return std::nullopt;
            case Op::select:
                return resolve_select(node);
            case Op::call:
                return resolve_call(node);
            case Op::all:
            case Op::exists:
            case Op::exists_one:
            case Op::filter:
            case Op::transform_list:
            case Op::transform_map:
                return resolve_comprehension(node);
            case Op::bind:
            case Op::optional_map:
            case Op::optional_flat_map:
                return resolve_binding(node);
            case Op::optional_select:
            case Op::has:
            case Op::item:
            case Op::optional_item:
            case Op::logical_and:
            case Op::logical_or:
            case Op::logical_not:
            case Op::negate:
            case Op::conditional:
            case Op::add:
            case Op::subtract:
            case Op::multiply:
            case Op::divide:
            case Op::modulo:
            case Op::equal:
            case Op::not_equal:
            case Op::less:
            case Op::less_equal:
            case Op::greater:
            case Op::greater_equal:
            case Op::in:
            case Op::list:
            case Op::map:
            case Op::or_optional:
            case Op::or_value:
                return resolve_operator(node);
        }
        return std::nullopt;
    }

    [[nodiscard]] std::uint32_t locals_max() const { return locals_max_; }

private:
    void fault(const Node& node, std::string message) {
        if (faults_.size() < faults_max) faults_.push_back({node.at, std::move(message)});
    }

    // "com.example" -> "com.example.", "com.", "": where a name is looked for, in this order.
    [[nodiscard]] std::vector<std::string> prefixes(bool rooted) const {
        std::vector<std::string> all;
        std::string container = rooted ? "" : options_.container;
        while (!container.empty()) {
            all.push_back(container + ".");
            const auto dot = container.rfind('.');
            container.resize(dot == std::string::npos ? 0 : dot);
        }
        all.emplace_back();
        return all;
    }

    // Makes `node` a variable or a type when its whole dotted text names one.
    bool bind_global(Node& node, const std::string& text, bool rooted) {
        for (const std::string& prefix : prefixes(rooted)) {
            const auto found = std::ranges::find(scope_.names, prefix + text);
            if (found == scope_.names.end()) continue;
            node.index = static_cast<std::uint32_t>(found - scope_.names.begin());
            node.op = Op::variable;
            node.children.clear();
            return true;
        }
        if (auto type = type_named(text)) {
            node.op = Op::constant;
            node.value = std::move(*type);
            node.children.clear();
            return true;
        }
        return false;
    }

    bool bind_local(Node& node) {
        if (node.rooted) return false;
        for (std::size_t i = locals_.size(); i-- > 0;) {
            if (locals_[i] != node.text) continue;
            node.op = Op::local;
            node.index = static_cast<std::uint32_t>(i);
            return true;
        }
        return false;
    }

    StaticKind resolve_name(Node& node) {
        if (bind_local(node)) return std::nullopt;
        if (bind_global(node, node.text, node.rooted)) {
            return node.op == Op::constant ? StaticKind(Kind::type) : std::nullopt;
        }
        fault(node, fmt::format("unknown name '{}'; {}", node.text, names_in_scope()));
        return std::nullopt;
    }

    [[nodiscard]] std::string names_in_scope() const {
        if (scope_.names.empty()) return "no names are in scope";
        constexpr std::size_t named_max = 20;
        const std::size_t named = std::min(scope_.names.size(), named_max);
        const std::span<const std::string> first(scope_.names.data(), named);
        const bool more = scope_.names.size() > named;
        return fmt::format("in scope: {}{}", fmt::join(first, ", "), more ? ", ..." : "");
    }

    StaticKind resolve_select(Node& node) {
        if (const auto text = dotted(node)) {
            const Node& root = root_of(node);
            const bool local =
                !root.rooted && std::ranges::find(locals_, root.text) != locals_.end();
            if (!local && bind_global(node, *text, root.rooted)) {
                return node.op == Op::constant ? StaticKind(Kind::type) : std::nullopt;
            }
        }
        const StaticKind operand = resolve(node.children.front());
        if (operand && *operand != Kind::map && *operand != Kind::optional) {
            fault(node, fmt::format("{} has no field '{}'", a_kind(*operand), node.text));
        }
        return std::nullopt;
    }

    // math.abs(x) parses as a call on a name; when there is such a function, it is one.
    static void unfold_namespace(Node& node) {
        if (!node.member) return;
        const auto prefix = dotted(node.children.front());
        if (!prefix || overloads(*prefix + "." + node.text, false).empty()) return;
        node.text = *prefix + "." + node.text;
        node.member = false;
        node.children.erase(node.children.begin());
    }

    StaticKind resolve_call(Node& node) {
        unfold_namespace(node);
        const auto all = overloads(node.text, node.member);
        std::vector<StaticKind> arguments;
        if (all.empty() && node.member && node.children.front().op == Op::name) {
            unknown_function(node);
            for (std::size_t i = 1; i < node.children.size(); ++i)
                resolve(node.children[i]);
            resolve_quietly(node.children.front());
            return std::nullopt;
        }
        for (Node& child : node.children)
            arguments.push_back(resolve(child));
        if (all.empty()) {
            unknown_function(node);
            return std::nullopt;
        }
        node.overloads = all;
        compile_pattern_of(node);
        return check_call(node, arguments, faults_);
    }

    // An unknown namespace.function is one fault, not two.
    void resolve_quietly(Node& node) {
        const std::size_t before = faults_.size();
        resolve(node);
        faults_.resize(before);
    }

    void unknown_function(const Node& node) {
        const bool other = !overloads(node.text, !node.member).empty();
        if (!other) {
            fault(node, fmt::format("unknown function '{}'", node.text));
        } else if (node.member) {
            fault(node, fmt::format("'{0}' is called as {0}(x), not as x.{0}()", node.text));
        } else {
            fault(node, fmt::format("'{0}' is called as x.{0}(), not as {0}(x)", node.text));
        }
    }

    void compile_pattern_of(Node& node) {
        if (node.text != "matches" || node.children.size() != 2) return;
        const Node& pattern = node.children[1];
        if (pattern.op != Op::constant || !pattern.value.is(Kind::string)) return;
        if (auto compiled = compile_pattern(pattern.value.text())) {
            node.pattern = std::move(*compiled);
        } else {
            fault(pattern, compiled.error().message);
        }
    }

    StaticKind resolve_comprehension(Node& node) {
        const StaticKind range = resolve(node.children.front());
        if (range && *range != Kind::list && *range != Kind::map) {
            fault(
                node,
                fmt::format(
                    "{} goes through a list or map, not {}", symbol(node.op), a_kind(*range)
                )
            );
        }
        declare(node);
        std::vector<StaticKind> kinds_of;
        for (std::size_t i = 1; i < node.children.size(); ++i)
            kinds_of.push_back(resolve(node.children[i]));
        locals_.resize(node.index);
        const bool transforms = node.op == Op::transform_list || node.op == Op::transform_map;
        if (!transforms || node.children.size() == 3) {
            if (kinds_of.front() && *kinds_of.front() != Kind::boolean) {
                fault(
                    node,
                    fmt::format(
                        "{} asks for a condition, not {}",
                        symbol(node.op),
                        a_kind(*kinds_of.front())
                    )
                );
            }
        }
        if (node.op == Op::filter || node.op == Op::transform_list) return Kind::list;
        return node.op == Op::transform_map ? Kind::map : Kind::boolean;
    }

    StaticKind resolve_binding(Node& node) {
        const StaticKind first = resolve(node.children[0]);
        declare(node);
        StaticKind body = resolve(node.children[1]);
        locals_.resize(node.index);
        if (node.op == Op::bind) return body;
        if (first && *first != Kind::optional) {
            fault(
                node, fmt::format("{} is for an optional, not {}", symbol(node.op), a_kind(*first))
            );
        }
        return Kind::optional;
    }

    void declare(Node& node) {
        node.index = static_cast<std::uint32_t>(locals_.size());
        locals_.push_back(node.text);
        if (node.pair) locals_.push_back(node.second);
        locals_max_ = std::max(locals_max_, static_cast<std::uint32_t>(locals_.size()));
    }

    StaticKind resolve_operator(Node& node) {
        std::vector<StaticKind> kinds_of;
        for (Node& child : node.children)
            kinds_of.push_back(resolve(child));
        return check_operator(node, kinds_of, faults_);
    }

    const Scope& scope_;
    const CompileOptions& options_;
    std::vector<Fault>& faults_;
    std::vector<std::string> locals_;
    std::uint32_t locals_max_ = 0;
};

}  // namespace

std::uint32_t resolve(
    Node& root, const Scope& scope, const CompileOptions& options, std::vector<Fault>& faults
) {
    std::vector<Fault> unheeded;
    Resolver resolver(scope, options, options.checked ? faults : unheeded);
    resolver.resolve(root);
    return resolver.locals_max();
}

}  // namespace nets::cel
