#include "nets/analysis/possible.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <utility>

namespace nets::analysis {
namespace {

using cel::Node;
using cel::Op;
using cel::Value;

Possible anything() {
    return {.values = {}, .anything = true, .fails = true};
}

Possible just(Value value) {
    Possible result;
    result.values.push_back(std::move(value));
    return result;
}

void include(Possible& into, const Value& value) {
    const bool there = std::ranges::any_of(into.values, [&](const Value& known) {
        return known.kind() == value.kind() && known == value;
    });
    if (!there) into.values.push_back(value);
}

/// What a condition may come to; an error is what is neither.
struct Truth {
    bool yes = false;
    bool no = false;
    bool error = false;
};

Truth truth_of(const Possible& possible) {
    if (possible.anything) return {.yes = true, .no = true, .error = true};
    Truth truth{.error = possible.fails};
    for (const Value& value : possible.values) {
        if (!value.is(cel::Kind::boolean)) {
            truth.error = true;
        } else {
            (value.as_boolean() ? truth.yes : truth.no) = true;
        }
    }
    return truth;
}

Possible possible_of(const Truth& truth) {
    Possible result{.values = {}, .anything = false, .fails = truth.error};
    if (truth.yes) result.values.push_back(Value::boolean(true));
    if (truth.no) result.values.push_back(Value::boolean(false));
    return result;
}

/// A name, the field by which something below it is reached, and so on: `a.b["c"]`.
struct Chain {
    std::string_view name;
    Path path;
};

std::optional<Chain> chain_of(const Node& node) {
    Chain chain;
    const Node* at = &node;
    while (at->op != Op::name) {
        if (at->op == Op::select) {
            chain.path.push_back(at->text);
        } else if (at->op == Op::item && at->children[1].op == Op::constant &&
                   at->children[1].value.is(cel::Kind::string)) {
            chain.path.emplace_back(at->children[1].value.text());
        } else {
            return std::nullopt;
        }
        at = at->children.data();
    }
    if (at->rooted) return std::nullopt;
    chain.name = at->text;
    std::ranges::reverse(chain.path);
    return chain;
}

class Evaluation {
public:
    explicit Evaluation(std::span<const KnownField> known) : known_(known) {}

    Possible run(const Node& node, std::span<const std::string> below) const {
        switch (node.op) {
            case Op::constant:
                return below.empty() ? just(node.value) : anything();
            case Op::name:
            case Op::select:
            case Op::item:
                return field(node, below);
            case Op::conditional:
                return either(node, below);
            case Op::map:
                return member(node, below);
            default:
                return below.empty() ? condition(node) : anything();
        }
    }

private:
    Possible condition(const Node& node) const {
        switch (node.op) {
            case Op::has:
                return presence(node);
            case Op::logical_and:
                return all_of(node);
            case Op::logical_or:
                return any_of(node);
            case Op::logical_not: {
                const Truth inner = truth_of(run(node.children[0], {}));
                return possible_of({.yes = inner.no, .no = inner.yes, .error = inner.error});
            }
            case Op::equal:
            case Op::not_equal:
            case Op::less:
            case Op::less_equal:
            case Op::greater:
            case Op::greater_equal:
                return compared(node);
            case Op::in:
                return listed(node);
            default:
                return anything();
        }
    }

    Possible field(const Node& node, std::span<const std::string> below) const {
        auto chain = chain_of(node);
        if (!chain) return anything();
        chain->path.insert(chain->path.end(), below.begin(), below.end());
        for (const KnownField& known : known_) {
            if (known.name == chain->name && *known.path == chain->path) return just(*known.value);
        }
        return anything();
    }

    Possible presence(const Node& node) const {
        auto chain = chain_of(node.children[0]);
        if (!chain) return anything();
        chain->path.push_back(node.text);
        for (const KnownField& known : known_) {
            const bool leads_there =
                known.name == chain->name && chain->path.size() <= known.path->size() &&
                std::equal(chain->path.begin(), chain->path.end(), known.path->begin());
            if (leads_there) return just(Value::boolean(true));
        }
        return anything();
    }

    Possible either(const Node& node, std::span<const std::string> below) const {
        const Truth asked = truth_of(run(node.children[0], {}));
        Possible result;
        result.fails = asked.error;
        for (const bool way : {true, false}) {
            if (way ? !asked.yes : !asked.no) continue;
            const Possible chosen = run(node.children[way ? 1 : 2], below);
            result.anything = result.anything || chosen.anything;
            result.fails = result.fails || chosen.fails;
            for (const Value& value : chosen.values)
                include(result, value);
        }
        return result;
    }

