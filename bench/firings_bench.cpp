// Firings per second of one model: on four nets without durability (nothing rendered, hashed or
// stored), and durable, beside the bare program of bare_commit.hpp in the same run.

#include "base/files.hpp"
#include "base/json.hpp"
#include "bench/bare_commit.hpp"
#include "bench/figure.hpp"
#include "engine/chain.hpp"
#include "engine/committer.hpp"
#include "engine/decide.hpp"
#include "engine/model.hpp"
#include "engine/rocks_log.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::shared_ptr<const nets::Net> compiled(const std::string& document) {
    auto net = nets::compile(*base::parse_json(document));
    base::check(net.has_value(), net ? "" : base::canonical(base::Json(net.error().message)));
    return std::make_shared<const nets::Net>(std::move(*net));
}

// What a token carries in all of these: some 60 bytes of JSON.
constexpr const char* token = R"({"customer":"c-20391","id":"order-7781","total":129.5})";

std::string cycle() {
    return fmt::format(
        R"({{"net":"cycle","places":{{"a":{{}},"b":{{}}}},"transitions":{{"ab":{{"in":{{"x":"a"}},"out":{{"b":"${{x}}"}}}},
        "ba":{{"in":{{"x":"b"}},"out":{{"a":"${{x}}"}}}}}},"start":"a","end":["a"]}})"
    );
}

std::string producer_consumer() {
    std::string places = fmt::format(R"("p0":{{"tokens":[{}]}})", token);
    std::string transitions;
    for (int i = 0; i < 10; ++i) {
        if (i != 0) places += fmt::format(R"(,"p{}":{{}})", i);
        transitions += fmt::format(
            R"({}"t{}":{{"in":{{"x":"p{}"}},"out":{{"p{}":"${{x}}"}}}})",
            i == 0 ? "" : ",",
            i,
            i,
            (i + 1) % 10
        );
    }
    return fmt::format(
        R"({{"net":"prodcons","places":{{{}}},"transitions":{{{}}}}})", places, transitions
    );
}

std::string fork_join() {
    std::string places = fmt::format(R"("s":{{"tokens":[{}]}})", token);
    std::string fork;
    std::string join;
    for (int i = 0; i < 8; ++i) {
        places += fmt::format(R"(,"b{0}":{{}})", i);
        fork += fmt::format(R"({}"b{}":"${{x}}")", i == 0 ? "" : ",", i);
        join += fmt::format(R"({}"x{}":"b{}")", i == 0 ? "" : ",", i, i);
    }
    return fmt::format(
        R"({{"net":"forkjoin","places":{{{}}},"transitions":{{"fork":{{"in":{{"x":"s"}},"out":{{{}}}}},"join":{{"in":{{{}}},"out":{{"s":"${{x0}}"}}}}}}}})",
        places,
        fork,
        join
    );
}

std::string mutex() {
    std::string places = fmt::format(R"("mutex":{{"cases":false,"tokens":[{}]}})", token);
    std::string transitions;
    for (int i = 0; i < 10; ++i) {
        places += fmt::format(R"(,"idle{0}":{{"tokens":[{1}]}},"busy{0}":{{}})", i, token);
        transitions += fmt::format(
            R"({0}"enter{1}":{{"in":{{"p":"idle{1}","m":"mutex"}},"out":{{"busy{1}":"${{p}}"}}}},"leave{1}":{{"in":{{"p":"busy{1}"}},"out":{{"idle{1}":"${{p}}","mutex":"${{p}}"}}}})",
            i == 0 ? "" : ",",
            i
        );
    }
    return fmt::format(
        R"({{"net":"mutex","places":{{{}}},"transitions":{{{}}}}})", places, transitions
    );
}

engine::Asker asker() {
    return {.actor = "bench", .now = base::system_clock().now()};
}

double in_memory(const std::string& document, bool start_case, std::size_t firings) {
    engine::Model model("bench");
    model.without_records();
    model.take_over(1);
    model.go_live(base::system_clock().now());
    const auto net = compiled(document);
    base::check(engine::deploy(model, net, {}, asker()).has_value(), "deploy");
    if (start_case)
        base::check(
            engine::put_tokens(model, {net->name, "a"}, {{token, {}}}, asker()).has_value(), "put"
        );
    model.pump(base::system_clock().now(), firings / 10);
    const auto start = Clock::now();
    std::size_t fired = 0;
    while (fired < firings)
        fired += model.pump(base::system_clock().now(), 2000);
    return static_cast<double>(fired) / seconds_since(start);
}

