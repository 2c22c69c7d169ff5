#pragma once

#include "base/error.hpp"

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace base {

/// What may go wrong in a correct program is returned. Look at it at once.
template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string next = {}) {
    return std::unexpected(Error{code, std::move(message), std::move(next), {}});
}

inline std::unexpected<Error> fail(Error error) {
    return std::unexpected(std::move(error));
}

/// Ends the process with `why` when `condition` is false: for what shows a bug, never for input.
void check(bool condition, std::string_view why);

}  // namespace base
