#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace nets::analysis {

struct Limits {
    /// Markings of one exploration. The only limit that gives the same verdict on every machine.
    std::uint64_t states_max = 5'000'000;
    std::size_t memory_bytes_max = std::size_t{2} << 30U;
    /// Of the whole check; needs `clock`.
    std::optional<base::Duration> time_max{};
    const base::Clock* clock = nullptr;
    /// Cases that stand on `start` together when soundness is judged.
    std::uint64_t cases = 1;
};

enum class LimitHit : std::uint8_t { states, memory, time };
std::string_view name(LimitHit hit);

struct Progress {
    std::string_view phase;
    std::uint64_t states = 0;  ///< of this phase, so far
    std::uint64_t edges = 0;
};
using ProgressCallback = std::function<void(const Progress&)>;

/// What one check has left, shared by its phases. Not thread-safe.
class Budget {
public:
    explicit Budget(const Limits& limits, ProgressCallback progress = {});

    [[nodiscard]] const Limits& limits() const { return limits_; }
    /// Cheap enough for every few hundred states.
    [[nodiscard]] bool out_of_time() const;
    /// At most a few times a second reaches the callback (at every call when there is no clock).
    void report(const Progress& progress);

private:
    Limits limits_;
    ProgressCallback progress_;
    std::optional<base::Duration> deadline_;
    std::optional<base::Duration> reported_;
};

/// Looks at the clock of a budget once in a while: for loops whose steps are short.
class Patience {
public:
    explicit Patience(const Budget& budget) : budget_(budget) {}
    /// True once the time is over, and from then on. `work` counts steps of a few nanoseconds.
    [[nodiscard]] bool over(std::size_t work = 1) {
        done_ += work;
        if (done_ < work_between_looks || over_) return over_;
        done_ = 0;
        over_ = budget_.out_of_time();
        return over_;
    }

private:
    static constexpr std::size_t work_between_looks = 1'000'000;

    const Budget& budget_;
    std::size_t done_ = 0;
    bool over_ = false;
};

}  // namespace nets::analysis
