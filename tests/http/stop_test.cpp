#include "http/await.hpp"
#include "http/status.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"
#include "tests/http/waiting.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

using http_test::get;
using http_test::RawPeer;
using http_test::Reports;
using http_test::TestServer;

namespace {

using Completion = http::Completion<std::string>;

/// A route whose handler waits until the test completes it.
struct Bench {
    Reports<Completion> waits;
    Reports<http::ConnectionId> begun;
    Reports<http::ConnectionId> closed;
    Reports<std::string> ends;
};

http::Task<http::Response> wait_for_it(
    Bench& bench, base::Duration at_most, http::Request request
) {
    bench.begun.add(request.connection);
    const auto value = co_await http::await_callback<std::string>(
        {.at_most = at_most, .stop = request.stop},
        [&](Completion completion) { bench.waits.add(std::move(completion)); }
    );
    bench.ends.add(value ? "completed" : request.stop.stopped() ? "stopped" : "late");
    co_return http::text_response(200, value.value_or("nothing"));
}

TestServer server_of(Bench& bench, bool long_poll, base::Duration at_most = base::seconds(600)) {
    return TestServer(
        [&, long_poll, at_most](http::Router& router) {
            router.add(
                http::Method::get,
                "/wait",
                [&bench, at_most](http::Request request) {
                    return wait_for_it(bench, at_most, std::move(request));
                },
                {.long_poll = long_poll}
            );
        },
        {.connection_closed = [&bench](http::ConnectionId id) { bench.closed.add(id); }}
    );
}

}  // namespace

TEST_CASE("a long poll is answered from another thread") {
    Bench bench;
    auto server = server_of(bench, true);
    auto client = server.client();
    for (std::size_t i = 1; i <= 3; ++i) {
        std::jthread completer([&] {
            REQUIRE(bench.waits.wait_for(i));
            bench.waits.all()[i - 1]("job " + std::to_string(i));
            bench.waits.all()[i - 1]("too late");
        });
        CHECK(client.send({.target = "/wait"})->body == "job " + std::to_string(i));
    }
    CHECK(bench.begun.all()[0] == bench.begun.all()[2]);
}

TEST_CASE("a wait ends at its limit, and when its completion is dropped") {
    Bench bench;
    auto server = server_of(bench, true, base::milliseconds(50));
    auto client = server.client();
    CHECK(client.send({.target = "/wait"})->body == "nothing");
    CHECK(bench.ends.all() == std::vector<std::string>{"late"});
    bench.waits.all()[0]("too late");

    TestServer dropping([](http::Router& router) {
        router.add(http::Method::get, "/drop", [](http::Request) -> http::Task<http::Response> {
            const auto value =
                co_await http::await_callback<int>({.at_most = base::seconds(600)}, [](auto) {});
            co_return http::text_response(200, value ? "value" : "dropped");
        });
    });
    CHECK(dropping.client().send({.target = "/drop"})->body == "dropped");
}

TEST_CASE("the going of a peer is noticed while its long poll waits") {
    Bench bench;
    auto server = server_of(bench, true);
    {
        RawPeer peer((*server).port());
        peer.send(get("/wait"));
        REQUIRE(bench.waits.wait_for(1));
        CHECK(bench.closed.all().empty());
    }
    REQUIRE(bench.closed.wait_for(1));
    REQUIRE(bench.ends.wait_for(1));
    CHECK(bench.closed.all() == bench.begun.all());
    CHECK(bench.ends.all() == std::vector<std::string>{"stopped"});
}

TEST_CASE("a request that is pipelined behind a long poll is answered after it") {
    Bench bench;
    auto server = server_of(bench, true);
    RawPeer peer((*server).port());
    peer.send(get("/wait"));
    REQUIRE(bench.waits.wait_for(1));
    peer.send(get("/nothing", "Connection: close\r\n"));
    bench.waits.all()[0]("first");
    const auto text = peer.read_all();
    CHECK(text.find("first") < text.find("HTTP/1.1 404"));
    CHECK(bench.closed.wait_for(1));
}

TEST_CASE("a stopping server ends its long polls at once and answers them") {
    Bench bench;
    auto server = server_of(bench, true);
    RawPeer peer((*server).port());
    RawPeer idle((*server).port());
    peer.send(get("/wait"));
    REQUIRE(bench.waits.wait_for(1));
    (*server).stop(base::seconds(600));
    CHECK(bench.ends.all() == std::vector<std::string>{"stopped"});
    CHECK(peer.read_all().ends_with("nothing"));
    CHECK(idle.read_all().empty());
}

TEST_CASE("a stopping server lets a running request finish, and takes no more") {
    Bench bench;
    auto server = server_of(bench, false);
    RawPeer peer((*server).port());
    peer.send(get("/wait"));
    REQUIRE(bench.waits.wait_for(1));
    std::jthread stopper([&] { (*server).stop(base::seconds(600)); });
    // The listening socket closes; until then a connection may still be taken and closed.
    const auto port = (*server).port();
    for (;;) {
        boost::asio::io_context context;
        boost::asio::ip::tcp::socket socket(context);
        boost::system::error_code error;
        socket.connect({boost::asio::ip::make_address("127.0.0.1"), port}, error);
        if (error) break;
    }
    CHECK(bench.ends.all().empty());
    bench.waits.all()[0]("finished");
    const auto text = peer.read_all();
    CHECK(text.ends_with("finished"));
    CHECK(text.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE("a request that outlasts the grace of a stopping server is cut") {
    Bench bench;
    auto server = server_of(bench, false);
    RawPeer peer((*server).port());
    peer.send(get("/wait"));
    REQUIRE(bench.waits.wait_for(1));
    (*server).stop(base::milliseconds(50));
    CHECK(bench.ends.all() == std::vector<std::string>{"stopped"});
    CHECK(peer.read_all().empty());
    CHECK((*server).connections() == 0);
}

TEST_CASE("completions from many threads each wake their own request") {
    Bench bench;
    auto server = server_of(bench, true);
    constexpr std::size_t peers = 40;
    std::vector<std::unique_ptr<RawPeer>> all;
    for (std::size_t i = 0; i < peers; ++i) {
        all.push_back(std::make_unique<RawPeer>((*server).port()));
        all.back()->send(get("/wait", "Connection: close\r\n"));
    }
    REQUIRE(bench.waits.wait_for(peers));
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (auto& completion : bench.waits.all())
                    completion("done");
            });
        }
    }
    for (auto& peer : all)
        CHECK(peer->read_all().ends_with("done"));
}
