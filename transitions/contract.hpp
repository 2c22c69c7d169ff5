#pragma once

#include "base/guarded.hpp"
#include "base/json_schema.hpp"
#include "base/result.hpp"
#include "catalog/item.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace transitions {

/// What a tool's entry says about its arguments and its answer. Prose is nothing to hold against.
/// Immutable.
struct Contract {
    std::optional<base::Schema> input;
    std::optional<base::Schema> output;
    std::string
        defaults;  ///< canonical JSON: the arguments that are filled in when they are left out
    bool allow_truncated = false;  ///< an answer that was cut is a result that says so

    /// The arguments as the tool gets them, defaults filled in. Every fault is in `details`:
    /// arguments that do not fit, and names that begin with `_`, which are reserved.
    [[nodiscard]] base::Result<std::string> arguments(std::string_view given) const;
    /// `bad_output` with every fault, `limit` where checking costs too much.
    [[nodiscard]] base::Result<void> answer(std::string_view data) const;
};

/// Contracts compiled, each version of a tool once. Thread-safe.
class Contracts {
public:
    /// An entry whose schema does not compile (registered by an older binary) has the error.
    base::Result<std::shared_ptr<const Contract>> of(const catalog::Item& item);

private:
    static constexpr std::size_t kept_max = 1000;
    // Shared: calls under way keep what they began with.
    using Kept = std::unordered_map<std::string, std::shared_ptr<const Contract>>;
    base::Guarded<Kept> kept_;
};

}  // namespace transitions
