#pragma once

#include "nets/cel/cel.hpp"
#include "nets/cel/node.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace nets::cel {

/// One evaluation of a resolved tree. Recursion is bounded by the tree's depth.
class Evaluation {
public:
    Evaluation(std::span<const Value> values, std::uint32_t locals, Budget& budget)
        : values_(values), locals_(locals), budget_(budget) {}

    base::Result<Value> run(const Node& node);

private:
    /// The value of the node: where it already is, or in `scratch`. Null: `scratch` is the error.
    const Value* look(const Node& node, base::Result<Value>& scratch);

    std::unexpected<base::Error> failed(const Node& node, std::string_view message);
    base::Result<Value> located(const Node& node, base::Result<Value> result);
    std::unexpected<base::Error> exhausted(const Node& node);

    // evaluation.cpp
    base::Result<Value> logical(const Node& node, bool deciding);
    base::Result<Value> conditional(const Node& node);
    base::Result<Value> not_or_negate(const Node& node);
    base::Result<Value> compare(const Node& node);
    base::Result<Value> order_of(const Node& node, const Value& left, const Value& right);
    base::Result<Value> arithmetic(const Node& node);
    base::Result<Value> contained(const Node& node);
    base::Result<Value> call(const Node& node);
    base::Result<Value> invoke(const Node& node, std::span<Value> arguments);

    // evaluation_access.cpp
    base::Result<Value> select(const Node& node);
    base::Result<Value> has(const Node& node);
    base::Result<Value> item(const Node& node);
    base::Result<Value> field_of(const Node& node, const Value& operand);
    base::Result<Value> optional_field_of(const Node& node, const Value& operand);
    base::Result<Value> item_of(const Node& node, const Value& container, const Value& key);
    base::Result<Value> optional_item_of(
        const Node& node, const Value& container, const Value& key
    );
    base::Result<Value> list(const Node& node);
    base::Result<Value> map(const Node& node);

    // evaluation_macros.cpp
    base::Result<Value> quantified(const Node& node);
    base::Result<Value> exists_one(const Node& node);
    base::Result<Value> filter(const Node& node);
    base::Result<Value> transform_list(const Node& node);
    base::Result<Value> transform_map(const Node& node);
    base::Result<Value> bind(const Node& node);
    base::Result<Value> optional_macro(const Node& node);
    base::Result<Value> or_else(const Node& node);
    base::Result<bool> condition(const Node& macro, const Node& node);
    /// Goes through the range, setting the macro's variables; `body` says whether to go on. It gets
    /// the key (of a map) or element (of a list).
    template <class Body>
    base::Result<void> each(const Node& node, Body body);
    void set(const Node& node, Value first, Value second);

    std::span<const Value> values_;
    std::vector<Value> locals_;
    Budget& budget_;
};

/// `left op right` for an arithmetic operator. What it makes is paid from the budget.
base::Result<Value> arithmetic(Op op, const Value& left, const Value& right, Budget& budget);
base::Result<Value> negate(const Value& value);
/// The index into a list of `size` elements that the number means, if it is a whole number in
/// range.
std::optional<std::size_t> list_index(const Value& key, std::size_t size);
/// A value as an error message shows it, cut short.
std::string shown(const Value& value);

}  // namespace nets::cel
