// Reads over REST, beside a bare Beast server that answers as many bytes.
#include "bench/ceiling.hpp"
#include "bench/figure.hpp"
#include "bench/live_system.hpp"
#include "bench/load.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <fmt/format.h>

namespace {

bench::LoadResult reads(bench::Load load, std::size_t in_flight) {
    load.method = http::Method::get;
    load.in_flight = in_flight;
    load.operations = in_flight * 10;
    bench::drive(load);  // connections, caches
    load.operations = bench::scaled(20'000);
    return bench::drive(load);
}

}  // namespace

int main() {
    bench::LiveSystem live(1);
    const bench::Ceiling bare(live.folder() / "bare");
    live.post(
        "/api/tool-catalog/scripts",
        R"({"id":"nothing","name":"Nothing","runtime":"sh","content":"true"})"
    );
    for (const auto in_flight : std::array<std::size_t, 2>{1, 16}) {
        const auto ours = reads(
            {.url = live.url(),
             .token = live.admin_token(),
             .target = "/api/tool-catalog/nothing",
             .expected = R"("id":"nothing")"},
            in_flight
        );
        const auto floor = reads({.url = bare.url(), .target = "/"}, in_flight);
        bench::print_figure(
            fmt::format("GET /api/tool-catalog/ID, {} in flight", in_flight),
            ours.per_second,
            "1/s",
            fmt::format(
                "{:.2f} of a bare Beast server ({:.0f}); processor {:.3f} ms beside {:.3f}",
                ours.per_second / floor.per_second,
                floor.per_second,
                ours.server_cpu_ms,
                floor.server_cpu_ms
            )
        );
    }
    return 0;
}
