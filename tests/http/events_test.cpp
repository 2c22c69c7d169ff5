#include "http/events.hpp"

#include "http/await.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"
#include "tests/http/waiting.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

using http_test::RawPeer;
using http_test::Reports;
using http_test::TestServer;

namespace {

/// Where a test puts events for the one stream that waits for them.
struct Feed {
    Reports<int> waits;
    Reports<int> stops;
    base::Guarded<std::optional<http::Completion<http::EventBatch>>> waiting;

    void give(http::EventBatch batch) {
        waiting.with([&](auto& completion) { (*std::exchange(completion, std::nullopt))(batch); });
    }
};

http::Task<http::EventBatch> next_of(Feed& feed, http::StopSignal stop, base::Duration at_most) {
    auto batch = co_await http::await_callback<http::EventBatch>(
        {.at_most = at_most, .stop = stop},
        [&](http::Completion<http::EventBatch> completion) {
            feed.waiting.with([&](auto& waiting) { waiting = std::move(completion); });
            feed.waits.add(0);
        }
    );
    if (stop.stopped()) feed.stops.add(0);
    co_return batch.value_or(http::EventBatch{});
}

http::Task<http::Response> follow(Feed& feed, base::Duration heartbeat, http::Request request) {
    co_return http::event_stream(
        [&feed, stop = request.stop](base::Duration at_most) {
            return next_of(feed, stop, at_most);
        },
        heartbeat
    );
}

TestServer server_of(Feed& feed, base::Duration heartbeat) {
    return TestServer([&](http::Router& router) {
        router.add(http::Method::get, "/events", [&feed, heartbeat](http::Request request) {
            return follow(feed, heartbeat, std::move(request));
        });
    });
}

}  // namespace

TEST_CASE("events arrive one by one while the stream stays open, and its end is the client's end") {
    Feed feed;
    auto server = server_of(feed, base::seconds(15));
    auto client = server.client();
    std::vector<http::Event> seen;
    std::jthread giver([&] {
        REQUIRE(feed.waits.wait_for(1));
        feed.give({{{"1", "token", "{\"a\":1}"}}});
        REQUIRE(feed.waits.wait_for(2));
        feed.give({{{"2", "", "two\nlines"}, {"3", "x", ""}}, true});
    });
    const auto answer = client.events({.target = "/events"}, [&](const http::Event& event) {
        seen.push_back(event);
        return true;
    });
    REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
    CHECK(answer->headers.find("content-type") == "text/event-stream");
    CHECK(
        seen ==
        std::vector<http::Event>{
            {"1", "token", "{\"a\":1}"}, {"2", "", "two\nlines"}, {"3", "x", ""}
        }
    );
}

TEST_CASE("a stream without events sends comments, so that both sides know that the other is there"
) {
    Feed feed;
    auto server = server_of(feed, base::milliseconds(50));
    RawPeer peer((*server).port());
    peer.send(http_test::get("/events"));
    CHECK(peer.read_until("3\r\n:\n\n\r\n3\r\n:\n\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("the source of a stream is told at once when its reader goes") {
    Feed feed;
    auto server = server_of(feed, base::seconds(15));
    {
        RawPeer peer((*server).port());
        peer.send(http_test::get("/events"));
        REQUIRE(feed.waits.wait_for(1));
    }
    CHECK(feed.stops.wait_for(1));
}

TEST_CASE("a stopping server ends its streams at once") {
    Feed feed;
    auto server = server_of(feed, base::seconds(15));
    RawPeer peer((*server).port());
    peer.send(http_test::get("/events"));
    REQUIRE(feed.waits.wait_for(1));
    (*server).stop(base::seconds(60));
    CHECK(peer.read_all().ends_with("0\r\n\r\n"));
}

TEST_CASE("a stream of events reads the same wherever it is cut") {
    const std::string stream =
        ":comment\r\nid: 7\nevent:a\ndata: x\ndata:y\r\rdata\n\ndata: z\nother: no\n\nevent: "
        "none\n\n";
    const std::vector<http::Event> expected = {{"7", "a", "x\ny"}, {"7", "", ""}, {"7", "", "z"}};
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        CAPTURE(cut);
        http::EventParser parser;
        std::vector<http::Event> events;
        CHECK(parser.feed(std::string_view(stream).substr(0, cut), events));
        CHECK(parser.feed(std::string_view(stream).substr(cut), events));
        CHECK(events == expected);
    }
}

TEST_CASE("a written event reads back, and its id and name cannot break out of their lines") {
    std::string text;
    http::append_event(text, {"1\ndata: evil", "a\r\n\r\n", "b\n\nc\n"});
    http::EventParser parser;
    std::vector<http::Event> events;
    CHECK(parser.feed(text, events));
    CHECK(events == std::vector<http::Event>{{"1data: evil", "a", "b\n\nc\n"}});
}

TEST_CASE("an event without end is refused at its limit") {
    http::EventParser parser;
    std::vector<http::Event> events;
    const std::string piece = "data: " + std::string(1 << 20U, 'x') + "\n";
    base::Result<void> fed;
    for (int i = 0; i < 40 && fed; ++i)
        fed = parser.feed(piece, events);
    REQUIRE_FALSE(fed);
    CHECK(fed.error().code == base::ErrorCode::too_large);
}
