#include "http/message.hpp"

#include <array>
#include <fmt/format.h>

namespace http {

namespace {

constexpr std::array<std::string_view, 7> method_names = {
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
};

}  // namespace

std::string_view name(Method method) {
    return method_names[static_cast<std::size_t>(method)];
}

std::optional<Method> method_from_name(std::string_view text) {
    for (std::size_t i = 0; i < method_names.size(); ++i) {
        if (method_names[i] == text) return static_cast<Method>(i);
    }
    return std::nullopt;
}

const std::string& Request::parameter(std::string_view wanted) const {
    for (const auto& [key, value] : parameters) {
        if (key == wanted) return value;
    }
    base::check(
        false, fmt::format("a handler asks for '{}', which its route does not have", wanted)
    );
    std::unreachable();
}

Response json_response(int status, std::string text) {
    return text_response(status, std::move(text), "application/json");
}

Response text_response(int status, std::string text, std::string_view content_type) {
    Response response{.status = status, .headers = {}, .body = std::move(text)};
    response.headers.add("Content-Type", content_type);
    return response;
}

Response empty_response() {
    return {.status = 204, .headers = {}, .body = {}};
}

std::string_view reason_phrase(int status) {
    switch (status) {
        case 100:
            return "Continue";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 416:
            return "Range Not Satisfiable";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Content";
        case 428:
            return "Precondition Required";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Other";
    }
}

}  // namespace http
