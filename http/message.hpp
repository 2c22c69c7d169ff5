#pragma once

#include "base/result.hpp"
#include "http/body.hpp"
#include "http/headers.hpp"
#include "http/stop.hpp"
#include "http/target.hpp"

#include <any>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

// `delete` is a keyword.
// NOLINTNEXTLINE(readability-identifier-naming)
enum class Method : std::uint8_t { get, head, post, put, patch, delete_, options };

/// As it stands in the request line: "GET".
std::string_view name(Method method);
std::optional<Method> method_from_name(std::string_view name);

/// One accepted connection, unique in a server's life.
struct ConnectionId {
    std::uint64_t value = 0;
    auto operator<=>(const ConnectionId&) const = default;
};

/// One request as a handler sees it. Owns all of it.
struct Request {
    Method method = Method::get;
    /// As received: path and query, still encoded.
    std::string target;
    /// Decoded segments of the path: `/a/b%2Fc` is {"a", "b/c"}, `/` is {}.
    std::vector<std::string> path;
    Query query;
    Headers headers;
    /// Whole, for ordinary routes; empty for streaming routes.
    std::string body;
    /// The values of the pattern's `{name}`s.
    std::vector<std::pair<std::string, std::string>> parameters;
    std::string remote_address;
    ConnectionId connection;
    /// Long polls and streams: raised when the peer goes or the server stops. Other requests:
    /// raised when the server's grace has run out.
    StopSignal stop;
    /// What the router's guard found out about the caller.
    std::any principal;
    /// What the router's `Around` found out about the request.
    std::any intake;

    /// The value of `{name}` in the route's pattern, which must have it.
    [[nodiscard]] const std::string& parameter(std::string_view name) const;
};

/// What is answered. `content-length`, `transfer-encoding`, `connection` and `date` are set by the
/// server.
struct Response {
    int status = 200;
    Headers headers;
    std::string body;
    /// Instead of `body`.
    std::optional<BodyStream> stream;
};

/// `text` is a JSON document.
Response json_response(int status, std::string text);
Response text_response(
    int status, std::string text, std::string_view content_type = "text/plain; charset=utf-8"
);
/// 204.
Response empty_response();

std::string_view reason_phrase(int status);

}  // namespace http
