#include "http/range.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <string>
#include <vector>

namespace {

using Kind = http::RangeAsked::Kind;

http::RangeAsked asked(const std::string& range, std::uint64_t size) {
    http::Request request;
    request.headers.add("Range", range);
    return http::range_of(request, size, "\"tag\"");
}

std::string shown(const http::RangeAsked& range, std::uint64_t size) {
    if (range.kind == Kind::whole) return "whole";
    return http::content_range(range, size);
}

// The positions that `first-last` names, one by one: what the parser's arithmetic must come to.
std::string by_counting(std::uint64_t first, std::uint64_t last, std::uint64_t size) {
    if (last < first) return "whole";
    std::vector<std::uint64_t> named;
    for (std::uint64_t at = first; at <= last; ++at)
        if (at < size) named.push_back(at);
    if (named.empty()) return fmt::format("bytes */{}", size);
    return fmt::format("bytes {}-{}/{}", named.front(), named.back(), size);
}

}  // namespace

TEST_CASE("a range names the bytes that RFC 9110 says, whatever the size") {
    for (std::uint64_t size = 0; size < 6; ++size) {
        for (std::uint64_t first = 0; first < 8; ++first) {
            CHECK(
                shown(asked(fmt::format("bytes={}-", first), size), size) ==
                by_counting(first, 10, size)
            );
            for (std::uint64_t last = 0; last < 8; ++last) {
                const auto text = fmt::format("bytes={}-{}", first, last);
                CAPTURE(text);
                CHECK(shown(asked(text, size), size) == by_counting(first, last, size));
            }
        }
        for (std::uint64_t count = 0; count < 8; ++count) {
            const auto text = fmt::format("bytes=-{}", count);
            CAPTURE(text);
            const auto wanted = count == 0  ? fmt::format("bytes */{}", size)
                                : size == 0 ? "whole"
                                            : by_counting(size - std::min(count, size), 9, size);
            CHECK(shown(asked(text, size), size) == wanted);
        }
    }
}

TEST_CASE("what is not a set of byte ranges is ignored") {
    for (const char* text :
         {"bytes",
          "bytes=",
          "bytes=-",
          "bytes=a-",
          "bytes=1-b",
          "bytes=1",
          "bytes=+1-2",
          "bytes=1--2",
          "bytes=5-2",
          "bytes=0-1,5-2",
          "lines=0-1",
          "bytes = 0-1",
          "bytes=0 -1"})
        CHECK_MESSAGE(asked(text, 10).kind == Kind::whole, text);
    CHECK(shown(asked("BYTES=0-1", 10), 10) == "bytes 0-1/10");
    CHECK(shown(asked("bytes= 0-1 ,", 10), 10) == "bytes 0-1/10");
}

TEST_CASE("of several ranges the one that can be given is, and several are the whole") {
    CHECK(shown(asked("bytes=0-1,4-5", 10), 10) == "whole");
    CHECK(shown(asked("bytes=99-,4-5", 10), 10) == "bytes 4-5/10");
    CHECK(shown(asked("bytes=99-,-0", 10), 10) == "bytes */10");
}

TEST_CASE("a position of any number of digits is read without overflow") {
    const std::string huge(100, '9');
    CHECK(shown(asked("bytes=" + huge + "-", 10), 10) == "bytes */10");
    CHECK(shown(asked("bytes=3-" + huge, 10), 10) == "bytes 3-9/10");
    CHECK(shown(asked("bytes=-" + huge, 10), 10) == "bytes 0-9/10");
    CHECK(shown(asked("bytes=0-18446744073709551615", 10), 10) == "bytes 0-9/10");
}

TEST_CASE("a range counts for GET, sent once, and under the right If-Range") {
    http::Request request;
    request.headers.add("Range", "bytes=0-1");
    request.headers.add("If-Range", "\"tag\"");
    CHECK(http::range_of(request, 10, "\"tag\"").kind == Kind::part);
    CHECK(http::range_of(request, 10, "\"other\"").kind == Kind::whole);
    request.headers.remove("If-Range");
    request.method = http::Method::head;
    CHECK(http::range_of(request, 10, "\"tag\"").kind == Kind::whole);
    request.method = http::Method::get;
    request.headers.add("Range", "bytes=2-3");
    CHECK(http::range_of(request, 10, "\"tag\"").kind == Kind::whole);
}
