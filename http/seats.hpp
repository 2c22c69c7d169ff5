#pragma once

#include "base/guarded.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace http {

/// One connection's place among those that a server holds. Shared by the connection, which says
/// when it serves a request, and by `Seats`, which reads that.
struct Seat {
    std::uint64_t connection = 0;
    std::size_t thread = 0;  ///< which of the server's threads it lives on
    std::string peer;
    /// 0: a request is being served. Else it waits for one, and this grows with each that begins to
    /// wait: the least has waited longest.
    std::atomic<std::uint64_t> idle_since = 0;
};

/// How many connections a server holds, and how many of one peer: a peer at its share gives up its
/// own connection that has waited longest for a request, and no other peer notices. Thread-safe.
class Seats {
public:
    struct Limits {
        std::size_t connections_max = 0;
        std::size_t peer_connections_max = 0;
    };
    explicit Seats(Limits limits) : limits_(limits) {}

    struct Taken {
        /// Null: there is none.
        std::shared_ptr<Seat> seat;
        /// To be closed in its place; no longer counted.
        std::shared_ptr<Seat> closed;
    };
    /// `peer` as `peer_of` names it.
    Taken take(const std::string& peer, std::uint64_t connection, std::size_t thread);
    /// The connection has ended.
    void leave(const std::shared_ptr<Seat>& seat);
    void begins_to_wait(Seat& seat) { seat.idle_since = ++waits_; }
    static void begins_to_serve(Seat& seat) { seat.idle_since = 0; }

    [[nodiscard]] std::size_t taken() const;

private:
    /// The seats of one peer, the oldest first; those that were asked to close stay in `closing`.
    struct Now {
        std::map<std::string, std::list<std::shared_ptr<Seat>>, std::less<>> peers;
        std::size_t taken = 0;
        std::size_t closing = 0;
    };
    static std::shared_ptr<Seat> remove_idle(Now& now, const std::string& peer);
    std::shared_ptr<Seat> make_room(Now& now, const std::string& peer) const;

    Limits limits_;
    std::atomic<std::uint64_t> waits_ = 0;
    base::Guarded<Now> now_;
};

/// What counts as one peer: an IPv4 address, or the first 64 bits of an IPv6 address, which is what
/// one subscriber gets.
std::string peer_of(std::string_view address);

}  // namespace http
