#pragma once

#include "base/clock.hpp"

namespace base {

/// A clock that is read off another one when it is made, and then runs with its `elapsed`: however
/// the wall clock is set, the difference of two `now` is the time that passed between them.
class RunningClock final : public Clock {
public:
    explicit RunningClock(const Clock& clock)
        : clock_(clock), zero_(clock.now() - clock.elapsed()) {}
    [[nodiscard]] Timestamp now() const override { return zero_ + clock_.elapsed(); }
    [[nodiscard]] Duration elapsed() const override { return clock_.elapsed(); }

private:
    const Clock& clock_;
    Timestamp zero_;
};

}  // namespace base
