#include "nets/cel/evaluation.hpp"
#include "nets/cel/functions.hpp"
#include "nets/cel/types.hpp"

#include <fmt/format.h>
#include <optional>
#include <utility>

namespace nets::cel {

void Evaluation::set(const Node& node, Value first, Value second) {
    locals_[node.index] = std::move(first);
    if (node.pair) locals_[node.index + 1] = std::move(second);
}

template <class Body>
base::Result<void> Evaluation::each(const Node& node, Body body) {
    base::Result<Value> scratch = run(node.children[0]);
    if (!scratch) return std::unexpected(std::move(scratch.error()));
    const Value& range = *scratch;
    if (range.is(Kind::map)) {
        if (!spend(budget_, range.size())) return exhausted(node);
        for (auto& [key, value] : range.entries()) {
            set(node, key, value);
            auto more = body(key);
            if (!more) return std::unexpected(std::move(more.error()));
            if (!*more) break;
        }
        return {};
    }
    if (!range.is(Kind::list)) {
        return failed(
            node,
            fmt::format(
                "{} goes through a list or map, not {}", symbol(node.op), a_kind(range.kind())
            )
        );
    }
    for (std::size_t i = 0; i < range.size(); ++i) {
        if (!spend(budget_, 1)) return exhausted(node);
        const Value element = range.at(i);
        if (node.pair) {
            set(node, Value::integer(static_cast<std::int64_t>(i)), element);
        } else {
            set(node, element, Value());
        }
        auto more = body(element);
        if (!more) return std::unexpected(std::move(more.error()));
        if (!*more) break;
    }
    return {};
}

base::Result<bool> Evaluation::condition(const Node& macro, const Node& node) {
    base::Result<Value> scratch;
    const Value* value = look(node, scratch);
    if (!value) return std::unexpected(std::move(scratch.error()));
    if (!value->is(Kind::boolean)) {
        return failed(
            node,
            fmt::format("{} asks for a condition, not {}", symbol(macro.op), a_kind(value->kind()))
        );
    }
    return value->as_boolean();
}

// all and exists: one element that decides wins over errors of others.
base::Result<Value> Evaluation::quantified(const Node& node) {
    const bool deciding = node.op == Op::exists;
    bool decided = false;
    std::optional<base::Error> first_error;
    const auto done = each(node, [&](const Value&) -> base::Result<bool> {
        auto holds = condition(node, node.children[1]);
        if (!holds) {
            if (holds.error().code == base::ErrorCode::limit) return holds;
            if (!first_error) first_error = std::move(holds.error());
            return true;
        }
        decided = *holds == deciding;
        return !decided;
    });
    if (!done) return std::unexpected(done.error());
    if (decided) return Value::boolean(deciding);
    if (first_error) return base::fail(std::move(*first_error));
    return Value::boolean(!deciding);
}

base::Result<Value> Evaluation::exists_one(const Node& node) {
    std::size_t count = 0;
    const auto done = each(node, [&](const Value&) -> base::Result<bool> {
        const auto holds = condition(node, node.children[1]);
        if (!holds) return holds;
        count += *holds ? 1 : 0;
        return true;
    });
    if (!done) return std::unexpected(done.error());
    return Value::boolean(count == 1);
}

base::Result<Value> Evaluation::filter(const Node& node) {
    std::vector<Value> kept;
    const auto done = each(node, [&](const Value& element) -> base::Result<bool> {
        const auto holds = condition(node, node.children[1]);
        if (!holds) return holds;
        if (*holds) kept.push_back(element);
        return true;
    });
    if (!done) return std::unexpected(done.error());
    return Value::list(std::move(kept));
}

base::Result<Value> Evaluation::transform_list(const Node& node) {
    const bool filtered = node.children.size() == 3;
    std::vector<Value> made;
    const auto done = each(node, [&](const Value&) -> base::Result<bool> {
        if (filtered) {
            const auto holds = condition(node, node.children[1]);
            if (!holds) return holds;
            if (!*holds) return true;
        }
        auto value = run(node.children.back());
        if (!value) return std::unexpected(std::move(value.error()));
        made.push_back(std::move(*value));
        return true;
    });
    if (!done) return std::unexpected(done.error());
    return Value::list(std::move(made));
}

base::Result<Value> Evaluation::transform_map(const Node& node) {
    const bool filtered = node.children.size() == 3;
    std::vector<std::pair<Value, Value>> made;
    const auto done = each(node, [&](const Value&) -> base::Result<bool> {
        if (filtered) {
            const auto holds = condition(node, node.children[1]);
            if (!holds) return holds;
            if (!*holds) return true;
        }
        const Value key = locals_[node.index];
        auto value = run(node.children.back());
        if (!value) return std::unexpected(std::move(value.error()));
        made.emplace_back(key, std::move(*value));
        return true;
    });
    if (!done) return std::unexpected(done.error());
    return located(node, Value::map(std::move(made)));
}

base::Result<Value> Evaluation::bind(const Node& node) {
    auto value = run(node.children[0]);
    if (!value) return value;
    locals_[node.index] = std::move(*value);
    return run(node.children[1]);
}

base::Result<Value> Evaluation::optional_macro(const Node& node) {
    auto operand = run(node.children[0]);
    if (!operand) return operand;
    if (!operand->is(Kind::optional)) {
        return failed(
            node,
            fmt::format("{} is for an optional, not {}", symbol(node.op), a_kind(operand->kind()))
        );
    }
    if (!operand->inner()) return operand;
    locals_[node.index] = *operand->inner();
    auto made = run(node.children[1]);
    if (!made) return made;
    if (node.op == Op::optional_map) return Value::optional_of(std::move(*made));
    if (!made->is(Kind::optional)) {
        return failed(
            node, fmt::format("optFlatMap() makes an optional, not {}", a_kind(made->kind()))
        );
    }
    return made;
}

base::Result<Value> Evaluation::or_else(const Node& node) {
    auto operand = run(node.children[0]);
    if (!operand) return operand;
    if (!operand->is(Kind::optional)) {
        return failed(
            node,
            fmt::format("{} is for an optional, not {}", symbol(node.op), a_kind(operand->kind()))
        );
    }
    const Value* inner = operand->inner();
    if (!inner) {
        auto other = run(node.children[1]);
        if (other && node.op == Op::or_optional && !other->is(Kind::optional)) {
            return failed(
                node, fmt::format("or() takes an optional, not {}", a_kind(other->kind()))
            );
        }
        return other;
    }
    if (node.op == Op::or_optional) return operand;
    return *inner;
}

}  // namespace nets::cel
