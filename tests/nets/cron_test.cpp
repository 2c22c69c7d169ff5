#include "nets/cron.hpp"

#include <doctest/doctest.h>

#include <array>
#include <date/tz.h>
#include <fmt/format.h>
#include <random>
#include <set>
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

using Numbers = std::mt19937_64;

int below(Numbers& random, int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
}

/// One field as it is written, and the numbers that it means.
struct Field {
    std::string text;
    std::set<int> values;
    bool stepped = false;
};

struct Range {
    int min;
    int max;
};

void add_part(Field& field, Numbers& random, Range range) {
    const auto [min, max] = range;
    const int kind = below(random, 4);
    int first = min + below(random, max - min + 1);
    int last = kind == 0 ? first : first + below(random, max - first + 1);
    std::string text = kind == 0 ? std::to_string(first) : fmt::format("{}-{}", first, last);
    if (kind == 3) {
        first = min;
        last = max;
        text = "*";
    }
    int step = 1;
    if (kind == 0 && below(random, 4) == 0) {
        last = max;  // n/step runs to the end
        step = 1 + below(random, 5);
        text += fmt::format("/{}", step);
        field.stepped = true;
    } else if (kind != 0 && below(random, 3) == 0) {
        step = 1 + below(random, 5);
        text += fmt::format("/{}", step);
        field.stepped = true;
    }
    for (int value = first; value <= last; value += step)
        field.values.insert(value);
    field.text += (field.text.empty() ? "" : ",") + text;
}

Field random_field(Numbers& random, Range range) {
    Field field;
    for (int parts = 1 + below(random, 2); parts > 0; --parts)
        add_part(field, random, range);
    return field;
}

/// What a person does who looks at the clock in the room every minute.
struct Watcher {
    Field minute;
    Field hour;
    Field weekday;
    const date::time_zone& zone;

    [[nodiscard]] std::string expression() const {
        return fmt::format("{} {} * * {}", minute.text, hour.text, weekday.text);
    }
    [[nodiscard]] bool fits(date::local_seconds at) const {
        const auto day = date::floor<date::days>(at);
        const auto of_day = at - date::local_seconds(day);
        const auto in_hours = std::chrono::floor<std::chrono::hours>(of_day);
        return hour.values.contains(static_cast<int>(in_hours.count())) &&
               minute.values.contains(static_cast<int>(
                   std::chrono::floor<std::chrono::minutes>(of_day - in_hours).count()
               )) &&
               weekday.values.contains(static_cast<int>(date::weekday(day).c_encoding()));
    }
    [[nodiscard]] bool turn(date::sys_seconds at) const {
        const auto now = zone.get_info(at);
        const date::local_seconds local{at.time_since_epoch() + now.offset};
        const bool real_time = hour.stepped || hour.values.size() == 24;
        if (fits(local) && (real_time || zone.get_info(local).first.offset == now.offset))
            return true;
        if (real_time || at != now.begin) return false;
        const auto before = zone.get_info(at - std::chrono::seconds(1)).offset;
        for (date::local_seconds left{at.time_since_epoch() + before}; left < local;
             left += std::chrono::minutes(1)) {
            if (fits(left)) return true;
        }
        return false;
    }
};

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

TEST_CASE("a range from Sunday to Sunday is one day, however it is written") {
    for (const char* sunday :
         {"0", "7", "SUN", "0-0", "7-7", "7-0", "SUN-SUN", "sun-sun", "7-7/2"}) {
        CAPTURE(sunday);
        CHECK(fields(fmt::format("0 0 * * {}", sunday)).weekdays.to_ulong() == 1U);
    }
    CHECK(fields("0 0 * * 0-7").weekdays.all());
    CHECK(fields("0 0 * * MON-SUN").weekdays.all());
    CHECK(fields("0 0 * * 7/2").weekdays == fields("0 0 * * 0,2,4,6").weekdays);
}

TEST_CASE("only in the last field 7 is Sunday: a step from 7 begins at 7") {
    CHECK(fields("7/20 * * * *").minutes == fields("7,27,47 * * * *").minutes);
    CHECK(fields("0 7/8 * * *").hours == fields("0 7,15,23 * * *").hours);
    CHECK(fields("0 0 7/12 * *").days == fields("0 0 7,19,31 * *").days);
    CHECK(fields("0 0 1 7/2 *").months == fields("0 0 1 7,9,11 *").months);
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
}

TEST_CASE("with every hour, or a step of hours, a cron timer follows real time over both changes") {
    // Europe/Berlin, 31 October 2027 has 25 hours, 28 March 2027 has 23.
    const auto quarters = [](std::string_view after, std::string_view until) {
        std::size_t count = 0;
        for (auto at = *base::timestamp(after); at < *base::timestamp(until); ++count)
            at = *nets::next_turn(fields("*/15 * * * *"), "Europe/Berlin", at);
        return count;
    };
    CHECK(quarters("2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z") == 100);
    CHECK(quarters("2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z") == 92);
    CHECK(
        turns("0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", 3) ==
        Turns{"2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01T07:00"}
    );
    CHECK(
        turns("0 */2 * * *", "Europe/Berlin", "2027-10-30T21:00:00Z", 4) ==
        Turns{"2027-10-30T22:00", "2027-10-31T00:00", "2027-10-31T01:00", "2027-10-31T03:00"}
    );
    CHECK(
        turns("7/15 * * * *", "Europe/Berlin", "2027-03-28T00:50:00Z", 2) ==
        Turns{"2027-03-28T00:52", "2027-03-28T01:07"}
    );
}

TEST_CASE("random expressions have the turns that somebody who watches the clock sees") {
    struct Change {
        const char* zone;
        const char* from;
    };
    constexpr std::array changes = {
        Change{"Europe/Berlin", "2027-03-27T12:00:00Z"},
        Change{"Europe/Berlin", "2027-10-30T12:00:00Z"},
        Change{"America/New_York", "2026-03-07T12:00:00Z"},
        Change{"America/New_York", "2026-10-31T12:00:00Z"},
        Change{"Australia/Lord_Howe", "2026-04-04T03:00:00Z"},  // half an hour
        Change{"Australia/Lord_Howe", "2026-10-03T03:00:00Z"},
        Change{"Asia/Kolkata", "2026-01-01T00:00:00Z"},
    };
    constexpr auto length = std::chrono::hours(40);
    for (unsigned seed = 1; seed <= 120; ++seed) {
        Numbers random(seed);
        const auto& [zone, from] = changes[random() % changes.size()];
        const Watcher watcher{
            random_field(random, {0, 59}),
            random_field(random, {0, 23}),
            random_field(random, {0, 6}),
            *date::locate_zone(zone)
        };
        CAPTURE(seed);
        CAPTURE(zone);
        CAPTURE(watcher.expression());
        const auto parsed = fields(watcher.expression());
        auto found = nets::next_turn(parsed, zone, *base::timestamp(from));
        const date::sys_seconds begin{std::chrono::seconds(base::timestamp(from)->us / 1'000'000)};
        for (auto at = begin + std::chrono::minutes(1); at < begin + length;
             at += std::chrono::minutes(1)) {
            if (!watcher.turn(at)) continue;
            const base::Timestamp seen{at.time_since_epoch().count() * 1'000'000};
            REQUIRE(found == seen);
            found = nets::next_turn(parsed, zone, seen);
        }
        if (found) REQUIRE(*found >= *base::timestamp(from) + base::seconds(40 * 3600));
    }
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
