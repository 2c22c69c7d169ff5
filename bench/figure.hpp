#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace bench {

/// Prints one line of JSON: what was measured, and beside what in the same run.
void print_figure(
    std::string_view figure, double value, std::string_view unit, std::string_view beside = {}
);

/// Processor time of this process so far, of all its threads: steadier than wall time on a busy
/// machine.
double cpu_seconds();

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
