#include "http/client.hpp"

#include "base/log.hpp"
#include "http/client_connection.hpp"

#include <deque>
#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

using base::ErrorCode;

bool may_repeat(const Call& call) {
    if (call.upload) return false;
    switch (call.method) {
        case Method::get:
        case Method::head:
        case Method::put:
        case Method::delete_:
        case Method::options:
            return true;
        case Method::post:
        case Method::patch:
            return call.repeatable || call.headers.find("Idempotency-Key").has_value();
    }
    std::unreachable();
}

std::string head_of(const Call& call, const AsyncClient::Core& core) {
    std::string head;
    head.reserve(512);
    head.append(name(call.method)).append(" ");
    head.append(core.url.prefix).append(call.target).append(" HTTP/1.1\r\nHost: ");
    head.append(authority(core.url)).append("\r\n");
    if (!core.options.bearer_token.empty() && !call.headers.find("Authorization")) {
        head.append("Authorization: Bearer ").append(core.options.bearer_token).append("\r\n");
    }
    for (std::size_t i = 0; i < call.headers.size(); ++i) {
        const auto [field, value] = call.headers.at(i);
        head.append(field).append(": ").append(value).append("\r\n");
    }
    const bool has_body = call.method != Method::get && call.method != Method::head;
    if (call.upload && !call.upload->length) {
        head += "Transfer-Encoding: chunked\r\n";
    } else if (call.upload) {
        fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", *call.upload->length);
    } else if (has_body || !call.body.empty()) {
        fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", call.body.size());
    }
    head += "\r\n";
    return head;
}

base::Result<void> check_call(const Call& call, const AsyncClient::Core& core) {
    if (core.closed) return base::fail(ErrorCode::cancelled, "the client has been closed");
    const bool target =
        call.target.starts_with('/') && call.target.find_first_of(" \r\n\t") == std::string::npos;
    if (target && call.headers.valid()) return {};
    return base::fail(
        ErrorCode::validation,
        fmt::format("the call to '{}' has a malformed target or header", call.target),
        "encode the parts of the target with percent_encode"
    );
}

}  // namespace

struct Answer::Impl {
    std::shared_ptr<AsyncClient::Core> core;
    std::unique_ptr<ClientConnection> connection;
    CallLimits limits;
    Response head;
    std::optional<std::uint64_t> length;
    EventParser parser;
    std::deque<Event> events;
};

Answer::Answer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Answer::~Answer() = default;
Answer::Answer(Answer&&) noexcept = default;
Answer& Answer::operator=(Answer&&) noexcept = default;

int Answer::status() const {
    return impl_->head.status;
}
const Headers& Answer::headers() const {
    return impl_->head.headers;
}
std::optional<std::uint64_t> Answer::length() const {
    return impl_->length;
}

Task<base::Result<std::string>> Answer::next() {
    if (!impl_->connection) co_return std::string();
    auto piece = co_await impl_->connection->next_piece(impl_->limits);
    if (piece && piece->empty()) impl_->core->put_back(std::move(impl_->connection));
    co_return piece;
}

Task<base::Result<std::string>> Answer::rest(std::size_t bytes_max) {
    std::string all;
    for (;;) {
        auto piece = co_await next();
        if (!piece) co_return piece;
        if (piece->empty()) co_return all;
        if (piece->size() > bytes_max - all.size()) {
            impl_->connection.reset();
            co_return base::fail(
                ErrorCode::too_large, fmt::format("the answer has more than {} bytes", bytes_max)
            );
        }
        if (all.empty()) {
            all = std::move(*piece);
        } else {
            all += *piece;
        }
    }
}

Task<base::Result<std::optional<Event>>> Answer::next_event() {
    while (impl_->events.empty()) {
        auto piece = co_await next();
        if (!piece) co_return base::fail(std::move(piece.error()));
        if (piece->empty()) co_return std::nullopt;
        std::vector<Event> found;
        auto fed = impl_->parser.feed(*piece, found);
        if (!fed) co_return base::fail(std::move(fed.error()));
        for (auto& event : found)
            impl_->events.push_back(std::move(event));
    }
    Event event = std::move(impl_->events.front());
    impl_->events.pop_front();
    co_return event;
}

AsyncClient::AsyncClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}
AsyncClient::~AsyncClient() {
    if (!core_) return;
    core_->closed = true;
    core_->idle.clear();
}
AsyncClient::AsyncClient(AsyncClient&&) noexcept = default;
AsyncClient& AsyncClient::operator=(AsyncClient&&) noexcept = default;

base::Result<AsyncClient> AsyncClient::make(
    boost::asio::any_io_executor executor, ClientOptions options
) {
    auto url = parse_url(options.url);
    if (!url) return base::fail(std::move(url.error()));
    auto core = std::make_shared<Core>();
    core->executor = std::move(executor);
    core->options = std::move(options);
    core->url = std::move(*url);
    if (core->url.tls) {
        auto tls = TlsContext::client(core->options.ca_file);
        if (!tls) return base::fail(std::move(tls.error()));
        core->tls.emplace(std::move(*tls));
    }
    return AsyncClient(std::move(core));
}

void AsyncClient::set_bearer_token(std::string token) {
    core_->options.bearer_token = std::move(token);
}

std::string AsyncClient::url() const {
    return text(core_->url);
}

void AsyncClient::close() {
    core_->closed = true;
    core_->idle.clear();
    for (auto* connection : core_->living)
        connection->abort();
}

Task<base::Result<Answer>> AsyncClient::open(Call call) {
    // Kept for the case that this object ends while the call runs.
    const auto core = core_;
    if (auto good = check_call(call, *core); !good) co_return base::fail(std::move(good.error()));
    CallLimits limits{.end = {}, .idle = call.idle.value_or(core->options.idle)};
    if (call.total) {
        limits.end = std::chrono::steady_clock::now() + std::chrono::microseconds(call.total->us);
    }
    const auto head = head_of(call, *core);
    bool fresh = false;
    for (;;) {
        auto connection = fresh ? nullptr : core->take_idle();
        const bool reused = connection != nullptr;
        if (!reused) {
            connection = std::make_unique<ClientConnection>(*core);
            auto connected = co_await connection->connect();
            if (!connected) co_return base::fail(std::move(connected.error()));
        }
        auto answer = std::make_unique<Answer::Impl>();
        auto done = co_await connection->send(call, head, limits);
        if (done) {
            done = co_await connection->receive_head(
                answer->head, call.method == Method::head, limits
            );
        }
        if (done) {
            answer->core = core;
            answer->length = connection->content_length();
            answer->connection = std::move(connection);
            answer->limits = limits;
            co_return Answer(std::move(answer));
        }
        const bool stale =
            reused && !connection->answered() && done.error().code == ErrorCode::upstream;
        if (!stale || !may_repeat(call)) co_return base::fail(std::move(done.error()));
        fresh = true;
    }
}

Task<base::Result<Response>> AsyncClient::send(Call call) {
    const auto bytes_max = core_->options.body_bytes_max;
    auto answer = co_await open(std::move(call));
    if (!answer) co_return base::fail(std::move(answer.error()));
    auto body = co_await answer->rest(bytes_max);
    if (!body) co_return base::fail(std::move(body.error()));
    co_return Response{
        .status = answer->status(), .headers = answer->headers(), .body = std::move(*body)
    };
}

}  // namespace http
