#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "http/router.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace http {

struct ServerLimits {
    /// Request line and header fields together; more is 431.
    std::size_t header_bytes_max = std::size_t{64} << 10U;
    /// From the first byte of a request (or the connection's start) to the end of its header: 408.
    base::Duration header_read = base::seconds(10);
    /// In each such time that is spent waiting for a body, `body_window_bytes_min` or its end must
    /// come, else 408.
    base::Duration body_idle = base::seconds(30);
    std::size_t body_window_bytes_min = std::size_t{16} << 10U;
    /// Between two requests.
    base::Duration keep_alive_idle = base::seconds(75);
    /// In each such time a peer must take something of an answer.
    base::Duration write_idle = base::seconds(30);
    /// How long a connection that must close is read from and thrown away, so that the peer can
    /// read the answer.
    base::Duration linger = base::seconds(2);
    /// More connections are answered 503 (TLS: closed). Each takes a descriptor.
    std::size_t connections_max = 10'000;
    /// Of one peer (see http/seats.hpp).
    std::size_t peer_connections_max = 5'000;
    /// Bodies held in memory at one time, of all requests together; more is 503. Streamed bodies do
    /// not count.
    std::uint64_t bodies_bytes_max = std::uint64_t{128} << 20U;
};

struct TlsFiles {
    std::filesystem::path certificate_chain;
    std::filesystem::path private_key;
};

/// One answered request, for metrics.
struct Served {
    Method method = Method::get;
    /// None: no route took it.
    const Route* route = nullptr;
    int status = 0;
    base::Duration took;
};

struct ServerOptions {
    /// An address, or a name that has one.
    std::string host = "127.0.0.1";
    /// 0 = any that is free.
    std::uint16_t port = 0;
    std::optional<TlsFiles> tls;
    std::size_t io_threads = 2;
    ServerLimits limits;
    /// Called once for each connection that has ended, on one of the server's threads: at once when
    /// the peer goes during a long poll or a stream. Must be quick.
    std::function<void(ConnectionId)> connection_closed;
    /// Called after each answer, on one of the server's threads. Must be quick.
    std::function<void(const Served&)> served;
};

/// A listening HTTP/1.1 server with threads of its own. A connection stays on one thread; its
/// handlers run there and must not block.
class Server {
public:
    /// `router` must outlive the server.
    static base::Result<std::unique_ptr<Server>> start(ServerOptions options, const Router& router);
    /// Stops with a grace of nothing, if `stop` was not called.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    /// "http://127.0.0.1:8080".
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::size_t connections() const;
    /// Of bodies that are held in memory now.
    [[nodiscard]] std::uint64_t bodies_bytes() const;

    /// Accepts no more, ends long polls and streams at once through their stop signal, lets running
    /// requests finish for `grace`, then cuts them. Returns when every handler has ended. Not to be
    /// called from a handler.
    void stop(base::Duration grace);

private:
    struct Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace http
