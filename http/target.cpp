#include "http/target.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>

namespace http {

namespace {

using base::ErrorCode;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

base::Result<void> parse_path(std::string_view path, std::vector<std::string>& segments) {
    path.remove_prefix(1);
    if (path.empty()) return {};
    segments.reserve(static_cast<std::size_t>(std::ranges::count(path, '/')) + 1);
    for (;;) {
        const auto end = path.find('/');
        auto segment = percent_decode(path.substr(0, end), false);
        if (!segment) return base::fail(std::move(segment.error()));
        if (*segment == "." || *segment == "..") {
            return base::fail(ErrorCode::validation, "the path has a '.' or '..' segment");
        }
        if (std::ranges::any_of(*segment, control)) {
            return base::fail(ErrorCode::validation, "the path has a control character");
        }
        if (segments.size() == path_segments_max) {
            return base::fail(
                ErrorCode::too_large,
                fmt::format("the path has more than {} segments", path_segments_max)
            );
        }
        segments.push_back(std::move(*segment));
        if (end == std::string_view::npos) return {};
        path.remove_prefix(end + 1);
    }
}

base::Result<void> parse_query(std::string_view text, Query& query) {
    while (!text.empty()) {
        const auto end = text.find('&');
        const auto item = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (item.empty()) continue;
        const auto equals = item.find('=');
        auto name = percent_decode(item.substr(0, equals), true);
        if (!name) return base::fail(std::move(name.error()));
        std::string value;
        if (equals != std::string_view::npos) {
            auto decoded = percent_decode(item.substr(equals + 1), true);
            if (!decoded) return base::fail(std::move(decoded.error()));
            value = std::move(*decoded);
        }
        if (query.items().size() == query_parameters_max) {
            return base::fail(
                ErrorCode::too_large,
                fmt::format("the query has more than {} parameters", query_parameters_max)
            );
        }
        query.add(std::move(*name), std::move(value));
    }
    return {};
}

/// `http://host/path` -> `/path`.
std::string_view without_authority(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        const auto authority_end = target.find_first_of("/?", scheme.size());
        if (authority_end == std::string_view::npos) return "/";
        return target.substr(authority_end);
    }
    return target;
}

}  // namespace

bool Query::has(std::string_view name) const {
    return std::ranges::any_of(items_, [&](const auto& item) { return item.first == name; });
}

base::Result<std::optional<std::string>> Query::one(std::string_view name) const {
    const std::string* found = nullptr;
    for (const auto& [key, value] : items_) {
        if (key != name) continue;
        if (found != nullptr) {
            return base::fail(
                ErrorCode::validation, fmt::format("the query parameter '{}' is given twice", name)
            );
        }
        found = &value;
    }
    if (found == nullptr) return std::nullopt;
    return *found;
}

std::vector<std::string> Query::all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [key, value] : items_) {
        if (key == name) values.push_back(value);
    }
    return values;
}

base::Result<void> Query::only(std::initializer_list<std::string_view> names) const {
    std::string unknown;
    for (const auto& item : items_) {
        if (std::ranges::find(names, item.first) != names.end()) continue;
        unknown += fmt::format("{}'{}'", unknown.empty() ? "" : ", ", item.first);
    }
    if (unknown.empty()) return {};
    return base::fail(
        ErrorCode::validation,
        fmt::format("unknown query parameter {}", unknown),
        names.size() == 0 ? "this route takes none"
                          : fmt::format("this route takes: {}", fmt::join(names, ", "))
    );
}

base::Result<Target> parse_target(std::string_view target) {
    if (target.find('#') != std::string_view::npos) {
        return base::fail(ErrorCode::validation, "the request target has a fragment ('#')");
    }
    target = without_authority(target);
    const auto question = target.find('?');
    std::string_view path = target.substr(0, question);
    if (path.empty() && question == 0) path = "/";
    if (!path.starts_with('/')) {
        return base::fail(ErrorCode::validation, "the request target does not start with '/'");
    }
    Target parsed;
    if (auto done = parse_path(path, parsed.path); !done)
        return base::fail(std::move(done.error()));
    if (question != std::string_view::npos) {
        auto done = parse_query(target.substr(question + 1), parsed.query);
        if (!done) return base::fail(std::move(done.error()));
    }
    return parsed;
}

base::Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            decoded += ' ';
            continue;
        }
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return base::fail(
                ErrorCode::validation,
                fmt::format("malformed percent-encoding at byte {} of a part of the target", i),
                "write a literal '%' as %25"
            );
        }
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (decoded.find('\0') != std::string::npos) {
        return base::fail(ErrorCode::validation, "the request target has an encoded NUL");
    }
    if (!base::valid_utf8(decoded)) {
        return base::fail(ErrorCode::validation, "the request target is not UTF-8");
    }
    return decoded;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (unreserved.find(c) != std::string_view::npos) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += digits[byte >> 4U];
        encoded += digits[byte & 15U];
    }
    return encoded;
}

std::string make_target(
    std::initializer_list<std::string_view> segments,
    std::initializer_list<std::pair<std::string_view, std::string_view>> query
) {
    std::string target;
    for (const auto segment : segments)
        target.append("/").append(percent_encode(segment));
    if (target.empty()) target = "/";
    char separator = '?';
    for (const auto& [name, value] : query) {
        target += separator;
        target.append(percent_encode(name)).append("=").append(percent_encode(value));
        separator = '&';
    }
    return target;
}

}  // namespace http
