#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "http/body.hpp"
#include "http/events.hpp"
#include "http/message.hpp"
#include "http/task.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace http {

struct ClientOptions {
    /// `http://host:port` or `https://...`, perhaps with a path before every target.
    std::string url;
    /// Sent as `Authorization: Bearer`; empty = none.
    std::string bearer_token;
    /// Trusted instead of the system's authorities.
    std::optional<std::filesystem::path> ca_file;
    /// Name look-up, connection and TLS handshake together.
    base::Duration connect = base::seconds(10);
    /// The longest silence while an answer is waited for or a body moves. A long poll sets its own.
    base::Duration idle = base::seconds(60);
    std::size_t header_bytes_max = std::size_t{64} << 10U;
    /// Of an answer that is taken whole.
    std::size_t body_bytes_max = std::size_t{64} << 20U;
    std::size_t idle_connections_max = 8;
};

struct Upload {
    PieceProducer next;
    /// None: sent chunked.
    std::optional<std::uint64_t> length;
};

/// One request to make.
struct Call {
    Method method = Method::get;
    std::string target = "/";
    Headers headers;
    std::string body;
    /// Instead of `body`; such a call is never repeated.
    std::optional<Upload> upload;
    /// For the whole call; none = as long as something moves.
    std::optional<base::Duration> total;
    /// Instead of the client's.
    std::optional<base::Duration> idle;
    /// May be sent a second time when a kept-alive connection turns out to be dead and no byte of
    /// an answer has come. GET, HEAD, PUT, DELETE and calls with an Idempotency-Key are anyway.
    bool repeatable = false;
};

/// An answer whose body is still coming. When it ends before the body does, its connection is
/// closed.
class Answer {
public:
    struct Impl;
    explicit Answer(std::unique_ptr<Impl> impl);
    ~Answer();
    Answer(Answer&&) noexcept;
    Answer& operator=(Answer&&) noexcept;

    [[nodiscard]] int status() const;
    [[nodiscard]] const Headers& headers() const;
    [[nodiscard]] std::optional<std::uint64_t> length() const;
    /// The next bytes; empty = the end.
    Task<base::Result<std::string>> next();
    /// All that is left; too_large beyond `bytes_max`.
    Task<base::Result<std::string>> rest(std::size_t bytes_max);
    /// The next event of a stream of events; none = the stream has ended.
    Task<base::Result<std::optional<Event>>> next_event();

private:
    std::unique_ptr<Impl> impl_;
};

/// A client of one server for coroutines: keeps connections, one request at a time on each. Belongs
/// to the one thread of its executor. Errors are those of the way (upstream: not reachable or
/// broken off, timeout, too_large, cancelled); an answer of any status is an answer: see
/// `successful` in status.hpp.
class AsyncClient {
public:
    static base::Result<AsyncClient> make(
        boost::asio::any_io_executor executor, ClientOptions options
    );
    ~AsyncClient();
    AsyncClient(AsyncClient&&) noexcept;
    AsyncClient& operator=(AsyncClient&&) noexcept;

    /// The whole answer.
    Task<base::Result<Response>> send(Call call);
    /// The answer's head; the body follows.
    Task<base::Result<Answer>> open(Call call);
    void set_bearer_token(std::string token);
    /// Ends the calls in progress with `cancelled`, and all later ones.
    void close();
    [[nodiscard]] std::string url() const;

    struct Core;

private:
    explicit AsyncClient(std::shared_ptr<Core> core);
    /// Shared with the answers that are still being read.
    std::shared_ptr<Core> core_;
};

/// The same for a thread that may block: one call at a time.
class Client {
public:
    static base::Result<Client> make(ClientOptions options);
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    base::Result<Response> send(Call call);
    /// Gives the body of a good answer (2xx) to `sink` piece by piece; the Response returned has an
    /// empty body then. An error of `sink` ends the call and is returned.
    base::Result<Response> download(
        Call call, const std::function<base::Result<void>(std::string_view)>& sink
    );
    /// Gives the events of a good answer to `sink` until it says false or the stream ends.
    base::Result<Response> events(Call call, const std::function<bool(const Event&)>& sink);
    void set_bearer_token(std::string token);
    /// Ends the call in progress with `cancelled`, and all later ones. From any thread.
    void interrupt();
    [[nodiscard]] std::string url() const;

private:
    struct Impl;
    explicit Client(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace http
