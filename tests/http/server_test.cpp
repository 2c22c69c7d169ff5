#include "http/server.hpp"

#include "base/json.hpp"
#include "http/status.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

using http_test::echo;
using http_test::get;
using http_test::RawPeer;
using http_test::TestServer;

namespace {

void echo_routes(http::Router& router) {
    router.add(http::Method::get, "/", echo);
    router.add(http::Method::get, "/api/models/{m}", echo);
    router.add(http::Method::post, "/api/models/{m}/nets/{n}", echo, {.body_bytes_max = 1000});
    router.add(http::Method::get, "/api/models/{m}/nets/{n}", echo);
    router.add(http::Method::get, "/files/{path...}", echo);
    router.add(http::Method::get, "/broken", [](http::Request) -> http::Task<http::Response> {
        throw std::runtime_error("the secret of the house");
        co_return http::Response{};
    });
}

http::Response sent(TestServer& server, http::Call call) {
    auto client = server.client();
    auto answer = client.send(std::move(call));
    REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
    return std::move(*answer);
}

}  // namespace

TEST_CASE("a request reaches its route with decoded parameters, query and body") {
    TestServer server(echo_routes);
    CHECK(sent(server, {.target = "/"}).body == "GET /");
    CHECK(
        sent(server, {.target = "/api/models/a%2Fb?x=1&x=2&y=%C3%A4+z"}).body ==
        "GET /api/models/a%2Fb?x=1&x=2&y=%C3%A4+z m=a/b ?x=1 ?x=2 ?y=\xc3\xa4 z"
    );
    CHECK(
        sent(server, {.method = http::Method::post, .target = "/api/models/m/nets/n", .body = "hi"})
            .body == "POST /api/models/m/nets/n m=m n=n body:hi"
    );
    CHECK(sent(server, {.target = "/files/a/b/c.js"}).body == "GET /files/a/b/c.js path=a/b/c.js");
}

TEST_CASE("an unknown path is 404, a known one with another method 405 with Allow") {
    TestServer server(echo_routes);
    CHECK(sent(server, {.target = "/nothing"}).status == 404);
    CHECK(sent(server, {.target = "/api/models//nets/n"}).status == 404);
    CHECK(sent(server, {.target = "/api/models/"}).status == 404);
    CHECK(sent(server, {.target = "/files"}).status == 404);
    const auto refused =
        sent(server, {.method = http::Method::delete_, .target = "/api/models/m/nets/n"});
    CHECK(refused.status == 405);
    CHECK(refused.headers.find("allow") == "GET, HEAD, POST, OPTIONS");
    const auto options =
        sent(server, {.method = http::Method::options, .target = "/api/models/m/nets/n"});
    CHECK(options.status == 204);
    CHECK(options.headers.find("allow") == "GET, HEAD, POST, OPTIONS");
}

TEST_CASE("HEAD has the headers of GET and no body, and the connection goes on") {
    TestServer server(echo_routes);
    RawPeer peer((*server).port());
    peer.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get("/", "Connection: close\r\n"));
    const auto text = peer.read_all();
    CHECK(text.find("Content-Length: 6\r\n") < text.find("\r\n\r\n"));
    CHECK(text.find("\r\n\r\nHTTP/1.1 200 OK\r\n") != std::string::npos);
    CHECK(text.ends_with("\r\n\r\nGET /"));
}

TEST_CASE("an exception of a handler is 500 and tells nothing") {
    TestServer server(echo_routes);
    const auto answer = sent(server, {.target = "/broken"});
    CHECK(answer.status == 500);
    CHECK(answer.body.find("secret") == std::string::npos);
    CHECK(base::parse_json(answer.body).value()["error"]["code"] == "internal");
}

TEST_CASE("pipelined requests are answered in order") {
    TestServer server(echo_routes);
    RawPeer peer((*server).port());
    std::string all;
    for (int i = 0; i < 50; ++i)
        all += get("/api/models/" + std::to_string(i));
    peer.send(all + get("/", "Connection: close\r\n"));
    const auto text = peer.read_all();
    std::size_t at = 0;
    for (int i = 0; i < 50; ++i) {
        at = text.find(" m=" + std::to_string(i), at);
        REQUIRE(at != std::string::npos);
    }
}

TEST_CASE("malformed requests are refused and the connection is closed") {
    TestServer server(echo_routes);
    const auto answer = [&](std::string_view request) {
        RawPeer peer((*server).port());
        peer.send(request);
        const auto text = peer.read_all();
        return text.substr(9, 3);
    };
    CHECK(answer("nonsense\r\n\r\n") == "400");
    CHECK(answer("GET / HTTP/2.7\r\nHost: x\r\n\r\n") == "505");
    CHECK(answer("BREW / HTTP/1.1\r\nHost: x\r\n\r\n") == "501");
    CHECK(answer("GET / HTTP/1.1\r\n\r\n") == "400");
    CHECK(answer("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n") == "400");
    CHECK(answer("GET / HTTP/1.1\r\nHost: x\r\nFolded: a\r\n b\r\n\r\n") == "400");
    CHECK(answer("GET / HTTP/1.1\r\nHost : x\r\n\r\n") == "400");
    CHECK(answer("GET / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n") == "417");
    for (const std::string_view target :
         {"/%", "/%4", "/%zz", "/a/../b", "/a/%2e%2e/b", "/%00", "/%ff", "/?a=%f", "*", "/a#b"}) {
        CAPTURE(target);
        CHECK(answer(get(target, "Connection: close\r\n")) == "400");
    }
}

