#include "http/client_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::ErrorCode;

/// Below the time after which servers usually close an idle connection, so that a request does not
/// meet the close on its way.
constexpr auto resting_max = std::chrono::seconds(50);

}  // namespace

base::Duration CallLimits::next() const {
    if (!end) return idle;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        *end - std::chrono::steady_clock::now()
    );
    return {std::clamp<std::int64_t>(left.count(), 0, idle.us)};
}

std::unique_ptr<ClientConnection> AsyncClient::Core::take_idle() {
    while (!idle.empty()) {
        auto connection = std::move(idle.back());
        idle.pop_back();
        if (connection->stands()) return connection;
    }
    return nullptr;
}

void AsyncClient::Core::put_back(std::unique_ptr<ClientConnection> connection) {
    if (closed || !connection->reusable()) return;
    if (idle.size() >= options.idle_connections_max) return;
    connection->rest();
    idle.push_back(std::move(connection));
}

ClientConnection::ClientConnection(AsyncClient::Core& core)
    : core_(core),
      resolver_(core.executor),
      connecting_(core.executor),
      watchdog_(core.executor, [this] {
          resolver_.cancel();
          boost::system::error_code ignored;
          connecting_.close(ignored);
          if (wire_) wire_->transport().close();
      }) {
    core_.living.insert(this);
}

ClientConnection::~ClientConnection() {
    core_.living.erase(this);
    // A read that is under way keeps the wire; its socket must not outlive this object.
    if (wire_) wire_->transport().close();
}

void ClientConnection::abort() {
    aborted_ = true;
    resolver_.cancel();
    boost::system::error_code ignored;
    connecting_.close(ignored);
    if (wire_) wire_->transport().close();
}

bool ClientConnection::reusable() const {
    return wire_ && !broken_ && !aborted_ && parser_.done() && parser_.keep_alive() &&
           wire_->unread().empty() && !wire_->reading();
}

void ClientConnection::rest() {
    resting_since_ = std::chrono::steady_clock::now();
}

bool ClientConnection::stands() {
    return std::chrono::steady_clock::now() - resting_since_ < resting_max &&
           wire_->transport().quiet();
}

std::optional<std::uint64_t> ClientConnection::content_length() const {
    return parser_.content_length();
}

base::Error ClientConnection::failure(
    std::string_view doing, const boost::system::error_code& error
) const {
    const auto where = text(core_.url);
    if (aborted_)
        return {ErrorCode::cancelled, fmt::format("the call to {} was ended", where), {}, {}};
    if (watchdog_.expired()) {
        return {
            ErrorCode::timeout,
            fmt::format("{} took too long while {}", where, doing),
            "is the server overloaded, or something between silent? Try again",
            {}
        };
    }
    return {
        ErrorCode::upstream,
        fmt::format("the connection to {} broke while {}: {}", where, doing, error.message()),
        "whether the request was carried out is not known: look before you send it again",
        {}
    };
}

Task<base::Result<void>> ClientConnection::connect() {
    const auto& url = core_.url;
    const auto refuse = [&](std::string why) {
        return base::fail(
            ErrorCode::upstream,
            fmt::format("cannot reach {}: {}", text(url), why),
            "is 'netwright serve' running there, and is the URL right?"
        );
    };
    watchdog_.expire_in(core_.options.connect);
    std::vector<tcp::endpoint> endpoints;
    boost::system::error_code error;
    if (const auto address = asio::ip::make_address(url.host, error); !error) {
        endpoints.emplace_back(address, url.port);
    } else {
        const auto [failed, found] = co_await resolver_.async_resolve(
            url.host, std::to_string(url.port), asio::as_tuple(asio::use_awaitable)
        );
        error = failed;
        for (const auto& entry : found)
            endpoints.push_back(entry.endpoint());
    }
    if (!endpoints.empty() && !watchdog_.expired() && !aborted_) {
        std::tie(error, std::ignore) = co_await asio::async_connect(
            connecting_, endpoints, asio::as_tuple(asio::use_awaitable)
        );
    }
    if (aborted_) co_return base::fail(failure("connecting", error));
    if (watchdog_.expired()) {
        co_return refuse(fmt::format("no answer within {}", base::text(core_.options.connect)));
    }
    if (error) co_return refuse(error.message());
    close_on_exec(connecting_.native_handle());
    wire_ = std::make_shared<Wire>(
        core_.tls ? core_.tls->connected(std::move(connecting_), url.host)
                  : plain_transport(std::move(connecting_)),
        core_.options.header_bytes_max
    );
    auto greeted = co_await wire_->transport().handshake();
    if (aborted_) co_return base::fail(failure("connecting", error));
    if (watchdog_.expired()) {
        co_return refuse(fmt::format("no answer within {}", base::text(core_.options.connect)));
    }
    watchdog_.disarm();
    co_return greeted;
}

