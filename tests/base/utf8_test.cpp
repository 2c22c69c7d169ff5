#include "base/utf8.hpp"

#include "base/json.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("a preview is at most as long as asked for, and never has a part of a character") {
    // Characters of every length, and bytes that are none.
    const std::string text =
        "x\u00e9\u20ac\U0001F600\xff\xc3\u20ac\xf0\x9f\u00e9\x80\x80\u20acy\U0001F600\xe2\x82";
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        const auto part = std::string_view(text).substr(begin);
        const auto all = base::lossy_utf8(part);
        CHECK(base::valid_utf8(all));
        for (std::size_t size = 0; size <= all.size() + 1; ++size) {
            CAPTURE(begin);
            CAPTURE(size);
            const auto head = base::preview_head(part, size);
            const auto tail = base::preview_tail(part, size);
            CHECK(base::valid_utf8(head));
            CHECK(base::valid_utf8(tail));
            CHECK(head.size() <= size);
            CHECK(tail.size() <= size);
            // What is shown is what is there: no character was cut and replaced.
            CHECK(all.starts_with(head));
            CHECK(all.ends_with(tail));
        }
    }
}

TEST_CASE("valid text is shown up to the last character that fits") {
    std::string text;
    for (int i = 0; i < 20; ++i)
        text += "a\u00e9\u20ac\U0001F600";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        CHECK(size - base::preview_head(text, size).size() < 4);
        CHECK(size - base::preview_tail(text, size).size() < 4);
    }
    CHECK(base::preview_head(text, text.size()) == text);
    CHECK(base::preview_tail(text, text.size()) == text);
}

TEST_CASE("bytes that belong to no character are replaced one by one") {
    CHECK(
        base::lossy_utf8("a\xff\xfe"
                         "b") == "a\uFFFD\uFFFDb"
    );
    CHECK(base::lossy_utf8("\xe2\x82") == "\uFFFD\uFFFD");
    CHECK(base::preview_head("a\u00e9b", 2) == "a");
    CHECK(base::preview_tail("\u20ac\u20acx", 3) == "x");
}

TEST_CASE("a message that is shortened says how long it was") {
    CHECK(base::shortened("short", 5) == "short");
    CHECK(base::shortened("a\u20acbc", 3) == "a ... (6 bytes in all)");
}
