#pragma once

#include "base/clock.hpp"
#include "http/task.hpp"
#include "http/transport.hpp"
#include "http/watchdog.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace http {

/// A transport with the bytes that have arrived and are not used up. Belongs to one thread. Held by
/// shared_ptr: a read that is under way keeps the memory it reads into.
class Wire : public std::enable_shared_from_this<Wire> {
public:
    Wire(std::unique_ptr<Transport> transport, std::size_t unread_bytes_max);

    [[nodiscard]] Transport& transport() { return *transport_; }
    [[nodiscard]] std::string_view unread() const;
    void use(std::size_t bytes);

    /// Waits for more bytes behind `unread()`. `no_buffer_space` when it holds the most it may.
    Task<boost::system::error_code> fill();
    /// Reads larger pieces from now on: for bodies.
    void expect_much();

    /// Reads on while something else is done, and calls `gone` when the peer ends the connection.
    /// The bytes that come are the next that `fill` gives. Once it has got bytes it watches no
    /// longer.
    void read_ahead(std::function<void()> gone);
    /// A read is under way and nothing has come.
    [[nodiscard]] bool reading() const { return reading_; }

    /// Writes all. `watchdog` cuts a peer that takes nothing for `timeout`. Lets others run now and
    /// then, also when it never has to wait.
    Task<boost::system::error_code> write(
        Pieces pieces, Watchdog& watchdog, base::Duration timeout
    );

private:
    bool make_room();
    std::span<char> room() { return std::span(buffer_).subspan(end_); }
    Task<void> read_ahead_done();

    std::unique_ptr<Transport> transport_;
    std::size_t unread_bytes_max_;
    std::string buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t written_without_wait_ = 0;
    bool reading_ = false;
    std::optional<boost::system::error_code> read_ahead_;
    std::move_only_function<void()> waiting_;
};

}  // namespace http