Task<base::Result<void>> ClientConnection::write(Pieces pieces, CallLimits limits) {
    const auto error = co_await wire_->write(pieces, watchdog_, limits.next());
    if (!error) co_return base::Result<void>();
    broken_ = true;
    co_return base::fail(failure("sending the request", error));
}

Task<base::Result<void>> ClientConnection::send(
    const Call& call, std::string head, CallLimits limits
) {
    answered_ = false;
    if (call.upload) co_return co_await upload(*call.upload, std::move(head), limits);
    co_return co_await write({head, call.body, ""}, limits);
}

Task<base::Result<void>> ClientConnection::upload(
    const Upload& upload, std::string head, CallLimits limits
) {
    if (auto sent = co_await write({head, "", ""}, limits); !sent) co_return sent;
    // A server that refuses answers before it has read everything.
    wire_->read_ahead({});
    std::uint64_t sent_bytes = 0;
    for (;;) {
        auto piece = co_await upload.next();
        if (!piece) {
            broken_ = true;
            co_return base::fail(std::move(piece.error()));
        }
        sent_bytes += piece->size();
        const bool wrong = upload.length && (sent_bytes > *upload.length ||
                                             (piece->empty() && sent_bytes != *upload.length));
        if (wrong) {
            broken_ = true;
            co_return base::fail(
                ErrorCode::internal,
                fmt::format("an upload of {} bytes was announced as {}", sent_bytes, *upload.length)
            );
        }
        if (!wire_->reading()) break;
        const auto size = upload.length ? std::string() : fmt::format("{:x}\r\n", piece->size());
        const std::string_view end = upload.length ? "" : "\r\n";
        if (auto sent = co_await write({size, *piece, end}, limits); !sent) {
            // The server may have answered and closed: the answer says why.
            if (sent.error().code == ErrorCode::upstream) break;
            co_return sent;
        }
        if (piece->empty()) co_return base::Result<void>();
    }
    broken_ = true;
    co_return base::Result<void>();
}

Task<base::Result<void>> ClientConnection::receive_head(
    Response& response, bool bodiless, CallLimits limits
) {
    std::size_t searched = 0;
    parser_.reset(bodiless);
    for (;;) {
        const auto bytes = header_block_bytes(wire_->unread(), searched);
        if (!wire_->unread().empty()) answered_ = true;
        if (bytes) {
            response = {};
            auto fault = parser_.parse_header(wire_->unread().substr(0, *bytes), response);
            wire_->use(*bytes);
            if (fault) {
                broken_ = true;
                fault->error.code = ErrorCode::upstream;
                fault->error.message = fmt::format(
                    "{} does not speak HTTP: {}", text(core_.url), fault->error.message
                );
                co_return base::fail(std::move(fault->error));
            }
            if (response.status >= 200) co_return base::Result<void>();
            searched = 0;
            parser_.reset(bodiless);
            continue;
        }
        watchdog_.expire_in(limits.next());
        const auto error = co_await wire_->fill();
        if (error || watchdog_.expired()) {
            broken_ = true;
            auto failed = failure("waiting for the answer", error);
            watchdog_.disarm();
            co_return base::fail(std::move(failed));
        }
        watchdog_.disarm();
    }
}

Task<base::Result<std::string>> ClientConnection::next_piece(CallLimits limits) {
    std::string piece;
    for (;;) {
        if (parser_.done()) co_return piece;
        const auto step = parser_.parse_body(wire_->unread(), piece);
        wire_->use(step.used);
        if (step.fault) {
            broken_ = true;
            co_return base::fail(step.fault->error);
        }
        if (!piece.empty()) co_return piece;
        if (parser_.done() || (step.used > 0 && !wire_->unread().empty())) continue;
        wire_->expect_much();
        watchdog_.expire_in(limits.next());
        const auto error = co_await wire_->fill();
        if (error == asio::error::eof && !parser_.end_of_stream()) {
            broken_ = true;
            watchdog_.disarm();
            co_return piece;
        }
        if (error || watchdog_.expired()) {
            broken_ = true;
            auto failed = failure("reading the answer", error);
            watchdog_.disarm();
            co_return base::fail(std::move(failed));
        }
        watchdog_.disarm();
    }
}

}  // namespace http
