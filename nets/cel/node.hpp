#pragma once

#include "nets/cel/value.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace nets::cel {

struct Function;

/// Where in the source, counted from 1; columns count characters, not bytes.
struct Position {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

/// "line 1, column 7: " in front of what went wrong there.
std::string at_text(Position at, std::string_view message);

/// What a node does. `c0`, `c1`, ... are its children.
enum class Op : std::uint8_t {
    constant,  ///< value
    name,      ///< text, possibly dotted, known to nobody: an error when it is evaluated
    variable,  ///< the index-th value of the scope
    local,     ///< the index-th variable of a macro
    select,    ///< c0.text
    optional_select,
    has,
    item,  ///< c0[c1]
    optional_item,
    call,  ///< text(c0, c1, ...), or c0.text(c1, ...) when `member`
    logical_and,
    logical_or,
    logical_not,
    negate,
    conditional,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    list,  ///< children with `optional` are left out when they hold nothing
    map,   ///< c0: c1, c2: c3, ...
    // Macros. Their variables are the locals index and, when `pair`, index + 1; c0 is what they go
    // through.
    all,
    exists,
    exists_one,
    filter,
    transform_list,  ///< c1 = filter or, without one, the body; c2 = body
    transform_map,
    bind,               ///< cel.bind(text, c0, c1)
    optional_map,       ///< c0.optMap(text, c1)
    optional_flat_map,  ///< c0.optFlatMap(text, c1)
    or_optional,        ///< c0.or(c1): c1 only when needed
    or_value,
};

/// A node of an expression. The parser leaves names and calls as text; the resolver makes
/// variables, locals and functions of them.
struct Node {
    Op op = Op::constant;
    bool member = false;
    bool optional = false;
    bool pair = false;
    bool rooted = false;  ///< a name written with a leading dot
    Position at;
    std::uint32_t index = 0;
    std::uint32_t depth = 1;  ///< levels of nodes below, this one included
    Value value;
    std::string text;
    std::string second;  ///< the second variable of a macro
    std::vector<Node> children;
    std::span<const Function> overloads;      ///< of a call; empty: unknown
    std::shared_ptr<const re2::RE2> pattern;  ///< shared: nodes are copied with their program
};

}  // namespace nets::cel
