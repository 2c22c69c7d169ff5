#include "executor/http_transport.hpp"

#include "base/json.hpp"
#include "http/status.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace executor {

namespace {

constexpr std::size_t content_part_bytes = std::size_t{4} << 20U;
constexpr base::Duration call_idle_max = base::seconds(30);
constexpr std::int64_t retry_after_s_max = 3600;

std::optional<base::Duration> retry_after(const http::Response& response) {
    const auto text = response.headers.find("retry-after");
    if (!text) return std::nullopt;
    std::int64_t seconds = 0;
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (failed != std::errc{} || end != text->data() + text->size() || seconds < 0) {
        return std::nullopt;
    }
    return base::seconds(std::min(seconds, retry_after_s_max));
}

base::Result<base::Json> json_answer(base::Result<http::Response> answer) {
    answer = http::successful(std::move(answer));
    if (!answer) return base::fail(answer.error());
    return base::parse_json(answer->body, {jobs::sync_body_bytes_max, 128});
}

class HttpConnection final : public Connection {
public:
    HttpConnection(http::Client client, std::string executor, Access& access)
        : client_(std::move(client)), executor_(std::move(executor)), access_(access) {}

    std::expected<jobs::SyncReply, SyncFailure> sync(
        const jobs::SyncRequest& request, base::Duration timeout
    ) override {
        http::Call call;
        call.method = http::Method::post;
        call.target = jobs::routes::sync_path(executor_);
        call.headers = {{"content-type", "application/json"}};
        call.body = base::canonical(jobs::to_json(request));
        call.total = timeout;
        call.idle = timeout;
        auto answer = send(std::move(call));
        const auto later = answer ? retry_after(*answer) : std::nullopt;
        const auto json = json_answer(std::move(answer));
        if (!json) return std::unexpected(SyncFailure{json.error(), later});
        auto reply = jobs::sync_reply_from_json(*json);
        if (!reply) return std::unexpected(SyncFailure{reply.error(), {}});
        return std::move(*reply);
    }

    base::Result<std::uint64_t> upload(
        const jobs::routes::OutputChunk& chunk,
        std::string_view bytes,
        const std::optional<UploadEnd>& end
    ) override {
        http::Call call;
        call.method = http::Method::post;
        call.target = end ? jobs::routes::last_output_path(executor_, chunk, end->sha256, end->size)
                          : jobs::routes::output_path(executor_, chunk);
        call.headers = {{"content-type", "application/octet-stream"}};
        call.body = bytes;
        call.idle = call_idle_max;
        call.repeatable = true;
        const auto json = json_answer(send(std::move(call)));
        if (!json) return base::fail(json.error());
        const auto size = json->is_object() ? json->find("size") : json->end();
        if (size == json->end() || !size->is_number_integer()) {
            return base::fail(base::ErrorCode::upstream, "the answer to a chunk has no size");
        }
        return size->get<std::uint64_t>();
    }

    base::Result<std::string> fetch(
        const jobs::LeaseRef& lease, const base::Digest& sha256, std::size_t bytes_max
    ) override {
        std::string content;
        for (;;) {
            http::Call call;
            call.target = jobs::routes::content_path(executor_, lease, sha256);
            const auto range =
                fmt::format("bytes={}-{}", content.size(), content.size() + content_part_bytes - 1);
            call.headers = {{"range", range}};
            call.idle = call_idle_max;
            auto answer = http::successful(send(std::move(call)));
            if (!answer) return base::fail(answer.error());
            if (answer->status != 206) return std::move(answer->body);
            content += answer->body;
            if (content.size() > bytes_max) {
                return base::fail(
                    base::ErrorCode::too_large, fmt::format("content of over {} bytes", bytes_max)
                );
            }
            // `bytes A-B/TOTAL`
            const auto field = answer->headers.find("content-range").value_or("");
            const auto total = field.substr(std::min(field.size(), field.rfind('/') + 1));
            if (total == std::to_string(content.size())) return content;
            if (answer->body.empty()) {
                return base::fail(base::ErrorCode::upstream, "an empty part of the content");
            }
        }
    }

    void interrupt() override {
        client_.interrupt();
        access_.interrupt();
    }

private:
    // With a fresh access token where there is none yet, or where it has expired.
    base::Result<http::Response> send(http::Call call) {
        constexpr int unauthenticated = 401;
        if (token_.empty()) {
            if (auto renewed = renew(); !renewed) return base::fail(renewed.error());
        }
        auto answer = client_.send(call);
        if (!answer || answer->status != unauthenticated) return answer;
        if (auto renewed = renew(); !renewed) return base::fail(renewed.error());
        return client_.send(std::move(call));
    }

    base::Result<void> renew() {
        auto token = access_.token(token_);
        if (!token) return base::fail(token.error());
        token_ = std::move(*token);
        client_.set_bearer_token(token_);
        return {};
    }

    http::Client client_;
    std::string executor_;
    Access& access_;
    std::string token_;
};

}  // namespace

base::Result<std::unique_ptr<Connection>> HttpTransport::connect() {
    auto client = http::Client::make(options_);
    if (!client) return base::fail(client.error());
    return std::make_unique<HttpConnection>(std::move(*client), executor_, access_);
}

}  // namespace executor
