#pragma once

#include "http/client.hpp"
#include "http/server.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace http_test {

inline http::Task<http::Response> answer_text(std::string text) {
    co_return http::text_response(200, std::move(text));
}

/// A server with the routes that `build` adds.
class TestServer {
public:
    template <class Build>
    explicit TestServer(Build build, http::ServerOptions options = {}) {
        build(router_);
        auto started = http::Server::start(std::move(options), router_);
        REQUIRE_MESSAGE(started, (started ? "" : started.error().message));
        server_ = std::move(*started);
    }
    http::Server& operator*() { return *server_; }
    http::Server* operator->() { return server_.get(); }
    [[nodiscard]] http::Client client(http::ClientOptions options = {}) const {
        options.url = server_->url();
        auto made = http::Client::make(std::move(options));
        REQUIRE(made);
        return std::move(*made);
    }

private:
    http::Router router_;
    std::unique_ptr<http::Server> server_;
};

/// Parts of a request as text, for comparing.
inline http::Task<http::Response> echo(http::Request request) {
    std::string text = std::string(http::name(request.method)) + " " + request.target;
    for (const auto& [name, value] : request.parameters)
        text.append(" ").append(name).append("=").append(value);
    for (const auto& [name, value] : request.query.items())
        text.append(" ?").append(name).append("=").append(value);
    if (!request.body.empty()) text.append(" body:").append(request.body);
    co_return http::text_response(200, std::move(text));
}

}  // namespace http_test
