#include "base/log.hpp"
#include "http/connection.hpp"
#include "http/status.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

bool has_no_body(int status) {
    return status < 200 || status == 204 || status == 304;
}

Task<base::Result<void>> guarded_stream(Task<base::Result<void>> producing) {
    try {
        co_return co_await std::move(producing);
    } catch (const std::exception& error) {
        co_return base::fail(base::ErrorCode::internal, error.what());
    } catch (...) {
        co_return base::fail(base::ErrorCode::internal, "an exception of unknown type");
    }
}

}  // namespace

std::string_view DateText::now() {
    const auto second = std::time(nullptr);
    if (second == second_) return text_;
    constexpr std::array<std::string_view, 7> days = {
        "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"
    };
    constexpr std::array<std::string_view, 12> months = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
    };
    std::tm parts{};
    gmtime_r(&second, &parts);
    text_ = fmt::format(
        "{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
        days[static_cast<std::size_t>(parts.tm_wday)],
        parts.tm_mday,
        months[static_cast<std::size_t>(parts.tm_mon)],
        parts.tm_year + 1900,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec
    );
    second_ = second;
    return text_;
}

Task<base::Result<std::string>> Connection::whole_body() {
    constexpr std::uint64_t reserved_bytes_max = 65536;
    std::string body;
    for (;;) {
        auto piece = co_await next_piece();
        if (piece && !hold_body(piece->size())) co_return base::fail(fault_->error);
        if (!piece) co_return piece;
        if (body.empty() && parser_.done()) co_return piece;
        if (piece->empty()) co_return body;
        body.reserve(std::min(parser_.content_length().value_or(0), reserved_bytes_max));
        body += *piece;
    }
}

/// Bytes count as they arrive: what a peer announces and does not send takes nothing from others.
bool Connection::hold_body(std::size_t bytes) {
    held_bytes_ += bytes;
    const auto all = context_.bodies_bytes += bytes;
    const auto most = context_.options.limits.bodies_bytes_max;
    if (all <= most) return true;
    fault_ = ParseFault{
        503,
        {base::ErrorCode::overloaded,
         fmt::format("the bodies that are being read have more than {} bytes together", most),
         "try again later, or send less at a time",
         {}}
    };
    return false;
}

void Connection::release_body() {
    context_.bodies_bytes -= std::exchange(held_bytes_, 0);
}

std::optional<std::uint64_t> Connection::length() const {
    return parser_.content_length();
}

Task<base::Result<std::string>> Connection::next_piece() {
    using base::ErrorCode;
    std::string piece;
    for (;;) {
        if (fault_) co_return base::fail(fault_->error);
        auto step = parser_.parse_body(wire_->unread(), piece);
        wire_->use(step.used);
        body_bytes_ += piece.size();
        fault_ = std::move(step.fault);
        if (!fault_ && body_bytes_ > body_bytes_max_) {
            fault_ = ParseFault{
                413,
                {ErrorCode::too_large,
                 fmt::format("the body of this request may have {} bytes at most", body_bytes_max_),
                 {},
                 {}}
            };
        }
        if (fault_) continue;
        if (!piece.empty() || parser_.done()) co_return piece;
        if (step.used > 0 && !wire_->unread().empty()) continue;
        if (const auto error = co_await fill_body(); error && !fault_) {
            fault_ = ParseFault{
                400, {ErrorCode::upstream, "the connection ended within the request's body", {}, {}}
            };
        }
    }
}

/// Time runs only while the peer is waited for, and a peer that sends little gets no new time for
/// it.
Task<boost::system::error_code> Connection::fill_body() {
    const auto& limits = context_.options.limits;
    if (std::exchange(answer_continue_, false)) {
        const auto error = co_await wire_->write(
            {"HTTP/1.1 100 Continue\r\n\r\n", "", ""}, watchdog_, limits.write_idle
        );
        if (error) co_return error;
    }
    if (parser_.content_length().value_or(body_bytes_max_) > limits.body_window_bytes_min) {
        wire_->expect_much();
    }
    const auto had = wire_->unread().size();
    const auto begun = std::chrono::steady_clock::now();
    watchdog_.expire_in(body_window_left_);
    const auto error = co_await wire_->fill();
    const bool late = watchdog_.expired();
    watchdog_.disarm();
    if (late) {
        fault_ = ParseFault{
            408,
            {base::ErrorCode::timeout,
             fmt::format(
                 "the body came too slowly: less than {} bytes within {}",
                 limits.body_window_bytes_min,
                 base::text(limits.body_idle)
             ),
             "send it faster, or in smaller requests",
             {}}
        };
        co_return error;
    }
    body_window_bytes_ += wire_->unread().size() - had;
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - begun
    );
    body_window_left_.us = std::max<std::int64_t>(body_window_left_.us - waited.count(), 1);
    if (body_window_bytes_ >= limits.body_window_bytes_min) {
        body_window_bytes_ = 0;
        body_window_left_ = limits.body_idle;
    }
    co_return error;
}

