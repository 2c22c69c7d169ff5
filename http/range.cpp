#include "http/range.hpp"

#include "http/status.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace http {

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Digits alone; more than 64 bits hold are beyond every end all the same.
std::optional<std::uint64_t> position(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc::result_out_of_range ? largest : value;
}

/// One `A-B`, `A-` or `-N`. None: malformed.
std::optional<RangeAsked> part_of(std::string_view text, std::uint64_t size) {
    using Kind = RangeAsked::Kind;
    const auto dash = text.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    if (dash == 0) {
        const auto last_bytes = position(text.substr(1));
        if (!last_bytes) return std::nullopt;
        if (*last_bytes == 0) return RangeAsked{.kind = Kind::unsatisfiable};
        // All of nothing cannot be written as a part.
        if (size == 0) return RangeAsked{};
        const auto length = std::min(*last_bytes, size);
        return RangeAsked{Kind::part, size - length, length};
    }
    const auto first = position(text.substr(0, dash));
    const bool open = dash + 1 == text.size();
    const auto last = open ? largest : position(text.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    if (*first >= size) return RangeAsked{.kind = Kind::unsatisfiable};
    return RangeAsked{Kind::part, *first, std::min(*last, size - 1) - *first + 1};
}

}  // namespace

RangeAsked range_of(const Request& request, std::uint64_t size, std::string_view etag) {
    using Kind = RangeAsked::Kind;
    const auto headers = request.headers.all("Range");
    if (request.method != Method::get || headers.size() != 1) return {};
    if (const auto condition = request.headers.find("If-Range"); condition && *condition != etag)
        return {};
    const auto equals = headers.front().find('=');
    if (equals == std::string_view::npos ||
        !same_ignoring_case(headers.front().substr(0, equals), "bytes"))
        return {};
    std::string_view left = headers.front().substr(equals + 1);
    std::size_t asked = 0;
    std::optional<RangeAsked> given;
    while (true) {
        const auto comma = left.find(',');
        if (const auto text = trimmed(left.substr(0, comma)); !text.empty()) {
            const auto part = part_of(text, size);
            if (!part) return {};
            ++asked;
            if (part->kind == Kind::whole || (part->kind == Kind::part && given)) return {};
            if (part->kind == Kind::part) given = part;
        }
        if (comma == std::string_view::npos) break;
        left.remove_prefix(comma + 1);
    }
    if (given) return *given;
    return {.kind = asked > 0 ? Kind::unsatisfiable : Kind::whole};
}

std::string content_range(const RangeAsked& range, std::uint64_t size) {
    if (range.kind != RangeAsked::Kind::part) return fmt::format("bytes */{}", size);
    return fmt::format("bytes {}-{}/{}", range.offset, range.offset + range.length - 1, size);
}

Response range_error(std::uint64_t size) {
    auto response = error_response(
        416,
        {base::ErrorCode::validation,
         fmt::format("no byte of the range exists: there are {} bytes", size),
         "ask for bytes=A-B with A less than that, or leave the Range header out",
         {}}
    );
    response.headers.set(
        "Content-Range", content_range({.kind = RangeAsked::Kind::unsatisfiable}, size)
    );
    return response;
}

}  // namespace http