    /// The member of a map that is written out.
    Possible member(const Node& node, std::span<const std::string> below) const {
        if (below.empty()) return anything();
        const Node* found = nullptr;
        for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
            const Node& key = node.children[i];
            if (key.optional || key.op != Op::constant) return anything();
            if (!key.value.is(cel::Kind::string) || key.value.text() != below.front()) continue;
            found = &node.children[i + 1];
        }
        if (found == nullptr) return anything();
        Possible result = run(*found, below.subspan(1));
        result.fails = result.fails || node.children.size() > 2;  // by another member
        return result;
    }

    Possible all_of(const Node& node) const {
        Truth result{.yes = true};
        bool surely_no = false;
        for (const Node& child : node.children) {
            const Truth truth = truth_of(run(child, {}));
            result.yes = result.yes && truth.yes;
            result.no = result.no || truth.no;
            result.error = result.error || truth.error;
            surely_no = surely_no || (truth.no && !truth.yes && !truth.error);
        }
        if (surely_no) result = {.no = true};
        return possible_of(result);
    }

    Possible any_of(const Node& node) const {
        Truth result{.no = true};
        bool surely_yes = false;
        for (const Node& child : node.children) {
            const Truth truth = truth_of(run(child, {}));
            result.yes = result.yes || truth.yes;
            result.no = result.no && truth.no;
            result.error = result.error || truth.error;
            surely_yes = surely_yes || (truth.yes && !truth.no && !truth.error);
        }
        if (surely_yes) result = {.yes = true};
        return possible_of(result);
    }

    static Truth compare(Op op, const Value& left, const Value& right) {
        const auto said = [](bool yes) { return Truth{.yes = yes, .no = !yes}; };
        if (op == Op::equal) return said(left == right);
        if (op == Op::not_equal) return said(!(left == right));
        const std::partial_ordering order = cel::order(left, right);
        if (order == std::partial_ordering::unordered) return {.error = true};
        if (op == Op::less) return said(order < 0);
        if (op == Op::less_equal) return said(order <= 0);
        if (op == Op::greater) return said(order > 0);
        return said(order >= 0);
    }

    Possible compared(const Node& node) const {
        const Possible left = run(node.children[0], {});
        const Possible right = run(node.children[1], {});
        if (left.anything || right.anything) return anything();
        Truth result{.error = left.fails || right.fails};
        for (const Value& one : left.values) {
            for (const Value& other : right.values) {
                const Truth truth = compare(node.op, one, other);
                result.yes = result.yes || truth.yes;
                result.no = result.no || truth.no;
                result.error = result.error || truth.error;
            }
        }
        return possible_of(result);
    }

    Possible listed(const Node& node) const {
        const Possible sought = run(node.children[0], {});
        const Node& list = node.children[1];
        if (sought.anything || list.op != Op::list) return anything();
        std::vector<Value> elements;
        for (const Node& child : list.children) {
            const Possible element = run(child, {});
            const bool one = !element.anything && !element.fails && element.values.size() == 1;
            if (!one || child.optional) return anything();
            elements.push_back(element.values[0]);
        }
        Truth result{.error = sought.fails};
        for (const Value& value : sought.values) {
            const bool found = std::ranges::any_of(elements, [&](const Value& element) {
                return element == value;
            });
            (found ? result.yes : result.no) = true;
        }
        return possible_of(result);
    }

    std::span<const KnownField> known_;
};

void collect(const Node& node, std::string_view name, std::vector<Path>& into) {
    if (auto chain = chain_of(node.op == Op::has ? node.children[0] : node)) {
        if (node.op == Op::has) chain->path.push_back(node.text);
        if (chain->name == name) into.push_back(std::move(chain->path));
        return;
    }
    for (const Node& child : node.children)
        collect(child, name, into);
}

}  // namespace

Possible possible(
    const Node& tree, std::span<const KnownField> known, std::span<const std::string> below
) {
    return Evaluation(known).run(tree, below);
}

Holds judged(const Node& tree, std::span<const KnownField> known) {
    const Truth truth = truth_of(possible(tree, known));
    if (!truth.yes) return Holds::no;
    return truth.no || truth.error ? Holds::maybe : Holds::yes;
}

std::vector<Path> mentioned(const Node& tree, std::string_view name) {
    std::vector<Path> result;
    collect(tree, name, result);
    return result;
}

}  // namespace nets::analysis