/// Whether the whole body has arrived; what the handler did not read of it is thrown away.
bool Connection::discard_buffered_body() {
    if (fault_) return false;
    std::string discarded;
    while (!parser_.done() && !wire_->unread().empty()) {
        const auto step = parser_.parse_body(wire_->unread(), discarded);
        if (step.fault || step.used == 0) return false;
        wire_->use(step.used);
    }
    return parser_.done();
}

Task<bool> Connection::send(Response response, Method method) {
    if (!discard_buffered_body() || stopping_) keep_alive_ = false;
    if (!response.headers.valid()) {
        response =
            error_response({base::ErrorCode::internal, "a handler made a malformed header", {}, {}}
            );
    }
    const bool bodiless = method == Method::head || has_no_body(response.status);
    const auto length = response.stream ? response.stream->length
                                        : std::optional<std::uint64_t>(response.body.size());
    announced_bytes_ = length.value_or(0);
    written_bytes_ = 0;
    framing_ = has_no_body(response.status) ? Framing::none
               : length                     ? Framing::length
               : bodiless                   ? Framing::none
               : parser_.http11()           ? Framing::chunked
                                            : Framing::until_close;
    if (framing_ == Framing::until_close) keep_alive_ = false;
    const auto head = head_of(response);
    const std::string_view body = bodiless || response.stream ? std::string_view{} : response.body;
    const auto error =
        co_await wire_->write({head, body, ""}, watchdog_, context_.options.limits.write_idle);
    if (error) co_return false;
    if (response.stream && !bodiless) co_return co_await send_stream(std::move(*response.stream));
    co_return keep_alive_;
}

std::string Connection::head_of(const Response& response) const {
    std::string head;
    head.reserve(256);
    fmt::format_to(
        std::back_inserter(head),
        "HTTP/1.1 {} {}\r\n",
        response.status,
        reason_phrase(response.status)
    );
    for (std::size_t i = 0; i < response.headers.size(); ++i) {
        const auto [name, value] = response.headers.at(i);
        head.append(name).append(": ").append(value).append("\r\n");
    }
    if (framing_ == Framing::length) {
        fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", announced_bytes_);
    }
    if (framing_ == Framing::chunked) head += "Transfer-Encoding: chunked\r\n";
    head.append("Date: ").append(date_.now()).append("\r\n");
    if (!keep_alive_) {
        head += "Connection: close\r\n";
    } else if (!parser_.http11()) {
        head += "Connection: keep-alive\r\n";
    }
    head += "\r\n";
    return head;
}

Task<bool> Connection::send_stream(BodyStream stream) {
    if (parser_.done()) watch_peer(stream.endless ? Phase::waiting : Phase::busy);
    auto produced = co_await guarded_stream(stream.produce(BodyWriter(*this)));
    phase_ = Phase::busy;
    watching_ = false;
    if (produced && framing_ == Framing::length && written_bytes_ != announced_bytes_) {
        produced = base::fail(
            base::ErrorCode::internal,
            fmt::format("a body of {} bytes was announced as {}", written_bytes_, announced_bytes_)
        );
    }
    if (produced && framing_ == Framing::chunked) {
        const auto error = co_await wire_->write(
            {"0\r\n\r\n", "", ""}, watchdog_, context_.options.limits.write_idle
        );
        co_return !error && keep_alive_;
    }
    if (produced) co_return keep_alive_;
    // A peer that goes is no fault of ours.
    if (!gone_) base::log_warning("an answer was cut: " + produced.error().message);
    wire_->transport().reset();
    co_return false;
}

Task<base::Result<void>> Connection::write_piece(std::string piece) {
    if (piece.empty()) co_return base::Result<void>();
    written_bytes_ += piece.size();
    if (framing_ == Framing::length && written_bytes_ > announced_bytes_) {
        co_return base::fail(
            base::ErrorCode::internal,
            fmt::format("a body exceeds the {} bytes that were announced", announced_bytes_)
        );
    }
    std::string size;
    std::string_view end;
    if (framing_ == Framing::chunked) {
        size = fmt::format("{:x}\r\n", piece.size());
        end = "\r\n";
    }
    const auto error =
        co_await wire_->write({size, piece, end}, watchdog_, context_.options.limits.write_idle);
    if (!error) co_return base::Result<void>();
    gone_ = true;
    co_return base::fail(base::ErrorCode::upstream, "the peer has gone: " + error.message());
}

}  // namespace http
