#include "nets/cron.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

nets::CronFields fields(std::string_view text) {
    const auto parsed = nets::parse_cron(text);
    REQUIRE_MESSAGE(parsed, text);
    return *parsed;
}

/// The next turns, in UTC, without seconds.
std::vector<std::string> turns(
    std::string_view cron, std::string_view zone, std::string_view after, std::size_t count
) {
    auto at = *base::timestamp(after);
    std::vector<std::string> found;
    while (found.size() < count) {
        const auto next = nets::next_turn(fields(cron), zone, at);
        REQUIRE(next);
        REQUIRE(*next > at);
        at = *next;
        found.push_back(base::rfc3339(at).substr(0, 16));
    }
    return found;
}

using Turns = std::vector<std::string>;

}  // namespace

TEST_CASE("lists, ranges, steps and names say when a cron timer fires") {
    CHECK(
        turns("*/20 6,18 * * *", "UTC", "2026-03-01T06:20:00Z", 4) ==
        Turns{"2026-03-01T06:40", "2026-03-01T18:00", "2026-03-01T18:20", "2026-03-01T18:40"}
    );
    CHECK(
        turns("0 9 * jan-mar Mon-Fri", "UTC", "2026-03-31T10:00:00Z", 2) ==
        Turns{"2027-01-01T09:00", "2027-01-04T09:00"}
    );
    CHECK(
        turns("5-10/5 0 1 * *", "UTC", "2026-01-01T00:07:00Z", 2) ==
        Turns{"2026-01-01T00:10", "2026-02-01T00:05"}
    );
    CHECK(
        turns("30/15 12 1 6 *", "UTC", "2026-01-01T00:00:00Z", 2) ==
        Turns{"2026-06-01T12:30", "2026-06-01T12:45"}
    );
    // Sunday is 0 and 7, and the end of a range.
    CHECK(turns("0 0 * * 7", "UTC", "2026-03-01T12:00:00Z", 1) == Turns{"2026-03-08T00:00"});
    CHECK(turns("0 0 * * SAT-SUN", "UTC", "2026-03-01T12:00:00Z", 1) == Turns{"2026-03-07T00:00"});
}

TEST_CASE("a day fits by its date or by its weekday when both are given") {
    CHECK(
        turns("0 0 13 * FRI", "UTC", "2026-02-06T00:00:00Z", 3) ==
        Turns{"2026-02-13T00:00", "2026-02-20T00:00", "2026-02-27T00:00"}
    );
    CHECK(
        turns("0 0 15 * FRI", "UTC", "2026-02-13T00:00:00Z", 2) ==
        Turns{"2026-02-15T00:00", "2026-02-20T00:00"}
    );
}

TEST_CASE("29 February comes in leap years alone, eight years apart around 2100") {
    CHECK(
        turns("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 2) ==
        Turns{"2028-02-29T00:00", "2032-02-29T00:00"}
    );
    CHECK(turns("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1) == Turns{"2104-02-29T00:00"});
    CHECK(
        turns("0 0 31 * *", "UTC", "2026-02-01T00:00:00Z", 2) ==
        Turns{"2026-03-31T00:00", "2026-05-31T00:00"}
    );
}

TEST_CASE("a time that the change to summer time leaves out comes once, at the change") {
    // Berlin, 29 March 2026: 02:00 becomes 03:00, at 01:00 UTC.
    CHECK(
        turns("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3) ==
        Turns{"2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"}
    );
    CHECK(
        turns("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", 3) ==
        Turns{"2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"}
    );
    // New York, 8 March 2026, at 07:00 UTC.
    CHECK(
        turns("15,45 2 * * *", "America/New_York", "2026-03-08T00:00:00Z", 3) ==
        Turns{"2026-03-08T07:00", "2026-03-09T06:15", "2026-03-09T06:45"}
    );
}

TEST_CASE("a time that the change back repeats comes once, the first time") {
    // Berlin, 25 October 2026: 03:00 becomes 02:00, at 01:00 UTC.
    CHECK(
        turns("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) ==
        Turns{"2026-10-25T00:30", "2026-10-26T01:30"}
    );
    CHECK(
        turns("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1) == Turns{"2026-10-26T01:30"}
    );
    // New York, 1 November 2026, at 06:00 UTC.
    CHECK(
        turns("30 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", 2) ==
        Turns{"2026-11-01T05:30", "2026-11-02T06:30"}
    );
    CHECK(
        turns("0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", 2) ==
        Turns{"2026-11-01T05:00", "2026-11-01T07:00"}
    );
}

TEST_CASE("a zone has its own midnight, and one that is not known has no turns") {
    CHECK(
        turns("0 0 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", 1) == Turns{"2026-01-01T18:30"}
    );
    CHECK(nets::zone_known("Europe/Berlin"));
    CHECK_FALSE(nets::zone_known("Europe/Atlantis"));
    CHECK_FALSE(nets::next_turn(fields("* * * * *"), "Europe/Atlantis", {}).has_value());
}

TEST_CASE("what is no cron expression is refused with every field that is wrong") {
    for (const char* wrong :
         {"",
          "* * * *",
          "* * * * * *",
          "60 * * * *",
          "* 24 * * *",
          "* * 0 * *",
          "* * * 13 *",
          "* * * * 8",
          "-1 * * * *",
          "1-0 * * * *",
          "*/0 * * * *",
          "a * * * *",
          "1,,2 * * * *",
          "* * * MON *",
          "0 0 31 2,4 *",
          "@daily"}) {
        CAPTURE(wrong);
        CHECK_FALSE(nets::parse_cron(wrong).has_value());
    }
    CHECK(nets::parse_cron("99 99 99 99 99").error().details.size() == 5);
}