TEST_CASE("a request that could be framed in two ways is refused") {
    TestServer server(echo_routes);
    const auto answer = [&](std::string_view fields, std::string_view body) {
        RawPeer peer((*server).port());
        peer.send("POST /api/models/m/nets/n HTTP/1.1\r\nHost: x\r\n");
        peer.send(std::string(fields) + "\r\n" + std::string(body));
        const auto text = peer.read_all();
        // Exactly one answer: what follows is not taken for a request.
        CHECK(text.find("HTTP/1.1", 8) == std::string::npos);
        return text.substr(9, 3);
    };
    const std::string chunks = "0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n";
    CHECK(answer("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunks) == "400");
    CHECK(answer("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", chunks) == "400");
    CHECK(answer("Content-Length: 5\r\nContent-Length: 6\r\n", chunks) == "400");
    CHECK(answer("Content-Length: 5\r\nContent-Length: 5\r\n", chunks) == "400");
    CHECK(answer("Content-Length: 5, 5\r\n", chunks) == "400");
    CHECK(answer("Content-Length: +5\r\n", chunks) == "400");
    CHECK(answer("Content-Length: 99999999999999999999\r\n", chunks) == "400");
    CHECK(answer("Transfer-Encoding: gzip, chunked\r\n", chunks) == "501");
    CHECK(answer("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks) == "400");
    CHECK(answer("Transfer-Encoding: xchunked\r\n", chunks) == "501");
    CHECK(answer("Transfer-Encoding: chunked\r\n", "5x\r\nhello\r\n0\r\n\r\n") == "400");
}

TEST_CASE("headers beyond the limits are 431, bodies beyond the route's limit 413") {
    TestServer server(echo_routes);
    const auto answer = [&](std::string_view request) {
        RawPeer peer((*server).port());
        peer.send(request);
        return peer.read_all().substr(9, 3);
    };
    CHECK(answer(get("/", "A: " + std::string(70'000, 'a') + "\r\n")) == "431");
    CHECK(answer("GET /" + std::string(1'000'000, 'a')) == "431");
    std::string many;
    for (int i = 0; i < 200; ++i)
        many += "A: b\r\n";
    CHECK(answer(get("/", many)) == "431");
    const std::string post =
        "POST /api/models/m/nets/n HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    CHECK(answer(post + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'x')) == "200");
    CHECK(answer(post + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x')) == "413");
    CHECK(
        answer(post + "Content-Length: 100000000\r\n\r\n" + std::string(3'000'000, 'x')) == "413"
    );
    std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 11; ++i)
        chunked += "64\r\n" + std::string(100, 'x') + "\r\n";
    CHECK(answer(chunked + "0\r\n\r\n") == "413");
}

TEST_CASE("a body that waits for 100-continue gets it when it is wanted, and not when it is refused"
) {
    TestServer server(echo_routes);
    const std::string post =
        "POST /api/models/m/nets/n HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n";
    {
        RawPeer peer((*server).port());
        peer.send(post + "Content-Length: 5\r\n\r\n");
        CHECK(peer.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
        peer.send("hello");
        CHECK(peer.read_until("body:hello").find("200 OK") != std::string::npos);
    }
    RawPeer peer((*server).port());
    peer.send(post + "Content-Length: 5000\r\n\r\n");
    CHECK(peer.read_all().starts_with("HTTP/1.1 413 "));
}

TEST_CASE("the guard is asked before the body is read") {
    TestServer server([](http::Router& router) {
        router.add(http::Method::post, "/secret", echo, {.scope = "admin"});
        router.set_guard(
            [](http::Request& request, const http::Route& route) -> base::Result<void> {
                CHECK(route.options.scope == "admin");
                if (request.headers.find("authorization") == "Bearer good") return {};
                return base::fail(base::ErrorCode::unauthenticated, "no token", "give one");
            }
        );
    });
    RawPeer peer((*server).port());
    peer.send("POST /secret HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    const auto text = peer.read_all();
    CHECK(text.starts_with("HTTP/1.1 401 "));
    CHECK(text.find("WWW-Authenticate: Bearer\r\n") != std::string::npos);
    auto client = server.client({.bearer_token = "good"});
    CHECK(
        client.send({.method = http::Method::post, .target = "/secret", .body = "x"})->status == 200
    );
}

TEST_CASE("an HTTP/1.0 request is answered and the connection closed") {
    TestServer server(echo_routes);
    RawPeer peer((*server).port());
    peer.send("GET / HTTP/1.0\r\n\r\n");
    const auto text = peer.read_all();
    CHECK(text.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(text.find("Server:") == std::string::npos);
    CHECK(text.find("Content-Type: text/plain") != std::string::npos);
}

TEST_CASE("connections beyond the limit are answered 503 and closed") {
    TestServer server(echo_routes, {.limits = {.connections_max = 2}});
    RawPeer first((*server).port());
    RawPeer second((*server).port());
    first.send(get("/"));
    second.send(get("/"));
    first.read_until("GET /");
    second.read_until("GET /");
    RawPeer third((*server).port());
    const auto text = third.read_all();
    CHECK(text.starts_with("HTTP/1.1 503 "));
    CHECK(text.find("Retry-After: 1\r\n") != std::string::npos);
}

TEST_CASE("a port that is in use is refused with a way out") {
    TestServer server(echo_routes);
    http::Router router;
    const auto second = http::Server::start({.port = (*server).port()}, router);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::ErrorCode::conflict);
    CHECK_FALSE(second.error().next.empty());
}
