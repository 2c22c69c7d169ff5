// Script jobs in the full sandbox, beside bwrap itself with the same flags and the same program
// inside, and how soon an idle executor holds the lease of a token that has just come.
#include "bench/figure.hpp"
#include "bench/live_system.hpp"
#include "bench/load.hpp"
#include "executor/sandbox.hpp"
#include "executor/spawner.hpp"
#include "http/headers.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t slots = 2;
constexpr const char* input = R"({"order":"order-7781"})";

/// bwrap with what the sandbox gives it, but `sh -c true` in place of our init.
class BareBwrap {
public:
    explicit BareBwrap(const std::filesystem::path& work) {
        auto opened = executor::Sandbox::open({.helper = executor::helper_path(), .work = work});
        base::check(opened.has_value(), opened ? "" : opened.error().message);
        sandbox_.emplace(std::move(*opened));
        null_.reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
    }
    void run() const {
        const int null = null_.value();
        const executor::SandboxOrder order{
            .program =
                {.path = "/bin/sh", .argv = {"sh", "-c", "true"}, .folder = executor::sandbox_work},
            .script = "true",
            .filename = "tool",
            .work_bytes = std::int64_t{64} << 20U,
        };
        auto prepared = sandbox_->prepare(order, {null, null, null, null, null});
        base::check(prepared.has_value(), prepared ? "" : prepared.error().message);
        spawn_and_wait(prepared->order);
    }

private:
    static void spawn_and_wait(const executor::SpawnOrder& order) {
        // Copies above all that they become, so that none overwrites another.
        std::vector<base::FileDescriptor> high;
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        for (const int descriptor : order.descriptors) {
            const auto becomes = static_cast<int>(high.size());
            high.emplace_back(::fcntl(descriptor, F_DUPFD_CLOEXEC, 200));
            ::posix_spawn_file_actions_adddup2(&actions, high.back().value(), becomes);
        }
        std::vector<std::string> words;
        for (const auto& word : order.program.argv) {
            words.push_back(word);
            if (word == "--") break;
        }
        for (const char* word : {"/bin/sh", "-c", "true"})
            words.emplace_back(word);
        std::vector<char*> arguments;
        for (auto& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        char* environment[] = {nullptr};
        pid_t pid = -1;
        const int failed = ::posix_spawn(
            &pid, order.program.path.c_str(), &actions, nullptr, arguments.data(), environment
        );
        ::posix_spawn_file_actions_destroy(&actions);
        base::check(failed == 0, "start bwrap");
        int status = 0;
        while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        base::check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "bwrap runs sh -c true");
    }

    std::optional<executor::Sandbox> sandbox_;
    base::FileDescriptor null_;
};

double bare_per_second(const BareBwrap& bwrap, std::size_t count) {
    std::atomic<std::size_t> left = count;
    const bench::Stopwatch watch;
    {
        std::vector<std::jthread> threads;
        for (std::int64_t i = 0; i < slots; ++i) {
            threads.emplace_back([&] {
                for (auto now = left.load(); now > 0;) {
                    if (left.compare_exchange_weak(now, now - 1)) bwrap.run();
                }
            });
        }
    }
    return static_cast<double>(count) / watch.seconds();
}

double bare_p50_ms(const BareBwrap& bwrap, std::size_t count) {
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) {
        const bench::Stopwatch watch;
        bwrap.run();
        times.push_back(watch.seconds() * 1e3);
    }
    return bench::percentile(std::move(times));
}

bench::LoadResult scripts(bench::LiveSystem& live, std::size_t in_flight, std::size_t count) {
    return bench::drive(
        {.url = live.url(),
         .token = live.admin_token(),
         .target = "/api/models/bench/nets/script/cases?wait=60s",
         .body = input,
         .expected = R"("state":"completed")",
         .in_flight = in_flight,
         .operations = count}
    );
}

void print_scripts(bench::LiveSystem& live) {
    const BareBwrap bwrap(
        live.folder() / "bare"
    );  // not the executor's: what it has made there is its own
    bwrap.run();
    scripts(live, 2, 4);
    const std::size_t count = bench::scaled(300);
    const double bare = bare_per_second(bwrap, count);
    const double ours = scripts(live, 4 * slots, count).per_second;
    const auto name = fmt::format("script jobs in the sandbox, {} slots", slots);
    bench::print_figure(
        name, ours, "1/s", fmt::format("{:.2f} of bwrap alone ({:.1f})", ours / bare, bare)
    );
    const double bare_ms = bare_p50_ms(bwrap, count / 3 + 1);
    const double ours_ms = bench::percentile(scripts(live, 1, count / 3 + 1).milliseconds);
    bench::print_figure(
        "script job from start to answer, p50",
        ours_ms,
        "ms",
        fmt::format("{:.2f} ms above bwrap alone ({:.2f})", ours_ms - bare_ms, bare_ms)
    );
}

/// Follows the log from `seq` until the operation is over; the time of its lease's beginning.
std::int64_t lease_time(bench::LiveSystem& live, std::uint64_t seq) {
    std::int64_t granted = 0;
    bool over = false;
    const auto answer = live.client().events(
        {.target = fmt::format("/api/models/bench/events?from={}", seq),
         .headers = {{"Accept", "text/event-stream"}}},
        [&](const http::Event& event) {
            if (event.data.empty()) return true;
            const auto record = *base::parse_json(event.data);
            const auto type = record.at("type").get<std::string>();
            if (type == "lease.granted") granted = record.at("ts").get<std::int64_t>();
            over = type == "operation.finalized";
            return !over;
        }
    );
    base::check(answer.has_value() && over && granted != 0, "the operation has ended");
    return granted;
}

void print_latency(bench::LiveSystem& live) {
    std::vector<double> times;
    const auto place = "/api/models/bench/nets/noop/places/asked/tokens";
    for (std::size_t i = 0; i <= bench::scaled(200); ++i) {
        const auto put = live.post(place, fmt::format(R"({{"data":{}}})", input));
        const auto id = base::token_id(put.at("items").at(0).at("id").get<std::string>());
        const auto granted = lease_time(live, id->seq);
        const auto page = live.client().send(
            {.target = fmt::format("/api/models/bench/events?from={}&limit=1", id->seq)}
        );
        const auto record = base::parse_json(page->body)->at("items").at(0);
        base::check(record.at("type") == "tokens.put", "the record that put the token");
        // The first is the executor's beginning.
        if (i != 0)
            times.push_back(
                static_cast<double>(granted - record.at("ts").get<std::int64_t>()) / 1e3
            );
    }
    bench::print_figure(
        "token's arrival to lease granted, p50", bench::percentile(times), "ms", "the target (2)"
    );
    bench::print_figure(
        "token's arrival to lease granted, p99", bench::percentile(times, 0.99), "ms"
    );
}

}  // namespace

int main() {
    bench::LiveSystem live(slots);
    live.post("/api/models/bench/nets", bench::net_with_call("noop", "noop"));
    print_latency(live);
    live.post(
        "/api/tool-catalog/scripts",
        R"({"id":"nothing","name":"Nothing","runtime":"sh","content":"true"})"
    );
    live.post("/api/models/bench/nets", bench::net_with_call("script", "nothing"));
    print_scripts(live);
    return 0;
}
