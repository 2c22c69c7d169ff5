#include "base/limits.hpp"

#include <doctest/doctest.h>

namespace limits = base::limits;

TEST_CASE("the depth of a JSON text counts objects and lists, and nothing inside strings") {
    CHECK(limits::json_depth("1") == 0);
    CHECK(limits::json_depth("[]") == 1);
    CHECK(limits::json_depth(R"({"a":[1,{"b":2}],"c":{}})") == 3);
    CHECK(limits::json_depth(R"(["[[[","\"[{",{"\\":"]"}])") == 2);
}

TEST_CASE("text for a record is valid UTF-8, and where it is cut it says by how much") {
    CHECK(limits::recordable_text("plain \xC3\xA9", 100) == "plain \xC3\xA9");
    CHECK(limits::recordable_text("\xFFx\xC3", 100) == "\xEF\xBF\xBDx\xEF\xBF\xBD");
    CHECK(limits::recordable_text("abc\xC3\xA9xyz", 4) == "abc ... (5 more bytes)");
    CHECK(base::valid_utf8(limits::recordable_text(std::string(1000, '\x80'), 10)));
}

TEST_CASE("what is stored is read with more room than what is accepted, for what wraps it") {
    CHECK(limits::stored.depth_max >= limits::accepted.depth_max + 64 + 16);
    CHECK(limits::stored.bytes_max >= 4 * limits::accepted.bytes_max);
    CHECK(limits::call_bytes_max <= limits::stored.bytes_max);
    CHECK(limits::token_bytes_max <= limits::firing_bytes_max);
    CHECK(limits::args_bytes_max <= limits::input_bytes_max);
}
