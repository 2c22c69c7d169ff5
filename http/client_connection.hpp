#pragma once

#include "http/client.hpp"
#include "http/parser.hpp"
#include "http/transport.hpp"
#include "http/url.hpp"
#include "http/watchdog.hpp"
#include "http/wire.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace http {

class ClientConnection;

/// What the connections of one client share.
struct AsyncClient::Core {
    boost::asio::any_io_executor executor;
    ClientOptions options;
    Url url;
    std::optional<TlsContext> tls;
    /// All that exist, for `close`. Outlives `idle`.
    std::set<ClientConnection*> living;
    std::vector<std::unique_ptr<ClientConnection>> idle;
    bool closed = false;

    /// A kept-alive connection that still stands, if there is one.
    std::unique_ptr<ClientConnection> take_idle();
    void put_back(std::unique_ptr<ClientConnection> connection);
};

/// When a call must have ended, and how long it may be silent.
struct CallLimits {
    std::optional<std::chrono::steady_clock::time_point> end;
    base::Duration idle;

    /// From now to the nearer of both.
    [[nodiscard]] base::Duration next() const;
};

/// One connection of a client, made by `connect`, then used for one call at a time.
class ClientConnection {
public:
    explicit ClientConnection(AsyncClient::Core& core);
    ~ClientConnection();
    ClientConnection(const ClientConnection&) = delete;
    ClientConnection& operator=(const ClientConnection&) = delete;

    Task<base::Result<void>> connect();
    /// Sends the head and the body of `call`. An error when nothing of an answer can be expected.
    Task<base::Result<void>> send(const Call& call, std::string head, CallLimits limits);
    /// Skips answers of the kind 100.
    Task<base::Result<void>> receive_head(Response& response, bool bodiless, CallLimits limits);
    Task<base::Result<std::string>> next_piece(CallLimits limits);

    [[nodiscard]] bool reusable() const;
    /// Notes that it is idle from now on.
    void rest();
    /// Whether the peer has kept it, as far as can be known.
    [[nodiscard]] bool stands();
    /// Whether anything of the current answer has come.
    [[nodiscard]] bool answered() const { return answered_; }
    [[nodiscard]] std::optional<std::uint64_t> content_length() const;
    void abort();

private:
    Task<base::Result<void>> upload(const Upload& upload, std::string head, CallLimits limits);
    Task<base::Result<void>> write(Pieces pieces, CallLimits limits);
    base::Error failure(std::string_view doing, const boost::system::error_code& error) const;

    AsyncClient::Core& core_;
    boost::asio::ip::tcp::resolver resolver_;
    boost::asio::ip::tcp::socket connecting_;
    std::shared_ptr<Wire> wire_;
    Watchdog watchdog_;
    MessageParser parser_{MessageParser::Kind::response};
    std::chrono::steady_clock::time_point resting_since_;
    bool answered_ = false;
    bool broken_ = false;
    bool aborted_ = false;
};

}  // namespace http
