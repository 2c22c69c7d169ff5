#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "nets/cel/value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nets::cel {

/// The names an expression may use, in order: the n-th value given to `evaluate` is the n-th name.
struct Scope {
    std::vector<std::string> names;
};

/// What one evaluation may spend. A step is one node visited, one element of a list or map handled
/// or 16 bytes of text read or written; an expression that runs out fails with `limit`, and nothing
/// in it (`||`, `exists`) absorbs that.
struct Budget {
    std::uint64_t steps = 1'000'000;
};

struct CompileOptions {
    std::string container;  ///< names are looked for below it first, as cel-spec says
    bool checked = true;    ///< false: unknown names and type errors show at evaluation only
};

/// A compiled expression of the Common Expression Language (cel-spec, doc/langdef.md). Immutable,
/// cheap to copy, usable from any thread.
class Program {
public:
    /// Parses and checks: syntax, unknown names, wrong arity, obvious type errors; each fault is an
    /// ErrorDetail whose message carries line and column, all of them at once. An expression over
    /// 64 KiB or nested over 250 deep is refused.
    static base::Result<Program> compile(
        std::string_view source, const Scope& scope, const CompileOptions& options = {}
    );

    /// `values` are in the order of the scope's names; what they borrow must outlive the result.
    [[nodiscard]] base::Result<Value> evaluate(std::span<const Value> values, Budget& budget) const;

    /// True when the expression mentions the n-th name of its scope.
    [[nodiscard]] bool uses(std::size_t name) const;
    /// The field paths it reads below its names, e.g. {"order", "total"}; for checking against
    /// schemas. A computed index ends a path, and so does has(), `.?` or `[?`: what is only asked
    /// for is not in it.
    [[nodiscard]] const std::vector<std::vector<std::string>>& paths() const;
    /// The index of the name when the whole expression is just that name; else -1.
    [[nodiscard]] int bare_name() const;
    [[nodiscard]] const std::string& source() const;
    /// Of `a == b && c == d && ...`: both sides of each equality that must hold where the whole is
    /// true. They have the scope of the whole, and no source.
    [[nodiscard]] std::vector<std::pair<Program, Program>> equalities() const;

private:
    struct Compiled;
    explicit Program(std::shared_ptr<const Compiled> compiled);
    std::shared_ptr<const Compiled>
        compiled_;  // shared: programs are copied with the net they belong to
};

}  // namespace nets::cel
