#include "bench/figure.hpp"

#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
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

double cpu_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace bench
