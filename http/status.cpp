#include "http/status.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

using base::ErrorCode;
using base::Json;

ErrorCode code_of(int status) {
    switch (status) {
        case 401:
            return ErrorCode::unauthenticated;
        case 403:
            return ErrorCode::not_permitted;
        case 404:
            return ErrorCode::not_found;
        case 408:
            return ErrorCode::timeout;
        case 409:
            return ErrorCode::conflict;
        case 413:
        case 414:
        case 431:
            return ErrorCode::too_large;
        case 405:
        case 415:
        case 422:
            return ErrorCode::unsupported;
        case 429:
            return ErrorCode::rate_limited;
        case 502:
            return ErrorCode::upstream;
        case 503:
            return ErrorCode::overloaded;
        case 504:
            return ErrorCode::timeout;
        default:
            return status >= 500 ? ErrorCode::internal : ErrorCode::validation;
    }
}

std::string string_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return {};
    return found->get<std::string>();
}

std::optional<base::Error> error_from_json(const Json& document) {
    if (!document.is_object() || !document.contains("error")) return std::nullopt;
    const Json& body = document["error"];
    if (!body.is_object()) return std::nullopt;
    const auto code = base::error_code_from_name(string_at(body, "code"));
    if (!code) return std::nullopt;
    base::Error error{*code, string_at(body, "message"), string_at(body, "next"), {}};
    const auto details = body.find("details");
    if (details == body.end() || !details->is_array()) return error;
    for (const auto& detail : *details) {
        if (!detail.is_object()) return std::nullopt;
        error.details.push_back(
            {string_at(detail, "pointer"),
             base::error_code_from_name(string_at(detail, "code")).value_or(*code),
             string_at(detail, "message")}
        );
    }
    return error;
}

}  // namespace

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::validation:
            return 400;
        case ErrorCode::unauthenticated:
            return 401;
        case ErrorCode::not_permitted:
        case ErrorCode::policy_denied:
        case ErrorCode::budget:
            return 403;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::conflict:
        case ErrorCode::fenced:
        case ErrorCode::unprepared:
        case ErrorCode::rejected:
        case ErrorCode::blocked:
        case ErrorCode::uncertain:
        case ErrorCode::abandoned:
        case ErrorCode::cancelled:
            return 409;
        case ErrorCode::expired:
            return 410;
        case ErrorCode::too_large:
            return 413;
        case ErrorCode::unsupported:
        case ErrorCode::limit:
        case ErrorCode::unrouted:
            return 422;
        case ErrorCode::rate_limited:
            return 429;
        case ErrorCode::internal:
        case ErrorCode::tamper:
            return 500;
        case ErrorCode::exit_nonzero:
        case ErrorCode::bad_output:
        case ErrorCode::upstream:
        case ErrorCode::auth:
            return 502;
        case ErrorCode::overloaded:
        case ErrorCode::breaker_open:
        case ErrorCode::sandbox_unavailable:
            return 503;
        case ErrorCode::timeout:
            return 504;
    }
    std::unreachable();
}

std::string error_json(const base::Error& error) {
    Json body = {{"code", base::name(error.code)}, {"message", error.message}};
    if (!error.next.empty()) body["next"] = error.next;
    for (const auto& detail : error.details) {
        body["details"].push_back(
            {{"pointer", detail.pointer},
             {"code", base::name(detail.code)},
             {"message", detail.message}}
        );
    }
    // A message may quote bytes that came from outside: invalid UTF-8 is replaced, not thrown at.
    return Json{{"error", std::move(body)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response error_response(int status, const base::Error& error) {
    auto response = json_response(status, error_json(error));
    if (error.code == ErrorCode::unauthenticated) {
        response.headers.add("WWW-Authenticate", "Bearer");
    }
    if (error.code == ErrorCode::overloaded || error.code == ErrorCode::rate_limited ||
        error.code == ErrorCode::breaker_open) {
        response.headers.add("Retry-After", "1");
    }
    return response;
}

Response error_response(const base::Error& error) {
    if (error.code != ErrorCode::internal) return error_response(status_of(error.code), error);
    const auto reference = base::random_hex(6);
    base::log_error(fmt::format("internal error {}: {}", reference, error.message));
    return error_response(
        status_of(error.code),
        base::Error{
            ErrorCode::internal,
            "the server failed on this request",
            fmt::format("the server's log tells more under '{}'", reference),
            {}
        }
    );
}

base::Error error_from_answer(int status, std::string_view body) {
    if (const auto document = base::parse_json(body)) {
        if (auto error = error_from_json(*document)) return std::move(*error);
    }
    constexpr std::size_t shown_bytes_max = 200;
    return {
        code_of(status),
        fmt::format(
            "the server answered {} {}: {}",
            status,
            reason_phrase(status),
            body.substr(0, shown_bytes_max)
        ),
        "is this the URL of a Netwright master, or of something before it?",
        {}
    };
}

base::Result<Response> successful(base::Result<Response> answer) {
    if (!answer || answer->status < 400) return answer;
    return base::fail(error_from_answer(answer->status, answer->body));
}

}  // namespace http
