#include "base/length.hpp"

#include <doctest/doctest.h>

#include <string>

using base::length_within;
using base::seconds;

TEST_CASE("a duration beyond its limits is reported with its text and the limits, however long") {
    const base::LengthRange range{seconds(1), seconds(3600)};
    REQUIRE(length_within("90s", range));
    CHECK(*length_within("90s", range) == seconds(90));
    CHECK(*length_within("1h", range) == seconds(3600));
    for (const char* text : {"0s", "2h", "61m", "9223372036854775807d", "99999999999999999999d"}) {
        const auto refused = length_within(text, range);
        REQUIRE_FALSE_MESSAGE(refused, text);
        CHECK(
            refused.error().message == "must be from 1s to 1h, not \"" + std::string(text) + "\""
        );
    }
    for (const char* text : {"", "s", "5", "-1s", "1 s", "1w", "1h30m"}) {
        const auto refused = length_within(text, range);
        REQUIRE_FALSE_MESSAGE(refused, text);
        CHECK(refused.error().message.contains("such as '250ms'"));
    }
    const auto longer = length_within(std::string(59, 'a') + "\xC3\xA9", range);
    REQUIRE_FALSE(longer);
    CHECK_FALSE(longer.error().message.contains('\xC3'));
}
