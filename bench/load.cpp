#include "bench/load.hpp"

#include "base/result.hpp"
#include "bench/figure.hpp"
#include "http/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>

namespace bench {

namespace {

struct Progress {
    std::size_t left;
    boost::asio::io_context& context;
    std::vector<double> milliseconds = {};
};

void look_at(const Load& load, const base::Result<http::Response>& answer) {
    base::check(answer.has_value(), answer ? "" : answer.error().message);
    const bool good = answer->status < 300 && answer->body.contains(load.expected);
    base::check(good, "the answer was " + std::to_string(answer->status) + ' ' + answer->body);
}

http::Task<void> one_client(http::AsyncClient& client, const Load& load, Progress& progress) {
    while (progress.left > 0) {
        --progress.left;
        const Stopwatch watch;
        const auto answer =
            co_await client.send({.method = load.method, .target = load.target, .body = load.body});
        progress.milliseconds.push_back(watch.seconds() * 1e3);
        look_at(load, answer);
    }
    // Timers of the client's idle connections are not part of what is measured.
    if (progress.milliseconds.size() == load.operations) progress.context.stop();
}

}  // namespace

LoadResult drive(const Load& load) {
    boost::asio::io_context context(1);
    auto client = http::AsyncClient::make(
        context.get_executor(),
        {.url = load.url, .bearer_token = load.token, .idle_connections_max = load.in_flight}
    );
    base::check(client.has_value(), "the client is made");
    Progress progress{.left = load.operations, .context = context};
    progress.milliseconds.reserve(load.operations);
    for (std::size_t i = 0; i < load.in_flight; ++i) {
        boost::asio::co_spawn(
            context,
            one_client(*client, load, progress),
            [](const std::exception_ptr& thrown) { base::check(!thrown, "a client threw"); }
        );
    }
    const Stopwatch watch;
    const double own = thread_cpu_seconds();
    context.run();
    const auto count = static_cast<double>(load.operations);
    const double client_cpu = thread_cpu_seconds() - own;
    return {
        .per_second = count / watch.seconds(),
        .milliseconds = std::move(progress.milliseconds),
        .server_cpu_ms = (watch.cpu() - client_cpu) * 1e3 / count,
        .client_cpu_ms = client_cpu * 1e3 / count,
    };
}

}  // namespace bench
