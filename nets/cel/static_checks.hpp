#pragma once

#include "nets/cel/lexer.hpp"
#include "nets/cel/node.hpp"
#include "nets/cel/types.hpp"

#include <vector>

/// What of types can be told before an expression runs: only what is certain to fail is a fault.
namespace nets::cel {

/// Of a call with its overloads set: arity and the kinds of the arguments. Returns what it makes.
StaticKind check_call(
    const Node& node, const std::vector<StaticKind>& arguments, std::vector<Fault>& faults
);
/// Of an operator, a list, a map, or a selection, given what its children are.
StaticKind check_operator(
    const Node& node, const std::vector<StaticKind>& kinds_of, std::vector<Fault>& faults
);

}  // namespace nets::cel
