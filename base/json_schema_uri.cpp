#include "base/json_schema_uri.hpp"

#include <algorithm>
#include <vector>

namespace base::schema {

namespace {

struct UriParts {
    std::optional<std::string_view> scheme;
    std::optional<std::string_view> authority;
    std::string_view path;
    std::optional<std::string_view> query;
    std::optional<std::string_view> fragment;
};

bool scheme_text(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return !text.empty() && letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    });
}

UriParts split_uri(std::string_view text) {
    UriParts parts;
    if (const auto hash = text.find('#'); hash != std::string_view::npos) {
        parts.fragment = text.substr(hash + 1);
        text = text.substr(0, hash);
    }
    if (const auto mark = text.find('?'); mark != std::string_view::npos) {
        parts.query = text.substr(mark + 1);
        text = text.substr(0, mark);
    }
    if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        if (scheme_text(text.substr(0, colon))) {
            parts.scheme = text.substr(0, colon);
            text.remove_prefix(colon + 1);
        }
    }
    if (text.starts_with("//")) {
        const auto end = std::min(text.find('/', 2), text.size());
        parts.authority = text.substr(2, end - 2);
        text.remove_prefix(end);
    }
    parts.path = text;
    return parts;
}

// RFC 3986, section 5.2.4.
std::string without_dot_segments(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        if (path.starts_with("../")) {
            path.remove_prefix(3);
        } else if (path.starts_with("./") || path.starts_with("/./")) {
            path.remove_prefix(2);
        } else if (path == "/.") {
            path = "/";
        } else if (path.starts_with("/../") || path == "/..") {
            path = path == "/.." ? "/" : path.substr(3);
            out.erase(std::min(out.rfind('/'), out.size()));
        } else if (path == "." || path == "..") {
            path = {};
        } else {
            const auto end = std::min(path.find('/', 1), path.size());
            out += path.substr(0, end);
            path.remove_prefix(end);
        }
    }
    return out;
}

std::string merged_path(const UriParts& base, std::string_view path) {
    if (base.authority && base.path.empty()) return "/" + std::string(path);
    const auto slash = base.path.rfind('/');
    if (slash == std::string_view::npos) return std::string(path);
    return std::string(base.path.substr(0, slash + 1)) + std::string(path);
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

std::string joined_uri(
    const UriParts& scheme_from,
    const UriParts& authority_from,
    std::string_view path,
    std::optional<std::string_view> query
) {
    std::string uri;
    if (scheme_from.scheme) uri.append(*scheme_from.scheme).append(":");
    if (authority_from.authority) uri.append("//").append(*authority_from.authority);
    uri.append(path);
    if (query) uri.append("?").append(*query);
    return uri;
}

}  // namespace

std::optional<Reference> resolve(std::string_view base, std::string_view reference) {
    const auto b = split_uri(base);
    const auto r = split_uri(reference);
    auto fragment = percent_decoded(r.fragment.value_or(""));
    if (!fragment) return std::nullopt;
    std::string uri;
    if (r.scheme) {
        uri = joined_uri(r, r, without_dot_segments(r.path), r.query);
    } else if (r.authority) {
        uri = joined_uri(b, r, without_dot_segments(r.path), r.query);
    } else if (r.path.empty()) {
        uri = joined_uri(b, b, b.path, r.query ? r.query : b.query);
    } else {
        const auto path = r.path.front() == '/' ? std::string(r.path) : merged_path(b, r.path);
        uri = joined_uri(b, b, without_dot_segments(path), r.query);
    }
    return Reference{std::move(uri), std::move(*fragment)};
}

std::optional<std::string> unescaped_token(std::string_view token) {
    std::string out;
    for (std::size_t i = 0; i < token.size(); ++i) {
        if (token[i] != '~') {
            out += token[i];
            continue;
        }
        if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
        out += token[i] == '0' ? '~' : '/';
    }
    return out;
}

bool valid_uri_reference(std::string_view text) {
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%";
    if (text.find_first_not_of(allowed) != std::string_view::npos) return false;
    if (!percent_decoded(text)) return false;
    const auto parts = split_uri(text);
    if (parts.fragment && parts.fragment->find_first_of("#[]") != std::string_view::npos) {
        return false;
    }
    if (parts.path.find_first_of("[]") != std::string_view::npos) return false;
    // A first segment with a colon would have been a scheme.
    const auto first = parts.path.substr(0, parts.path.find('/'));
    return parts.scheme || parts.authority || first.find(':') == std::string_view::npos;
}

bool absolute_uri(std::string_view text) {
    return valid_uri_reference(text) && split_uri(text).scheme.has_value();
}

}  // namespace base::schema
