#include "base/clock.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>

using http_test::echo;
using http_test::get;
using http_test::RawPeer;
using http_test::TestServer;

namespace {

void routes(http::Router& router) {
    router.add(http::Method::get, "/", echo);
    router.add(http::Method::post, "/", echo);
    router.add(http::Method::get, "/much", [](http::Request) {
        return http_test::answer_text(std::string(std::size_t{64} << 20U, 'x'));
    });
}

TestServer server_with(http::ServerLimits limits) {
    return TestServer(routes, {.limits = limits});
}

}  // namespace

TEST_CASE("a header that does not end in time is 408, however it trickles") {
    auto server = server_with({.header_read = base::milliseconds(200)});
    RawPeer peer((*server).port());
    peer.send("GET / HTTP/1.1\r\n");
    while (!peer.readable_within_ms(10))
        peer.send("A: b\r\n");
    CHECK(peer.read_all().starts_with("HTTP/1.1 408 "));
}

TEST_CASE("a connection on which nothing comes is closed without a word") {
    auto server = server_with({.header_read = base::milliseconds(100)});
    RawPeer peer((*server).port());
    CHECK(peer.read_all().empty());
}

TEST_CASE("a kept-alive connection is closed when it has been idle for long") {
    auto server = server_with({.keep_alive_idle = base::milliseconds(100)});
    RawPeer peer((*server).port());
    peer.send(get("/"));
    const auto text = peer.read_all();
    CHECK(text.starts_with("HTTP/1.1 200 "));
    CHECK(text.find("HTTP/1.1", 8) == std::string::npos);
}

TEST_CASE("a body that trickles is 408 although it never stops") {
    auto server =
        server_with({.body_idle = base::milliseconds(300), .body_window_bytes_min = 1000});
    RawPeer peer((*server).port());
    peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    while (!peer.readable_within_ms(10))
        peer.send("x");
    CHECK(peer.read_until("\r\n\r\n").starts_with("HTTP/1.1 408 "));
}

TEST_CASE("a body that comes steadily may take longer than the limit for silence") {
    using Clock = std::chrono::steady_clock;
    auto server =
        server_with({.body_idle = base::milliseconds(400), .body_window_bytes_min = 1000});
    // A machine that stops this program for long makes the peer slow: then it tries again.
    bool steady = false;
    for (int attempt = 0; attempt < 50 && !steady; ++attempt) {
        RawPeer peer((*server).port());
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40000\r\n\r\n");
        const auto begun = Clock::now();
        auto last = begun;
        steady = true;
        for (int i = 0; i < 40; ++i) {
            peer.send(std::string(1000, 'x'));
            if (i < 39) peer.readable_within_ms(20);
            steady = steady && Clock::now() - last < std::chrono::milliseconds(100);
            last = Clock::now();
        }
        if (!steady) continue;
        CHECK(Clock::now() - begun > std::chrono::milliseconds(400));
        CHECK(peer.read_until("xxx").starts_with("HTTP/1.1 200 "));
    }
    CHECK(steady);
}

TEST_CASE("a peer that does not take its answer is cut") {
    auto server = server_with({.write_idle = base::milliseconds(200)});
    RawPeer peer((*server).port());
    peer.send(get("/much"));
    while (!peer.readable_within_ms(1000)) {
    }
    while ((*server).connections() > 0)
        peer.readable_within_ms(20);
    CHECK(peer.read_all().size() < std::size_t{64} << 20U);
}
