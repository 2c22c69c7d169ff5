#include "http/wire.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace http {

namespace {

namespace asio = boost::asio;

constexpr std::size_t first_bytes = 4096;
constexpr std::size_t body_buffer_bytes = 65536;
constexpr std::size_t written_without_wait_max = 262144;

}  // namespace

Wire::Wire(std::unique_ptr<Transport> transport, std::size_t unread_bytes_max)
    : transport_(std::move(transport)),
      unread_bytes_max_(std::max(unread_bytes_max, first_bytes)) {}

std::string_view Wire::unread() const {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
}

void Wire::use(std::size_t bytes) {
    begin_ += bytes;
    // While a read is under way, its place must not move.
    if (begin_ == end_ && !reading_) begin_ = end_ = 0;
}

bool Wire::make_room() {
    if (end_ < buffer_.size()) return true;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        return true;
    }
    if (buffer_.size() >= unread_bytes_max_) return false;
    buffer_.resize(std::min(std::max(first_bytes, buffer_.size() * 2), unread_bytes_max_));
    return true;
}

void Wire::expect_much() {
    if (reading_ || buffer_.size() >= body_buffer_bytes) return;
    buffer_.resize(std::min(body_buffer_bytes, unread_bytes_max_));
}

Task<boost::system::error_code> Wire::fill() {
    if (reading_) co_await read_ahead_done();
    if (read_ahead_) co_return *std::exchange(read_ahead_, std::nullopt);
    if (!make_room()) co_return asio::error::no_buffer_space;
    const Io io = co_await transport_->read_some(room());
    end_ += io.bytes;
    co_return io.error;
}

void Wire::read_ahead(std::function<void()> gone) {
    if (reading_ || read_ahead_ || !unread().empty() || !make_room()) return;
    reading_ = true;
    transport_->start_read(room(), [self = shared_from_this(), gone = std::move(gone)](Io io) {
        self->reading_ = false;
        self->end_ += io.bytes;
        self->read_ahead_ = io.error;
        if (io.error && gone) gone();
        if (auto waiting = std::exchange(self->waiting_, nullptr)) waiting();
    });
}

Task<void> Wire::read_ahead_done() {
    return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
        [this](auto handler) { waiting_ = std::move(handler); }, asio::use_awaitable
    );
}

Task<boost::system::error_code> Wire::write(
    Pieces pieces, Watchdog& watchdog, base::Duration timeout
) {
    Io io = transport_->write_now(pieces);
    written_without_wait_ += io.bytes;
    bool waited = false;
    for (;;) {
        if (io.error) break;
        pieces = without(pieces, io.bytes);
        if (total_bytes(pieces) == 0) break;
        watchdog.expire_in(timeout);
        waited = true;
        io = co_await transport_->write_some(pieces);
    }
    if (waited) {
        watchdog.disarm();
        written_without_wait_ = 0;
    } else if (written_without_wait_ > written_without_wait_max) {
        written_without_wait_ = 0;
        co_await asio::post(transport_->socket().get_executor(), asio::use_awaitable);
    }
    co_return io.error;
}

}  // namespace http
