#include "base/clock.hpp"
#include "base/json_schema_node.hpp"
#include "base/json_schema_uri.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>

namespace base::schema {

namespace {

bool digit(char c) {
    return c >= '0' && c <= '9';
}

bool letter_or_digit(char c) {
    return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// RFC 3339 allows lower-case 't' and 'z', and a leap second at the end of a UTC day.
bool format_date_time(std::string_view text) {
    std::string upper(text);
    for (char& c : upper) {
        if (c == 't') c = 'T';
        if (c == 'z') c = 'Z';
    }
    if (const auto leap = upper.find("23:59:60"); leap == 11) upper.replace(17, 2, "59");
    return timestamp(upper).has_value();
}

bool format_date(std::string_view text) {
    return text.size() == 10 && format_date_time(std::string(text) + "T00:00:00Z");
}

bool format_time(std::string_view text) {
    return format_date_time("1972-06-30T" + std::string(text));
}

// `P1Y2M3DT4H5M6S` or `P4W`: at least one part, in this order.
bool format_duration(std::string_view text) {
    if (!text.starts_with('P')) return false;
    text.remove_prefix(1);
    std::string_view units = "YMD";
    bool time = false;
    bool any = false;
    while (!text.empty()) {
        if (text.front() == 'T') {
            if (time) return false;
            time = true;
            any = false;
            units = "HMS";
            text.remove_prefix(1);
            continue;
        }
        const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
        if (digits == 0 || digits == text.size()) return false;
        const char unit = text[digits];
        if (unit == 'W') return !time && !any && digits + 1 == text.size();
        const auto at = units.find(unit);
        if (at == std::string_view::npos) return false;
        units.remove_prefix(at + 1);
        text.remove_prefix(digits + 1);
        any = true;
    }
    return any;
}

bool format_hostname(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    while (true) {
        const auto end = std::min(text.find('.'), text.size());
        const auto label = text.substr(0, end);
        if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
            return false;
        }
        if (!std::ranges::all_of(label, [](char c) { return letter_or_digit(c) || c == '-'; })) {
            return false;
        }
        if (end == text.size()) return true;
        text.remove_prefix(end + 1);
    }
}

bool format_ipv4(std::string_view text) {
    in_addr address{};
    return ::inet_pton(AF_INET, std::string(text).c_str(), &address) == 1 &&
           text.find('\0') == std::string_view::npos;
}

bool format_ipv6(std::string_view text) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1 &&
           text.find('\0') == std::string_view::npos;
}

bool address_literal(std::string_view text) {
    if (!text.starts_with('[') || !text.ends_with(']')) return false;
    text = text.substr(1, text.size() - 2);
    if (text.starts_with("IPv6:")) return format_ipv6(text.substr(5));
    return format_ipv4(text);
}

// RFC 5321's mailbox: a dot-string or a quoted string, then a domain or an address.
bool format_email(std::string_view text) {
    const auto at = text.rfind('@');
    if (at == std::string_view::npos || at == 0 || at > 64) return false;
    const auto local = text.substr(0, at);
    const auto domain = text.substr(at + 1);
    if (!format_hostname(domain) && !address_literal(domain)) return false;
    if (local.size() > 2 && local.front() == '"' && local.back() == '"') {
        return std::ranges::all_of(local, [](char c) { return c >= 0x20 && c < 0x7F; });
    }
    constexpr std::string_view special = "!#$%&'*+-/=?^_`{|}~.";
    return local.front() != '.' && local.back() != '.' &&
           local.find("..") == std::string_view::npos && std::ranges::all_of(local, [&](char c) {
               return letter_or_digit(c) || special.find(c) != std::string_view::npos;
           });
}

bool format_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const char c = text[i];
        const bool hex = digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (dash ? c != '-' : !hex) return false;
    }
    return true;
}

bool format_json_pointer(std::string_view text) {
    return (text.empty() || text.front() == '/') && unescaped_token(text).has_value();
}

bool format_relative_json_pointer(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || (digits > 1 && text.front() == '0')) return false;
    const auto rest = text.substr(digits);
    return rest == "#" || format_json_pointer(rest);
}

bool format_regex(std::string_view text) {
    return Pattern::compile(text).has_value();
}

}  // namespace

FormatCheck format_check(std::string_view name) {
    using Known = std::pair<std::string_view, FormatCheck>;
    static constexpr std::array known = {
        Known{"date-time", format_date_time},
        Known{"date", format_date},
        Known{"time", format_time},
        Known{"duration", format_duration},
        Known{"email", format_email},
        Known{"hostname", format_hostname},
        Known{"ipv4", format_ipv4},
        Known{"ipv6", format_ipv6},
        Known{"uri", absolute_uri},
        Known{"uri-reference", valid_uri_reference},
        Known{"uuid", format_uuid},
        Known{"json-pointer", format_json_pointer},
        Known{"relative-json-pointer", format_relative_json_pointer},
        Known{"regex", format_regex},
    };
    for (const auto& [known_name, check] : known) {
        if (name == known_name) return check;
    }
    return nullptr;
}

}  // namespace base::schema
