#include "http/url.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace http {

namespace {

base::Result<Url> refuse(std::string_view text, std::string_view why) {
    return base::fail(
        base::ErrorCode::validation,
        fmt::format("'{}' is not the URL of a server: {}", text, why),
        "write http://host:port or https://host:port"
    );
}

bool host_character(char c) {
    constexpr std::string_view others = "-._:%";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
}

}  // namespace

base::Result<Url> parse_url(std::string_view text) {
    Url url;
    std::string_view left = text;
    if (left.starts_with("http://")) {
        left.remove_prefix(7);
    } else if (left.starts_with("https://")) {
        left.remove_prefix(8);
        url.tls = true;
        url.port = 443;
    } else {
        return refuse(text, "it does not start with http:// or https://");
    }
    const auto slash = left.find_first_of("/?#");
    auto authority_text = left.substr(0, slash);
    auto prefix = slash == std::string_view::npos ? std::string_view{} : left.substr(slash);
    if (prefix.find_first_of("?# \r\n") != std::string_view::npos) {
        return refuse(text, "it has a query, a fragment or a space");
    }
    while (prefix.ends_with('/'))
        prefix.remove_suffix(1);
    url.prefix = prefix;

    std::string_view port;
    bool has_port = false;
    if (authority_text.starts_with('[')) {
        const auto end = authority_text.find(']');
        if (end == std::string_view::npos) return refuse(text, "a ']' is missing");
        url.host = authority_text.substr(1, end - 1);
        port = authority_text.substr(end + 1);
        has_port = port.starts_with(':');
        if (!port.empty() && !has_port) return refuse(text, "something follows the ']'");
        if (has_port) port.remove_prefix(1);
    } else {
        const auto colon = authority_text.find(':');
        url.host = authority_text.substr(0, colon);
        has_port = colon != std::string_view::npos;
        if (has_port) port = authority_text.substr(colon + 1);
        if (port.find(':') != std::string_view::npos) return refuse(text, "it has two ports");
    }
    if (url.host.empty() || !std::ranges::all_of(url.host, host_character)) {
        return refuse(text, "the host is empty or has a character that hosts do not have");
    }
    if (has_port) {
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
        if (error != std::errc{} || end != port.data() + port.size() || url.port == 0) {
            return refuse(text, "the port is not a number from 1 to 65535");
        }
    }
    return url;
}

std::string authority(const Url& url) {
    const bool ipv6 = url.host.find(':') != std::string::npos;
    const auto host = ipv6 ? fmt::format("[{}]", url.host) : url.host;
    if (url.port == (url.tls ? 443 : 80)) return host;
    return fmt::format("{}:{}", host, url.port);
}

std::string text(const Url& url) {
    return fmt::format("{}://{}{}", url.tls ? "https" : "http", authority(url), url.prefix);
}

}  // namespace http
