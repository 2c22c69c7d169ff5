#include "bench/figure.hpp"

#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace bench {

void print_figure(
    std::string_view figure, double value, std::string_view unit, std::string_view beside
) {
    base::Json line{{"figure", figure}, {"value", std::round(value * 1000) / 1000}, {"unit", unit}};
    if (!beside.empty()) line["beside"] = beside;
    std::puts(base::canonical(line).c_str());
    std::fflush(stdout);
}

std::size_t scaled(std::size_t count) {
    const char* text = std::getenv("NETWRIGHT_BENCH_SCALE");
    const double scale = text != nullptr ? std::atof(text) : 1;
    return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) * scale));
}

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const auto last = static_cast<double>(values.size() - 1);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(last * share);
    std::ranges::nth_element(values, at);
    return *at;
}

namespace {

double seconds_of(clockid_t clock) {
    timespec used{};
    ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

double cpu_seconds() {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double thread_cpu_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace bench
