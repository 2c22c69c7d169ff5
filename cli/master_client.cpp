#include "cli/master_client.hpp"

#include "base/limits.hpp"
#include "base/random.hpp"
#include "http/status.hpp"
#include "http/target.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace cli {

namespace {

// The master answers a little after the wait that it was asked for.
constexpr auto idle_beyond_wait = base::seconds(30);

}  // namespace

Outcome<MasterClient> MasterClient::make(const std::string& url, const std::string& token) {
    http::ClientOptions options{.url = url, .bearer_token = token};
    if (const char* file = std::getenv("NETWRIGHT_CA_FILE"); file != nullptr && *file != '\0') {
        options.ca_file = file;
    }
    auto client = http::Client::make(std::move(options));
    if (!client) return wrong_usage(std::move(client.error()));
    return MasterClient(std::move(*client));
}

Outcome<std::string> MasterClient::send(http::Call call) {
    const bool once = call.upload.has_value();
    auto answer = client_.send(call);
    if (!answer && answer.error().code == base::ErrorCode::upstream && !once) {
        answer = client_.send(std::move(call));
    }
    if (!answer) {
        auto error = std::move(answer.error());
        if (error.next.empty()) {
            error.next = fmt::format("is the master at {} running? netwright serve", client_.url());
        }
        return std::unexpected(Failure{std::move(error), Exit::unreachable});
    }
    constexpr int server_errors = 500;
    constexpr int client_errors = 400;
    if (answer->status < client_errors) return std::move(answer->body);
    return std::unexpected(Failure{
        http::error_from_answer(answer->status, answer->body),
        answer->status < server_errors ? Exit::refused : Exit::unreachable
    });
}

Outcome<std::string> MasterClient::get(std::string target, base::Duration wait) {
    return send({.target = std::move(target), .idle = wait + idle_beyond_wait});
}

Outcome<std::string> MasterClient::post(std::string target, std::string body, base::Duration wait) {
    http::Call call{
        .method = http::Method::post,
        .target = std::move(target),
        .body = std::move(body),
        .idle = wait + idle_beyond_wait
    };
    call.headers.add("Idempotency-Key", base::random_hex(16));
    call.headers.add("Content-Type", "application/json");
    return send(std::move(call));
}

Outcome<std::string> MasterClient::remove(std::string target) {
    return send({.method = http::Method::delete_, .target = std::move(target)});
}

Outcome<base::Json> MasterClient::get_json(std::string target, base::Duration wait) {
    auto answer = get(std::move(target), wait);
    if (!answer) return std::unexpected(std::move(answer.error()));
    return parsed(*answer);
}

Outcome<std::string> MasterClient::upload(std::string target, http::Upload upload) {
    http::Call call{
        .method = http::Method::post, .target = std::move(target), .upload = std::move(upload)
    };
    call.headers.add("Content-Type", "application/octet-stream");
    return send(std::move(call));
}

Outcome<void> MasterClient::download(
    std::string target, const std::function<base::Result<void>(std::string_view)>& sink
) {
    auto answer = http::successful(client_.download({.target = std::move(target)}, sink));
    if (!answer) return failed(std::move(answer.error()));
    return {};
}

base::Result<http::Response> MasterClient::events(
    http::Call call, const std::function<bool(const http::Event&)>& sink
) {
    return http::successful(client_.events(std::move(call), sink));
}

Outcome<base::Json> parsed(std::string_view answer) {
    auto json = base::parse_json(answer, base::limits::stored);
    if (json) return std::move(*json);
    auto error = std::move(json.error());
    error.message = "the master's answer is no JSON: " + error.message;
    return std::unexpected(Failure{std::move(error), Exit::unreachable});
}

std::string model_target(
    const std::string& model, std::initializer_list<std::string_view> segments
) {
    auto target = "/api/models/" + http::percent_encode(model);
    for (const auto segment : segments)
        target += "/" + http::percent_encode(segment);
    return target;
}

QueryText& QueryText::add(std::string_view name, std::string_view value) {
    text_ += text_.empty() ? '?' : '&';
    text_ += fmt::format("{}={}", http::percent_encode(name), http::percent_encode(value));
    return *this;
}

QueryText& QueryText::add_given(std::string_view name, std::string_view value) {
    return value.empty() ? *this : add(name, value);
}

}  // namespace cli
