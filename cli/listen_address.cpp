#include "cli/listen_address.hpp"

#include <charconv>
#include <fmt/format.h>

namespace cli {

base::Result<ListenAddress> parse_listen_address(std::string_view text) {
    const auto colon = text.rfind(':');
    ListenAddress address;
    if (colon != std::string_view::npos && colon > 0) {
        auto host = text.substr(0, colon);
        const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
        if (bracketed) host = host.substr(1, host.size() - 2);
        const auto port = text.substr(colon + 1);
        const auto* end = port.data() + port.size();
        const auto [stopped, error] = std::from_chars(port.data(), end, address.port);
        const bool plain = bracketed || !host.contains(':');
        if (!port.empty() && error == std::errc{} && stopped == end && plain) {
            address.host = host;
            return address;
        }
    }
    return base::fail(
        base::ErrorCode::validation,
        fmt::format("'{}' is no address to listen on", text),
        "write HOST:PORT, such as 127.0.0.1:7117; port 0 takes a free one"
    );
}

}  // namespace cli
