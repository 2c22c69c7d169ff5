#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nets {

/// A place in the document being read: a chain of keys and indexes on the stack, spelled out as a
/// JSON pointer only when something is wrong there. Borrows its parent and its key.
class At {
public:
    At() = default;
    At operator/(std::string_view key) const [[clang::lifetimebound]] { return {this, key, 0}; }
    At operator/(std::size_t index) const [[clang::lifetimebound]] { return {this, {}, index}; }
    [[nodiscard]] std::string pointer() const;

private:
    At(const At* up, std::string_view key, std::size_t index) : up_(up), key_(key), index_(index) {}

    const At* up_ = nullptr;
    std::string_view key_;  // without data: `index_` counts
    std::size_t index_ = 0;
};

/// What is wrong with a document, gathered while it is read on.
class Faults {
public:
    /// So many are told one by one, then only counted.
    static constexpr std::size_t told_max = 100;

    void add(const At& at, std::string message, base::ErrorCode code = base::ErrorCode::validation);
    void add(base::ErrorDetail detail);
    /// The details of `error`, or where it has none, itself; all at `at`.
    void add_all(const At& at, const base::Error& error, std::string_view prefix = {});

    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// True when one more would only be counted: no need to word it well.
    [[nodiscard]] bool full() const { return count_ >= told_max; }
    /// `unsupported` when nothing else is wrong, else `validation`. `what` names the document.
    [[nodiscard]] base::Error error(std::string_view what) const;

private:
    std::vector<base::ErrorDetail> told_;
    std::size_t count_ = 0;
};

/// The text in single quotes, cut after 80 bytes.
std::string in_quotes(std::string_view text);

/// "; did you mean 'x'?" for the name nearest to `wrong`, or "" when none is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string_view>& names);

}  // namespace nets
