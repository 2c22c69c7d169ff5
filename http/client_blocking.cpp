#include "http/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace http {

namespace {

namespace asio = boost::asio;

constexpr std::size_t refusal_bytes_max = std::size_t{1} << 20U;

bool good(int status) {
    return status >= 200 && status < 300;
}

/// The answer with its body, which is taken whole because it is not what was asked for.
Task<base::Result<Response>> refusal(Answer answer) {
    auto body = co_await answer.rest(refusal_bytes_max);
    if (!body) co_return base::fail(std::move(body.error()));
    co_return Response{
        .status = answer.status(), .headers = answer.headers(), .body = std::move(*body)
    };
}

using PieceSink = std::function<base::Result<void>(std::string_view)>;
using EventSink = std::function<bool(const Event&)>;

Task<base::Result<Response>> download_into(AsyncClient& client, Call call, const PieceSink& sink) {
    auto answer = co_await client.open(std::move(call));
    if (!answer) co_return base::fail(std::move(answer.error()));
    if (!good(answer->status())) co_return co_await refusal(std::move(*answer));
    for (;;) {
        auto piece = co_await answer->next();
        if (!piece) co_return base::fail(std::move(piece.error()));
        if (piece->empty())
            co_return Response{.status = answer->status(), .headers = answer->headers()};
        if (auto taken = sink(*piece); !taken) co_return base::fail(std::move(taken.error()));
    }
}

Task<base::Result<Response>> events_into(AsyncClient& client, Call call, const EventSink& sink) {
    auto answer = co_await client.open(std::move(call));
    if (!answer) co_return base::fail(std::move(answer.error()));
    if (!good(answer->status())) co_return co_await refusal(std::move(*answer));
    for (;;) {
        auto event = co_await answer->next_event();
        if (!event) co_return base::fail(std::move(event.error()));
        if (!*event || !sink(**event))
            co_return Response{.status = answer->status(), .headers = answer->headers()};
    }
}

}  // namespace

struct Client::Impl {
    asio::io_context context{1};
    std::optional<AsyncClient> client;

    /// Runs the call on this thread.
    base::Result<Response> run(Task<base::Result<Response>> call) {
        std::optional<base::Result<Response>> result;
        std::exception_ptr thrown;
        asio::co_spawn(
            context,
            std::move(call),
            [&](const std::exception_ptr& failure, base::Result<Response> response) {
                thrown = failure;
                result = std::move(response);
            }
        );
        context.restart();
        while (!result)
            context.run_one();
        if (thrown) std::rethrow_exception(thrown);
        return std::move(*result);
    }
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

base::Result<Client> Client::make(ClientOptions options) {
    auto impl = std::make_unique<Impl>();
    auto client = AsyncClient::make(impl->context.get_executor(), std::move(options));
    if (!client) return base::fail(std::move(client.error()));
    impl->client.emplace(std::move(*client));
    return Client(std::move(impl));
}

base::Result<Response> Client::send(Call call) {
    return impl_->run(impl_->client->send(std::move(call)));
}

base::Result<Response> Client::download(Call call, const PieceSink& sink) {
    return impl_->run(download_into(*impl_->client, std::move(call), sink));
}

base::Result<Response> Client::events(Call call, const EventSink& sink) {
    return impl_->run(events_into(*impl_->client, std::move(call), sink));
}

void Client::set_bearer_token(std::string token) {
    impl_->client->set_bearer_token(std::move(token));
}

void Client::interrupt() {
    asio::post(impl_->context, [client = &*impl_->client] { client->close(); });
}

std::string Client::url() const {
    return impl_->client->url();
}

}  // namespace http
