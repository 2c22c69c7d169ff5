#include "nets/cel/cel.hpp"

#include "nets/cel/evaluation.hpp"
#include "nets/cel/node.hpp"
#include "nets/cel/parser.hpp"
#include "nets/cel/resolver.hpp"

#include <fmt/format.h>
#include <utility>

namespace nets::cel {

struct Program::Compiled {
    Node root;
    std::string source;
    std::uint32_t locals = 0;
    std::vector<bool> used;
    std::vector<std::vector<std::string>> paths;
};

namespace {

void mark_used(const Node& node, std::vector<bool>& used) {
    if (node.op == Op::variable) used[node.index] = true;
    for (const Node& child : node.children)
        mark_used(child, used);
}

std::unexpected<base::Error> refused(const std::vector<Fault>& faults) {
    base::Error error;
    error.code = base::ErrorCode::validation;
    for (const Fault& fault : faults) {
        error.details.push_back({"", base::ErrorCode::validation, at_text(fault.at, fault.message)}
        );
    }
    error.message = error.details.front().message;
    if (faults.size() > 1) {
        error.message += fmt::format(" (and {} more)", faults.size() - 1);
    }
    return base::fail(std::move(error));
}

void collect_equalities(const Node& node, std::vector<const Node*>& found) {
    if (node.op == Op::equal) found.push_back(&node);
    if (node.op != Op::logical_and) return;
    for (const Node& child : node.children)
        collect_equalities(child, found);
}

}  // namespace

Program::Program(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

base::Result<Program> Program::compile(
    std::string_view source, const Scope& scope, const CompileOptions& options
) {
    if (source.size() > source_bytes_max) {
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format(
                "an expression of {} bytes; the limit is {}", source.size(), source_bytes_max
            )
        );
    }
    if (!base::valid_utf8(source)) {
        return base::fail(base::ErrorCode::validation, "the expression is not valid UTF-8");
    }
    std::vector<Fault> faults;
    auto compiled = std::make_shared<Compiled>();
    compiled->root = parse(source, faults);
    if (!faults.empty()) return refused(faults);
    compiled->locals = resolve(compiled->root, scope, options, faults);
    if (!faults.empty()) return refused(faults);
    compiled->source = source;
    compiled->used.resize(scope.names.size());
    mark_used(compiled->root, compiled->used);
    compiled->paths = read_paths(compiled->root, scope);
    return Program(std::move(compiled));
}

base::Result<Value> Program::evaluate(std::span<const Value> values, Budget& budget) const {
    base::check(
        values.size() == compiled_->used.size(),
        "an expression evaluated with another scope's values"
    );
    return Evaluation(values, compiled_->locals, budget).run(compiled_->root);
}

bool Program::uses(std::size_t name) const {
    return name < compiled_->used.size() && compiled_->used[name];
}

const std::vector<std::vector<std::string>>& Program::paths() const {
    return compiled_->paths;
}

int Program::bare_name() const {
    const Node& root = compiled_->root;
    return root.op == Op::variable ? static_cast<int>(root.index) : -1;
}

const std::string& Program::source() const {
    return compiled_->source;
}

std::vector<std::pair<Program, Program>> Program::equalities() const {
    std::vector<const Node*> found;
    collect_equalities(compiled_->root, found);
    const auto part = [&](const Node& node) {
        auto made = std::make_shared<Compiled>();
        made->root = node;
        made->locals = compiled_->locals;
        made->used.resize(compiled_->used.size());
        mark_used(node, made->used);
        return Program(std::move(made));
    };
    std::vector<std::pair<Program, Program>> sides;
    for (const Node* node : found)
        sides.emplace_back(part(node->children[0]), part(node->children[1]));
    return sides;
}

}  // namespace nets::cel
