#include "http/seats.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <utility>

namespace http {

namespace {

/// Closed connections whose descriptors may still be open: more are not asked to close at once, so
/// that the descriptors kept in reserve suffice.
constexpr std::size_t closing_max = 64;
constexpr std::ptrdiff_t subscriber_bytes = 8;

}  // namespace

Seats::Taken Seats::take(const std::string& peer, std::uint64_t connection, std::size_t thread) {
    return now_.with([&](Now& now) -> Taken {
        const auto own = now.peers.find(peer);
        const bool share_is_used =
            own != now.peers.end() && own->second.size() >= limits_.peer_connections_max;
        Taken taken;
        if (share_is_used) {
            taken.closed = remove_idle(now, peer);
            if (!taken.closed) return {};
        } else if (now.taken >= limits_.connections_max) {
            taken.closed = make_room(now, peer);
            if (!taken.closed) return {};
        }
        taken.seat = std::make_shared<Seat>();
        taken.seat->connection = connection;
        taken.seat->thread = thread;
        taken.seat->peer = peer;
        begins_to_wait(*taken.seat);
        now.peers[peer].push_back(taken.seat);
        ++now.taken;
        return taken;
    });
}

/// Of the peer that has the most, where that is more than the newcomer would have.
std::shared_ptr<Seat> Seats::make_room(Now& now, const std::string& peer) const {
    const auto most = std::ranges::max_element(now.peers, {}, [](const auto& entry) {
        return entry.second.size();
    });
    if (most == now.peers.end()) return nullptr;
    const auto own = now.peers.find(peer);
    const std::size_t would_have = 1 + (own == now.peers.end() ? 0 : own->second.size());
    return most->second.size() > would_have ? remove_idle(now, most->first) : nullptr;
}

std::shared_ptr<Seat> Seats::remove_idle(Now& now, const std::string& peer) {
    if (now.closing >= closing_max) return nullptr;
    auto& seats = now.peers.find(peer)->second;
    auto longest = seats.end();
    std::uint64_t since = 0;
    for (auto at = seats.begin(); at != seats.end(); ++at) {
        const std::uint64_t idle = (*at)->idle_since;
        if (idle == 0 || (longest != seats.end() && idle >= since)) continue;
        longest = at;
        since = idle;
    }
    if (longest == seats.end()) return nullptr;
    auto removed = std::move(*longest);
    seats.erase(longest);
    --now.taken;
    ++now.closing;
    return removed;
}

void Seats::leave(const std::shared_ptr<Seat>& seat) {
    now_.with([&](Now& now) {
        const auto own = now.peers.find(seat->peer);
        if (own == now.peers.end() || std::erase(own->second, seat) == 0) {
            --now.closing;
        } else {
            --now.taken;
        }
        if (own != now.peers.end() && own->second.empty()) now.peers.erase(own);
    });
}

std::size_t Seats::taken() const {
    return now_.with([](const Now& now) { return now.taken; });
}

std::string peer_of(std::string_view address) {
    namespace ip = boost::asio::ip;
    boost::system::error_code error;
    const auto parsed = ip::make_address(std::string(address), error);
    if (error || parsed.is_v4()) return std::string(address);
    const auto whole = parsed.to_v6();
    if (whole.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, whole).to_string();
    auto bytes = whole.to_bytes();
    std::fill(bytes.begin() + subscriber_bytes, bytes.end(), 0);
    return ip::address_v6(bytes).to_string();
}

}  // namespace http
