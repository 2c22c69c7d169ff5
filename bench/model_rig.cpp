#include "bench/model_rig.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"
#include "bench/figure.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace bench {

engine::Asker asker() {
    return {.actor = "bench", .now = base::system_clock().now()};
}

void deploy(engine::Model& model, const std::string& document) {
    auto net = nets::compile(*base::parse_json(document));
    if (!net) {
        std::string faults = net.error().message;
        for (const auto& detail : net.error().details)
            faults += "\n" + detail.pointer + ": " + detail.message;
        base::check(false, faults);
    }
    const auto done =
        engine::deploy(model, std::make_shared<const nets::Net>(std::move(*net)), {}, asker());
    base::check(done.has_value(), done ? "" : done.error().message);
}

void put(
    engine::Model& model,
    const engine::PlaceName& place,
    std::size_t count,
    const std::function<std::string(std::size_t)>& data
) {
    for (std::size_t n = 0; n < count;) {
        std::vector<engine::PutToken> batch;
        for (; n < count && batch.size() < engine::tokens_put_max; ++n)
            batch.push_back({data(n), {}});
        const auto done = engine::put_tokens(model, place, std::move(batch), asker());
        base::check(done.has_value(), done ? "" : done.error().message);
    }
}

std::string data_of_100_bytes(std::size_t n) {
    return fmt::format(
        R"({{"amount":{:06},"customer":"customer-{:08}","order":"order-{:006}","state":"new","way":"post-a"}})",
        100'000 + n % 900'000,
        n % 10'000,
        n
    );
}

void begin_without_records(engine::Model& model) {
    model.without_records();
    model.take_over(1);
    model.go_live(base::system_clock().now());
}

double ns_per_firing(engine::Model& model, std::size_t firings) {
    const Stopwatch watch;
    std::size_t fired = 0;
    while (fired < firings) {
        const auto more = model.pump(base::system_clock().now(), 2000);
        base::check(more != 0, "the net goes on for ever");
        fired += more;
    }
    return watch.cpu() * 1e9 / static_cast<double>(fired);
}

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace bench
