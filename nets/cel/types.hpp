#pragma once

#include "nets/cel/node.hpp"
#include "nets/cel/value.hpp"

#include <optional>

/// What the checker knows of an expression before it runs: its kind, or nothing.
namespace nets::cel {

using StaticKind = std::optional<Kind>;

/// The kind of `left op right` for an arithmetic operator; none when there is no such operation.
StaticKind arithmetic_kind(Op op, Kind left, Kind right);
/// Whether < and its kin apply.
bool ordered(Kind left, Kind right);
/// Whether == may ever be true.
bool comparable(Kind left, Kind right);
std::string_view symbol(Op op);
/// "there is no int + string", with the way out where there is one.
std::string no_operation(Op op, Kind left, Kind right);

}  // namespace nets::cel
