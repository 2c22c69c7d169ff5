#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <string_view>

namespace base {

struct LengthRange {
    Duration min{};
    Duration max{};
};

/// A duration (see `duration`) from outside, within limits. The message of the error has the text,
/// and the limits when it is a duration that is beyond them, however long.
Result<Duration> length_within(std::string_view text, LengthRange range);

}  // namespace base
