#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <optional>

namespace engine {

/// The time of one model: what its records are stamped with, and what all lengths of time are
/// measured on (delays, ages, backoffs, timeouts, claims, `every`). It begins at the wall clock, or
/// at the last record where that is later, and from there runs with the clock's `elapsed`: a wall
/// clock that is set while the master runs neither stops it nor makes it jump. One strand.
class ModelClock {
public:
    explicit ModelClock(const base::Clock& clock) : clock_(clock) {}

    /// The model is open, or open again in the same process: then time went on meanwhile.
    void begin(base::Timestamp last_record) {
        const base::Duration elapsed = clock_.elapsed();
        if (!zero_) zero_ = clock_.now() - elapsed;
        zero_ = std::max(*zero_, last_record - elapsed);
    }
    /// Only after `begin`.
    [[nodiscard]] base::Timestamp now() const { return *zero_ + clock_.elapsed(); }
    /// How far the wall clock is ahead of this one (or, less than nothing, behind).
    [[nodiscard]] base::Duration wall_ahead() const { return clock_.now() - now(); }

private:
    const base::Clock& clock_;
    std::optional<base::Timestamp> zero_;  ///< when `elapsed` was nought
};

}  // namespace engine
