#pragma once

#include "base/clock.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace transitions {

/// Which executors gave an attempt back because they could not begin it, and how long each of them
/// is not asked again: longer every time. Pure.
class Refusals {
public:
    void add(std::string_view executor, std::string why, base::Duration now);
    /// So often that the fault must be the job's: its next one is how the attempt ends.
    [[nodiscard]] bool exhausted() const { return count_ >= refusals_max; }
    [[nodiscard]] bool hold(std::string_view executor, base::Duration now) const;
    /// Why the executor is not asked; empty when it is.
    [[nodiscard]] std::string why(std::string_view executor) const;
    /// What it can do changed: it may be asked at once.
    void release(std::string_view executor);
    /// When the next of these executors may be asked.
    [[nodiscard]] std::optional<base::Duration> next(base::Duration now) const;

    static constexpr int refusals_max = 8;

private:
    struct Hold {
        std::string why;
        base::Duration until;
    };
    std::map<std::string, Hold, std::less<>> holds_;
    int count_ = 0;
};

}  // namespace transitions