// The strand decides and renders, the committer's thread chains and commits: as in production.
double durable(engine::Durability durability, std::size_t firings) {
    const base::TemporaryFolder folder;
    auto log = engine::open_rocks_log(folder.path() / "log", {.durability = durability});
    base::check(log.has_value(), "open the log");
    engine::Committer committer(**log);
    const engine::CommitThread thread(committer);
    const auto opened = committer.open("bench");
    base::check(opened.has_value(), "own the model");
    engine::Model model("bench");
    model.take_over(opened->epoch);
    model.go_live(base::system_clock().now());
    base::check(engine::deploy(model, compiled(cycle()), {}, asker()).has_value(), "deploy");
    // Cases, so that records carry them: each token belongs to one.
    for (int i = 0; i < 10; ++i) {
        base::check(
            engine::put_tokens(model, {"cycle", "a"}, {{token, {}}}, asker()).has_value(), "put"
        );
    }
    std::atomic<base::Seq> done = 0;
    const auto start = Clock::now();
    std::size_t fired = 0;
    while (fired < firings) {
        fired += model.pump(base::system_clock().now(), 2000);
        const auto pressure = committer.submit(
            opened->lane,
            model.take_records(),
            [&done](base::Result<base::Seq> seq) {
                base::check(seq.has_value(), "commit");
                done = *seq;
                done.notify_all();
            }
        );
        base::check(pressure.has_value(), "submit");
        if (*pressure == engine::Pressure::clear) continue;
        std::atomic<bool> drained = false;
        committer.when_drained(opened->lane, [&drained] {
            drained = true;
            drained.notify_all();
        });
        drained.wait(false);
    }
    for (auto seq = done.load(); seq < model.state().seq; seq = done.load())
        done.wait(seq);
    return static_cast<double>(fired) / seconds_since(start);
}

// The cost of one firing with so many tokens waiting in its place.
double with_waiting(std::size_t tokens, std::size_t firings) {
    engine::Model model("bench");
    model.without_records();
    model.take_over(1);
    model.go_live(base::system_clock().now());
    base::check(engine::deploy(model, compiled(cycle()), {}, asker()).has_value(), "deploy");
    for (std::size_t put = 0; put < tokens;) {
        std::vector<engine::PutToken> batch;
        for (; put < tokens && batch.size() < 10'000; ++put)
            batch.push_back({token, {}});
        base::check(
            engine::put_tokens(model, {"cycle", "a"}, std::move(batch), asker()).has_value(), "put"
        );
    }
    const auto start = Clock::now();
    std::size_t fired = 0;
    while (fired < firings)
        fired += model.pump(base::system_clock().now(), 2000);
    return seconds_since(start) * 1e9 / static_cast<double>(fired);
}

struct Figure {
    std::string name;
    double value;
    std::string unit;
    std::string beside;
    double base;
};

void print(const Figure& figure) {
    bench::print_figure(
        figure.name,
        figure.value,
        figure.unit,
        fmt::format("{:.2f} of {} ({:.0f})", figure.value / figure.base, figure.beside, figure.base)
    );
}

std::size_t scale() {
    const char* text = std::getenv("NETWRIGHT_BENCH_FIRINGS");
    return text != nullptr ? static_cast<std::size_t>(std::atoll(text)) : 1'000'000;
}

}  // namespace

int main() {
    const std::size_t firings = scale();
    const double floor = 1e6;
    print(
        {"firings, cycle, in memory", in_memory(cycle(), true, firings), "1/s", "the target", floor}
    );
    print(
        {"firings, producer-consumer, in memory",
         in_memory(producer_consumer(), false, firings),
         "1/s",
         "the target",
         floor}
    );
    print(
        {"firings, fork-join, in memory",
         in_memory(fork_join(), false, firings),
         "1/s",
         "the target",
         floor}
    );
    print(
        {"firings, mutex, in memory", in_memory(mutex(), false, firings), "1/s", "the target", floor
        }
    );
    const base::TemporaryFolder folder;
    const double bare = bench::bare_commit({.folder = folder.path() / "bare", .records = firings});
    print(
        {"immediate firings, durable",
         durable(engine::Durability::sync, firings),
         "1/s",
         "the bare program",
         bare}
    );
    const double few = with_waiting(100, firings / 2);
    for (const std::size_t tokens : {10'000UL, 1'000'000UL}) {
        print(
            {fmt::format("cost of a firing, {} tokens waiting", tokens),
             with_waiting(tokens, firings / 2),
             "ns",
             "100 tokens waiting",
             few}
        );
    }
    return 0;
}
