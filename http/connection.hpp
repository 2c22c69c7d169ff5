#pragma once

#include "http/parser.hpp"
#include "http/router.hpp"
#include "http/seats.hpp"
#include "http/server.hpp"
#include "http/stop.hpp"
#include "http/task.hpp"
#include "http/watchdog.hpp"
#include "http/wire.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace http {

/// The value of the Date header, made once a second. One for each thread.
class DateText {
public:
    std::string_view now();

private:
    std::time_t second_ = 0;
    std::string text_;
};

/// What the connections of one server share.
struct ConnectionContext {
    const Router& router;
    const ServerOptions& options;
    Seats& seats;
    /// Bytes of all bodies that are held in memory.
    std::atomic<std::uint64_t>& bodies_bytes;
};

/// One accepted connection: reads requests and answers them one after the other. Belongs to one
/// thread.
class Connection final : public std::enable_shared_from_this<Connection>,
                         private BodySource,
                         private BodySink {
public:
    struct Accepted {
        std::unique_ptr<Transport> transport;
        ConnectionId id;
        std::string remote_address;
        std::shared_ptr<Seat> seat;
    };
    Connection(ConnectionContext context, Accepted accepted, DateText& date);

    /// Until the connection has ended. The object must live until then.
    Task<void> run();
    /// No further request; ends at once what waits, lets run what runs.
    void begin_stop();
    /// Another takes its seat: it ends, unless a request has begun since it was chosen.
    void give_way();
    /// Ends all, also a running handler's waits.
    void abort();
    /// Tells `connection_closed`, the first time.
    void announce_closed();

private:
    enum class Phase : std::uint8_t { idle, busy, waiting };
    enum class Framing : std::uint8_t { none, length, chunked, until_close };

    Task<bool> serve_one();
    Task<bool> read_header(Request& request);
    [[nodiscard]] std::optional<ParseFault> header_fault(std::optional<std::size_t> block_bytes
    ) const;
    void begin_request(const Request& request);
    Task<Response> answer(Request request, const Route*& taken);
    Task<Response> handle(Request request, const Route& route);
    Task<base::Result<std::string>> whole_body();
    bool hold_body(std::size_t bytes);
    void release_body();
    Task<bool> send(Response response, Method method);
    Task<bool> send_stream(BodyStream stream);
    [[nodiscard]] std::string head_of(const Response& response) const;
    Task<void> end();

    bool discard_buffered_body();
    Task<boost::system::error_code> fill_body();
    Task<base::Result<std::string>> next_piece() override;
    [[nodiscard]] std::optional<std::uint64_t> length() const override;
    Task<base::Result<void>> write_piece(std::string piece) override;
    [[nodiscard]] StopSignal stop() const override { return stop_.signal(); }
    void watch_peer(Phase phase);

    ConnectionContext context_;
    ConnectionId id_;
    std::string remote_address_;
    std::shared_ptr<Seat> seat_;
    DateText& date_;
    std::shared_ptr<Wire> wire_;
    Watchdog watchdog_;
    MessageParser parser_{MessageParser::Kind::request};
    StopSource stop_;
    Phase phase_ = Phase::idle;
    bool stopping_ = false;
    bool announced_ = false;
    bool watching_ = false;
    /// The peer takes no more.
    bool gone_ = false;
    bool served_any_ = false;

    // of the current request
    /// At least its first byte has come.
    bool in_request_ = false;
    bool keep_alive_ = false;
    bool answer_continue_ = false;
    std::optional<ParseFault> fault_;
    std::uint64_t body_bytes_max_ = 0;
    std::uint64_t body_bytes_ = 0;
    /// Its part of `ConnectionContext::bodies_bytes`.
    std::uint64_t held_bytes_ = 0;
    base::Duration body_window_left_;
    std::size_t body_window_bytes_ = 0;

    // of the current answer
    Framing framing_ = Framing::none;
    std::uint64_t written_bytes_ = 0;
    std::uint64_t announced_bytes_ = 0;
};

}  // namespace http
