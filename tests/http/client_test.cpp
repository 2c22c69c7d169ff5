#include "http/client.hpp"

#include "http/await.hpp"
#include "http/url.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/waiting.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <doctest/doctest.h>

#include <thread>

using http_test::echo;
using http_test::Reports;
using http_test::TestServer;

namespace {

namespace asio = boost::asio;

http::Client client_of(http::ClientOptions options) {
    auto made = http::Client::make(std::move(options));
    REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
    return std::move(*made);
}

/// A listening socket that never says anything, or closed: a port where nobody is.
struct Listener {
    asio::io_context context;
    asio::ip::tcp::acceptor acceptor{context, {asio::ip::make_address("127.0.0.1"), 0}};
    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    }
};

http::Task<http::Response> connection_number(http::Request request) {
    co_return http::text_response(200, std::to_string(request.connection.value));
}

}  // namespace

TEST_CASE("a port where nobody listens is told with the URL and the next step") {
    std::string url;
    {
        const Listener listener;
        url = listener.url();
    }
    auto client = client_of({.url = url});
    const auto answer = client.send({.target = "/"});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == base::ErrorCode::upstream);
    CHECK(answer.error().message == "cannot reach " + url + ": Connection refused");
    CHECK(answer.error().next.find("netwright serve") != std::string::npos);
}

TEST_CASE("a host name that does not exist is told") {
    auto client = client_of({.url = "http://no-such-host.invalid:1"});
    const auto answer = client.send({.target = "/"});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == base::ErrorCode::upstream);
    CHECK(answer.error().message.starts_with("cannot reach http://no-such-host.invalid:1: "));
}

TEST_CASE("a silent server is given up after the idle time, and after the total time") {
    const Listener listener;
    auto client = client_of({.url = listener.url()});
    const auto idle = client.send({.target = "/", .idle = base::milliseconds(50)});
    REQUIRE_FALSE(idle);
    CHECK(idle.error().code == base::ErrorCode::timeout);
    const auto total = client.send({.target = "/", .total = base::milliseconds(50)});
    REQUIRE_FALSE(total);
    CHECK(total.error().code == base::ErrorCode::timeout);
}

TEST_CASE("requests share one connection, which is made anew when the server has closed it") {
    TestServer server(
        [](http::Router& router) { router.add(http::Method::post, "/", connection_number); },
        {.limits = {.keep_alive_idle = base::milliseconds(100)}}
    );
    auto client = server.client();
    const http::Call call{.method = http::Method::post, .target = "/", .body = "x"};
    CHECK(client.send(call)->body == "1");
    CHECK(client.send(call)->body == "1");
    while ((*server).connections() > 0)
        std::this_thread::yield();
    CHECK(client.send(call)->body == "2");
}

TEST_CASE("a call can be ended from another thread, and no later one begins") {
    Reports<http::Completion<int>> begun;
    TestServer server([&](http::Router& router) {
        router.add(
            http::Method::get,
            "/",
            [&](http::Request request) -> http::Task<http::Response> {
                co_await http::await_callback<int>(
                    {.at_most = base::seconds(600), .stop = request.stop},
                    [&](http::Completion<int> completion) { begun.add(std::move(completion)); }
                );
                co_return http::empty_response();
            },
            {.long_poll = true}
        );
    });
    auto client = server.client();
    std::jthread ender([&] {
        REQUIRE(begun.wait_for(1));
        client.interrupt();
    });
    const auto answer = client.send({.target = "/"});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == base::ErrorCode::cancelled);
    const auto later = client.send({.target = "/"});
    REQUIRE_FALSE(later);
    CHECK(later.error().code == base::ErrorCode::cancelled);
}

TEST_CASE("an answer beyond the client's limit is refused") {
    TestServer server([](http::Router& router) {
        router.add(http::Method::get, "/", [](http::Request) {
            return http_test::answer_text(std::string(10'000, 'x'));
        });
    });
    auto client = server.client({.body_bytes_max = 9'999});
    const auto answer = client.send({.target = "/"});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == base::ErrorCode::too_large);
}

TEST_CASE("the URL's path stands before every target") {
    TestServer server([](http::Router& router) {
        router.add(http::Method::get, "/below/{rest...}", echo);
    });
    auto client = client_of({.url = (*server).url() + "/below/"});
    CHECK(client.send({.target = "/a"})->body == "GET /below/a rest=a");
}

TEST_CASE("a call with a target or header that would break out of its line is refused") {
    auto client = client_of({.url = "http://127.0.0.1:1"});
    CHECK(client.send({.target = "/a b"}).error().code == base::ErrorCode::validation);
    CHECK(client.send({.target = "a"}).error().code == base::ErrorCode::validation);
    http::Call call{.target = "/"};
    call.headers.add("X", "a\r\nY: b");
    CHECK(client.send(std::move(call)).error().code == base::ErrorCode::validation);
}

TEST_CASE("a URL is read into its parts, and what is no server's URL is refused") {
    CHECK(http::parse_url("http://h").value() == http::Url{false, "h", 80, ""});
    CHECK(http::parse_url("https://h:8443/a/b/").value() == http::Url{true, "h", 8443, "/a/b"});
    CHECK(http::parse_url("http://[::1]:90").value() == http::Url{false, "::1", 90, ""});
    CHECK(http::text(http::Url{false, "::1", 90, "/x"}) == "http://[::1]:90/x");
    CHECK(http::text(http::Url{true, "h", 443, ""}) == "https://h");
    for (const std::string_view bad :
         {"",
          "h:1",
          "ftp://h",
          "http://",
          "http://:1",
          "http://h:",
          "http://h:0",
          "http://h:99999",
          "http://h:1x",
          "http://u:p@h",
          "http://u@h",
          "http://h/?q",
          "http://h#f",
          "http://[::1",
          "http://[::1]x",
          "http://a:1:2",
          "http://h /"}) {
        CAPTURE(bad);
        CHECK_FALSE(http::parse_url(bad));
    }
}
