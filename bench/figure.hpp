#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Prints one line of JSON: what was measured, and beside what in the same run.
void print_figure(
    std::string_view figure, double value, std::string_view unit, std::string_view beside = {}
);

/// A count times `$NETWRIGHT_BENCH_SCALE` (1 when it is not set: quick), at least 1.
std::size_t scaled(std::size_t count);

/// The value in the middle, or at another share of the way; 0 when there is none.
double percentile(std::vector<double> values, double share = 0.5);

/// Processor time of this process so far, of all its threads: steadier than wall time on a busy
/// machine.
double cpu_seconds();
/// The same of the calling thread.
double thread_cpu_seconds();

/// From its making.
class Stopwatch {
public:
    [[nodiscard]] double cpu() const { return cpu_seconds() - cpu_start_; }
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double cpu_start_ = cpu_seconds();
};

}  // namespace bench
