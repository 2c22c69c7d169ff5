#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace http {

/// Where a server is: `http://host:port/prefix`.
struct Url {
    bool tls = false;
    /// Without the brackets of an IPv6 address.
    std::string host;
    std::uint16_t port = 80;
    /// "" or "/prefix", without a slash at its end; still encoded.
    std::string prefix;

    bool operator==(const Url&) const = default;
};

/// Refuses other schemes, user information, queries and fragments.
base::Result<Url> parse_url(std::string_view text);
std::string text(const Url& url);
/// For the Host header: "host", or "host:port" when the port is not the scheme's.
std::string authority(const Url& url);

}  // namespace http
