#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace base::schema {

/// A regular expression of ECMA-262 (with its `u` flag) that RE2 runs, in time linear in the text.
/// Refused: lookahead and lookbehind, backreferences (unsupported), and what ECMA-262 refuses.
class Pattern {
public:
    static Result<Pattern> compile(std::string_view ecma);
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    /// Anywhere in the text, as ECMA's `test` does.
    [[nodiscard]] bool found_in(std::string_view text) const;
    /// What `found_in` may cost. RE2 takes time in the text times the program where its automaton
    /// does not fit into memory, so that both count.
    [[nodiscard]] std::uint64_t steps(std::string_view text) const;
    /// Instructions of the compiled program, each some 16 bytes.
    [[nodiscard]] std::size_t instructions() const;

private:
    explicit Pattern(std::unique_ptr<re2::RE2> expression);
    std::unique_ptr<re2::RE2> expression_;
};

/// The same expression in RE2's syntax.
Result<std::string> re2_pattern(std::string_view ecma);

}  // namespace base::schema
