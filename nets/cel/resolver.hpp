#pragma once

#include "nets/cel/cel.hpp"
#include "nets/cel/node.hpp"
#include "nets/cel/parser.hpp"

#include <cstdint>
#include <vector>

namespace nets::cel {

/// Finds what every name and call of the tree means and writes it there; returns how many locals
/// the tree needs at once. What is wrong goes to `faults`, all of it; without `options.checked`
/// nothing is: it becomes an error when it is evaluated.
std::uint32_t resolve(
    Node& root, const Scope& scope, const CompileOptions& options, std::vector<Fault>& faults
);

/// The field paths that the resolved tree reads, for Program::paths.
std::vector<std::vector<std::string>> read_paths(const Node& root, const Scope& scope);

}  // namespace nets::cel
