// Tool call round trips: a case started over HTTP with ?wait, one call of the builtin no-op by an
// executor in a process of its own, the answer that the case has completed; all of it durable.
// Beside the ceiling program, driven by the same client.
#include "bench/ceiling.hpp"
#include "bench/figure.hpp"
#include "bench/live_system.hpp"
#include "bench/load.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <string>
#include <vector>

namespace {

constexpr const char* input = R"({"customer":"c-20391","order":"order-7781","total":129.5})";

struct Run {
    std::size_t in_flight;
    std::size_t operations;
};

struct Measured {
    bench::LoadResult load;
    double worker_cpu_ms = 0;
};

// All, or the one that is asked for: to look at with a profiler.
std::vector<Run> runs(const char* wanted) {
    std::vector<Run> all = {
        {1, bench::scaled(1000)}, {16, bench::scaled(6000)}, {128, bench::scaled(12'000)}
    };
    if (wanted != nullptr)
        std::erase_if(all, [&](const Run& run) { return std::to_string(run.in_flight) != wanted; });
    return all;
}

Measured measured(bench::Ceiling& server, const Run& run) {
    const double before = server.worker_cpu_seconds();
    Measured one{bench::drive(
        {.url = server.url(),
         .target = "/start",
         .body = input,
         .in_flight = run.in_flight,
         .operations = run.operations}
    )};
    const double cpu = (server.worker_cpu_seconds() - before) * 1e3;
    one.worker_cpu_ms = cpu / static_cast<double>(run.operations);
    one.load.server_cpu_ms -= one.worker_cpu_ms;  // a thread of the same process
    return one;
}

Measured measured(bench::LiveSystem& live, const Run& run) {
    const double before = live.executor().cpu_seconds();
    Measured one{bench::drive(
        {.url = live.url(),
         .token = live.admin_token(),
         .target = "/api/models/bench/nets/noop/cases?wait=30s",
         .body = input,
         .expected = R"("state":"completed")",
         .in_flight = run.in_flight,
         .operations = run.operations}
    )};
    const double cpu = (live.executor().cpu_seconds() - before) * 1e3;
    one.worker_cpu_ms = cpu / static_cast<double>(run.operations);
    return one;
}

void print(
    const std::string& figure, double value, const char* unit, double beside, const char* what
) {
    bench::print_figure(
        figure,
        value,
        unit,
        fmt::format("{:.2f} of the ceiling's {} ({:.3f})", value / beside, what, beside)
    );
}

}  // namespace

int main(int count, char** arguments) {
    bench::LiveSystem live(128);
    live.post("/api/models/bench/nets", bench::net_with_call("noop", "noop"));
    bench::Ceiling server(live.folder() / "ceiling");
    measured(live, {1, 20});  // the executor is there
    measured(server, {1, 20});
    for (const auto& run : runs(count > 1 ? arguments[1] : nullptr)) {
        const auto bare = measured(server, run);
        const auto ours = measured(live, run);
        const auto name = fmt::format("round trips, {} in flight", run.in_flight);
        const auto& own = ours.load;
        const auto& best = bare.load;
        print(name, own.per_second, "1/s", best.per_second, "rate");
        print(
            name + ", p50",
            bench::percentile(own.milliseconds),
            "ms",
            bench::percentile(best.milliseconds),
            "p50"
        );
        print(
            name + ", p99",
            bench::percentile(own.milliseconds, 0.99),
            "ms",
            bench::percentile(best.milliseconds, 0.99),
            "p99"
        );
        print(
            name + ", processor time of the master",
            own.server_cpu_ms,
            "ms/operation",
            best.server_cpu_ms,
            "server"
        );
        print(
            name + ", processor time of the executor",
            ours.worker_cpu_ms,
            "ms/operation",
            bare.worker_cpu_ms,
            "worker"
        );
        print(
            name + ", processor time of master, executor and client",
            own.server_cpu_ms + own.client_cpu_ms + ours.worker_cpu_ms,
            "ms/operation",
            best.server_cpu_ms + best.client_cpu_ms + bare.worker_cpu_ms,
            "sum"
        );
    }
    return 0;
}
