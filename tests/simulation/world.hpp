#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

/// A world in which everything that happens is an event at a simulated time, in an order that one
/// number decides. See simulation.hpp.
namespace simulation {

/// An invariant does not hold.
class Violation : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& why) {
    if (!holds) throw Violation(why);
}

/// splitmix64: the same numbers on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    std::uint64_t below(std::uint64_t end) { return next() % end; }
    bool chance(unsigned permille) { return below(1000) < permille; }
    base::Duration between(base::Duration from, base::Duration to);
    /// Mostly near `usual`, now and then up to `rare`.
    base::Duration around(base::Duration usual, base::Duration rare);

private:
    std::uint64_t state_;
};

class World final : public base::Clock {
public:
    explicit World(std::uint64_t seed);

    Random random;
    /// While false, nothing goes wrong any more.
    bool faults = true;

    [[nodiscard]] base::Duration elapsed() const override { return now_; }
    /// By the clock on the wall, which is set now and then.
    [[nodiscard]] base::Timestamp now() const override;
    void set_wall(base::Duration by);
    void after(base::Duration delay, std::move_only_function<void()> what);
    /// A fault of this likelihood happens now.
    bool fault(unsigned permille) { return faults && random.chance(permille); }
    /// Runs events until `until`, calling `checked` after each.
    void run(base::Duration until, const std::function<void()>& checked);
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// For a person who replays one seed (NETWRIGHT_SIM_TRACE).
    void trace(const std::string& line) const;
    [[nodiscard]] bool tracing() const { return tracing_; }

private:
    using Moment = std::tuple<std::int64_t, std::uint64_t, std::uint64_t>;
    base::Duration now_;
    base::Duration wall_set_by_;
    std::map<Moment, std::move_only_function<void()>> events_;
    std::uint64_t made_ = 0;
    std::uint64_t steps_ = 0;
    bool tracing_ = false;
};

}  // namespace simulation
