#pragma once

#include "base/json.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"
#include "nets/cel/cel.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nets {

/// Nesting of objects and lists inside one template.
inline constexpr std::size_t template_depth_max = 64;
/// What one template may render to, and how deep that may nest with what its expressions bring.
inline constexpr std::size_t rendered_bytes_max = base::limits::rendered_bytes_max;
inline constexpr std::size_t rendered_depth_max = base::limits::accepted.depth_max;

/// JSON with expressions in its strings. A string that is exactly `${...}` takes the value with its
/// type; in mixed text strings go in as they are, numbers and bools as CEL's `string()` writes
/// them, timestamps, durations and bytes as they leave a token, lists and maps as canonical JSON,
/// and null is an error (write `${x == null ? "" : x}`). `$${` writes `${`. Keys are plain text.
/// Immutable, usable from any thread.
class Template {
public:
    /// Renders `null`.
    Template() = default;

    /// Every fault is in `details`, its pointer being `pointer` plus the place in `source`.
    static base::Result<Template> compile(
        const base::Json& source, const cel::Scope& scope, std::string_view pointer
    );

    /// Appends canonical JSON. `values` are in the order of the scope's names. After an error `out`
    /// is as it was; the error says which expression failed. Out of steps, over
    /// `rendered_bytes_max` or deeper than `rendered_depth_max`: `limit`.
    base::Result<void> render(
        std::string& out, std::span<const cel::Value> values, cel::Budget& budget
    ) const;

    /// The index of the name when the whole template is just `${name}`; else -1.
    [[nodiscard]] int bare_name() const;
    /// True when an expression mentions the n-th name of the scope.
    [[nodiscard]] bool uses(std::size_t name) const { return name < uses_.size() && uses_[name]; }
    /// True when it holds no expression.
    [[nodiscard]] bool constant() const;

private:
    using TextPart = std::variant<std::string, cel::Program>;
    using Text = std::vector<TextPart>;  // joined to one JSON string
    struct Value {
        cel::Program program;
        std::size_t depth;  // of the objects and lists around it
    };
    using Part = std::variant<std::string, Value, Text>;  // ready JSON; a value; a string

    struct Builder;
    struct Rendering;

    std::vector<Part> parts_;
    std::vector<bool> uses_;
};

}  // namespace nets
