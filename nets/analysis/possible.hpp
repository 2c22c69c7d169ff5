#pragma once

#include "nets/cel/node.hpp"
#include "nets/cel/value.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nets::analysis {

using Path = std::vector<std::string>;  ///< names of fields, from the outermost inwards

/// The field `path` of what an expression calls `name` is there and holds `value`. An empty path is
/// the thing itself.
struct KnownField {
    std::string_view name;
    const Path* path = nullptr;
    const cel::Value* value = nullptr;
};

/// What an expression may come to.
struct Possible {
    std::vector<cel::Value> values{};
    bool anything = false;  ///< nothing can be said: `values` is of no account
    bool fails = false;     ///< it may be an error instead
};

/// By what is known of the names in it; whatever depends on anything else may be anything. `below`
/// leads from its value inwards. The tree is as `cel::parse` makes it.
Possible possible(
    const cel::Node& tree,
    std::span<const KnownField> known,
    std::span<const std::string> below = {}
);

enum class Holds : std::uint8_t { no, maybe, yes };
/// Of a condition: an error or anything that is not a bool counts as `no`.
Holds judged(const cel::Node& tree, std::span<const KnownField> known);

/// The fields that an expression mentions below `name`, and those that it asks `has` of.
std::vector<Path> mentioned(const cel::Node& tree, std::string_view name);

}  // namespace nets::analysis
