#include "http/seats.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"

#include <doctest/doctest.h>

#include <list>
#include <map>
#include <random>
#include <thread>
#include <vector>

using http::Seat;
using http::Seats;
using http_test::echo;
using http_test::get;
using http_test::RawPeer;
using http_test::TestServer;

namespace {

void routes(http::Router& router) {
    router.add(http::Method::get, "/", echo);
    router.add(http::Method::post, "/", echo);
}

bool served(RawPeer& peer) {
    peer.forget();
    peer.send(get("/"));
    return peer.read_until("GET /").starts_with("HTTP/1.1 200 ");
}

void await(const auto& holds) {
    while (!holds())
        std::this_thread::yield();
}

std::string post_head(std::size_t bytes) {
    return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
}

}  // namespace

TEST_CASE("a peer at its share gives up its own connection that waited longest, never another's") {
    std::mt19937 random(20261201);
    for (int round = 0; round < 200; ++round) {
        const Seats::Limits limits{1 + random() % 12, 1 + random() % 6};
        Seats seats(limits);
        std::map<std::string, std::vector<std::shared_ptr<Seat>>> open;
        std::size_t all = 0;
        for (std::uint64_t id = 1; id < 60; ++id) {
            const std::string peer(1, static_cast<char>('a' + random() % 4));
            auto& own = open[peer];
            if (!own.empty() && random() % 4 == 0) {
                const auto seat = own[random() % own.size()];
                if (random() % 2 == 0) {
                    Seats::begins_to_serve(*seat);
                } else {
                    seats.begins_to_wait(*seat);
                }
                continue;
            }
            const auto taken = seats.take(peer, id, 0);
            if (taken.closed) {
                auto& theirs = open[taken.closed->peer];
                const bool at_share = own.size() >= limits.peer_connections_max;
                CHECK((taken.closed->peer == peer) == at_share);
                CHECK(taken.closed->idle_since != 0);
                for (const auto& other : theirs)
                    CHECK((other->idle_since == 0 || other->idle_since >= taken.closed->idle_since)
                    );
                if (!at_share) CHECK(theirs.size() > own.size() + 1);
                std::erase(theirs, taken.closed);
                --all;
                seats.leave(taken.closed);
            }
            if (taken.seat) {
                own.push_back(taken.seat);
                ++all;
            } else {
                // Nothing of its own waits, or nobody has more than it would have.
                CHECK((own.size() >= limits.peer_connections_max || all >= limits.connections_max));
            }
            CHECK(own.size() <= limits.peer_connections_max);
            CHECK(all <= limits.connections_max);
            CHECK(seats.taken() == all);
        }
        for (const auto& [peer, held] : open)
            for (const auto& seat : held)
                seats.leave(seat);
        CHECK(seats.taken() == 0);
    }
}

TEST_CASE("one peer that opens connections up to the limit does not keep another from the server") {
    TestServer server(routes, {.limits = {.connections_max = 8, .peer_connections_max = 6}});
    std::list<RawPeer> silent;
    for (int i = 0; i < 40; ++i)
        silent.emplace_back((*server).port());
    RawPeer other((*server).port(), "127.0.0.2");
    CHECK(served(other));
    RawPeer same((*server).port());
    CHECK(served(same));
    // Both keep what they have, whatever the first peer opens further.
    for (int i = 0; i < 5; ++i)
        silent.emplace_back((*server).port());
    CHECK(served(other));
    RawPeer third((*server).port(), "127.0.0.3");
    CHECK(served(third));
    CHECK(served(other));
}

TEST_CASE("the /64 of an IPv6 address is one peer, and so is each IPv4 address") {
    CHECK(http::peer_of("2001:db8:1:2:3:4:5:6") == http::peer_of("2001:db8:1:2::1"));
    CHECK(http::peer_of("2001:db8:1:2::1") != http::peer_of("2001:db8:1:3::1"));
    CHECK(http::peer_of("::ffff:10.0.0.1") == http::peer_of("10.0.0.1"));
    CHECK(http::peer_of("10.0.0.1") != http::peer_of("10.0.0.2"));
}

TEST_CASE("all bodies together have a budget, and what was refused for it is taken later") {
    constexpr std::size_t bytes = std::size_t{700} << 10U;
    TestServer server(routes, {.limits = {.bodies_bytes_max = std::uint64_t{1} << 20U}});
    RawPeer slow((*server).port());
    slow.send(post_head(bytes) + std::string(bytes - 1, 'x'));
    await([&] { return (*server).bodies_bytes() == bytes - 1; });
    RawPeer second((*server).port());
    second.send(post_head(bytes) + std::string(bytes, 'y'));
    const auto refused = second.read_until("\r\n\r\n");
    CHECK(refused.starts_with("HTTP/1.1 503 "));
    CHECK(refused.contains("Retry-After: 1\r\n"));
    await([&] { return (*server).bodies_bytes() == bytes - 1; });
    slow.send("x");
    CHECK(slow.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
    await([&] { return (*server).bodies_bytes() == 0; });
    RawPeer again((*server).port());
    again.send(post_head(bytes) + std::string(bytes, 'y'));
    CHECK(again.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
}
