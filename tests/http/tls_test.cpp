#include "base/files.hpp"
#include "http/await.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"
#include "tests/http/waiting.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

using http_test::echo;
using http_test::Reports;
using http_test::TestServer;

namespace {

constexpr std::size_t much = std::size_t{16} << 20U;

/// A certificate that the openssl command made for `name`, which is its own authority.
struct Certificate {
    explicit Certificate(const std::string& name) {
        const std::string command =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            "-subj /CN=test -addext subjectAltName=" +
            name + " -keyout " + key().string() + " -out " + chain().string() + " 2>/dev/null";
        REQUIRE(std::system(command.c_str()) == 0);
    }
    [[nodiscard]] std::filesystem::path key() const { return folder.path() / "key.pem"; }
    [[nodiscard]] std::filesystem::path chain() const { return folder.path() / "chain.pem"; }
    base::TemporaryFolder folder;
};

http::Task<http::Response> size_of_body(http::Request request) {
    co_return http::text_response(200, std::to_string(request.body.size()));
}

struct Waiting {
    Reports<http::Completion<int>> begun;
    Reports<http::ConnectionId> closed;
};

http::Task<http::Response> wait_long(Waiting& waiting, http::Request request) {
    const auto value = co_await http::await_callback<int>(
        {.at_most = base::seconds(600), .stop = request.stop},
        [&](http::Completion<int> completion) { waiting.begun.add(std::move(completion)); }
    );
    co_return http::text_response(200, value ? "value" : "stopped");
}

TestServer server_of(const Certificate& certificate, Waiting& waiting) {
    return TestServer(
        [&](http::Router& router) {
            router.add(http::Method::get, "/", echo);
            router.add(http::Method::post, "/", size_of_body);
            router.add(http::Method::get, "/much", [](http::Request) {
                return http_test::answer_text(std::string(much, 'x'));
            });
            router.add(
                http::Method::get,
                "/wait",
                [&](http::Request request) { return wait_long(waiting, std::move(request)); },
                {.long_poll = true}
            );
        },
        {.tls = http::TlsFiles{certificate.chain(), certificate.key()},
         .connection_closed = [&](http::ConnectionId id) { waiting.closed.add(id); }}
    );
}

}  // namespace

TEST_CASE("requests and large bodies pass through TLS over one connection") {
    const Certificate certificate("IP:127.0.0.1");
    Waiting waiting;
    auto server = server_of(certificate, waiting);
    CHECK((*server).url().starts_with("https://127.0.0.1:"));
    auto client = server.client({.ca_file = certificate.chain()});
    for (int i = 0; i < 3; ++i) {
        const auto small = client.send({.target = "/"});
        REQUIRE_MESSAGE(small, (small ? "" : small.error().message));
        CHECK(small->body == "GET /");
    }
    CHECK(client.send({.target = "/much"})->body == std::string(much, 'x'));
    const http::Call post{
        .method = http::Method::post, .target = "/", .body = std::string(much, 'y')
    };
    CHECK(client.send(post)->body == std::to_string(much));
    CHECK((*server).connections() == 1);
}

TEST_CASE("a long poll over TLS is answered, and the going of its peer noticed") {
    const Certificate certificate("IP:127.0.0.1");
    Waiting waiting;
    auto server = server_of(certificate, waiting);
    {
        auto client = server.client({.ca_file = certificate.chain()});
        std::jthread completer([&] {
            REQUIRE(waiting.begun.wait_for(1));
            waiting.begun.all()[0](1);
            REQUIRE(waiting.begun.wait_for(2));
            client.interrupt();
        });
        CHECK(client.send({.target = "/wait"})->body == "value");
        CHECK_FALSE(client.send({.target = "/wait"}));
    }
    CHECK(waiting.closed.wait_for(1));
}

TEST_CASE("a certificate that is not trusted, or not for the host, is refused with a way out") {
    const Certificate other("DNS:elsewhere.example");
    Waiting waiting;
    auto server = server_of(other, waiting);
    const auto refusal = [&](std::optional<std::filesystem::path> ca_file) {
        auto client = server.client({.ca_file = std::move(ca_file)});
        const auto answer = client.send({.target = "/"});
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == base::ErrorCode::upstream);
        CHECK(answer.error().message.find("is not trusted") != std::string::npos);
        CHECK_FALSE(answer.error().next.empty());
    };
    refusal(std::nullopt);
    refusal(other.chain());
}

TEST_CASE("a plain request to a TLS port and a TLS request to a plain port fail cleanly") {
    const Certificate certificate("IP:127.0.0.1");
    Waiting waiting;
    auto server = server_of(certificate, waiting);
    http_test::RawPeer peer((*server).port());
    peer.send(http_test::get("/"));
    CHECK(peer.read_all().find("HTTP/1.1 200") == std::string::npos);

    TestServer plain([](http::Router& router) { router.add(http::Method::get, "/", echo); });
    auto client =
        http::Client::make({.url = "https://127.0.0.1:" + std::to_string((*plain).port())});
    REQUIRE(client);
    const auto answer = client->send({.target = "/"});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().next == "does the URL's port speak TLS?");
}

TEST_CASE("a TLS server without its files does not start") {
    http::Router router;
    const auto server =
        http::Server::start({.tls = http::TlsFiles{"/nowhere/a", "/nowhere/b"}}, router);
    REQUIRE_FALSE(server);
    CHECK(server.error().message.find("/nowhere/a") != std::string::npos);
}

TEST_CASE("a stopping server does not wait for a TLS peer that never says anything") {
    const Certificate certificate("IP:127.0.0.1");
    Waiting waiting;
    auto server = server_of(certificate, waiting);
    http_test::RawPeer silent((*server).port());
    while ((*server).connections() == 0)
        std::this_thread::yield();
    (*server).stop(base::seconds(600));
    CHECK((*server).connections() == 0);
}
