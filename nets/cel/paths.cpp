#include "nets/cel/resolver.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace nets::cel {

namespace {

using Path = std::vector<std::string>;

// The path that the node reads when it is a name, a field below it, or an item by a constant key.
std::optional<Path> path_of(const Node& node, const Scope& scope) {
    if (node.op == Op::variable) return Path{scope.names[node.index]};
    if (node.op == Op::select) {
        auto path = path_of(node.children[0], scope);
        if (path) path->push_back(node.text);
        return path;
    }
    if (node.op == Op::item && node.children[1].op == Op::constant &&
        node.children[1].value.is(Kind::string)) {
        auto path = path_of(node.children[0], scope);
        if (path) path->emplace_back(node.children[1].value.text());
        return path;
    }
    return std::nullopt;
}

void collect(const Node& node, const Scope& scope, std::vector<Path>& paths) {
    if (auto path = path_of(node, scope)) {
        paths.push_back(std::move(*path));
        return;
    }
    for (const Node& child : node.children)
        collect(child, scope, paths);
}

}  // namespace

std::vector<Path> read_paths(const Node& root, const Scope& scope) {
    std::vector<Path> paths;
    collect(root, scope, paths);
    std::ranges::sort(paths);
    const auto repeated = std::ranges::unique(paths);
    paths.erase(repeated.begin(), repeated.end());
    return paths;
}

}  // namespace nets::cel
