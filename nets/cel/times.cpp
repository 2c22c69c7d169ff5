#include "nets/cel/times.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <date/date.h>
#include <date/tz.h>
#include <fmt/format.h>
#include <stdexcept>

namespace nets::cel {

namespace {

constexpr std::int64_t timestamp_seconds_min = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t timestamp_seconds_max = 253'402'300'799;  // 9999-12-31T23:59:59Z
constexpr std::int32_t nanoseconds_in_second = 1'000'000'000;

std::unexpected<base::Error> wrong_time(std::string message) {
    return base::fail(base::ErrorCode::validation, std::move(message));
}

// Seconds and nanoseconds stay far from the ends of their types, so sums do not overflow.
Span sum(Span left, Span right) {
    Span result{left.seconds + right.seconds, left.nanoseconds + right.nanoseconds};
    if (result.nanoseconds >= nanoseconds_in_second) {
        result.nanoseconds -= nanoseconds_in_second;
        ++result.seconds;
    }
    return result;
}

Span negated(Span span) {
    if (span.nanoseconds == 0) return {-span.seconds, 0};
    return {-span.seconds - 1, nanoseconds_in_second - span.nanoseconds};
}

// `count` digits from the front of `text`, which is shortened; none when they are not there.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// ".25" -> 250'000'000; nothing there -> 0.
std::optional<std::int32_t> take_fraction(std::string_view& text) {
    if (!take(text, ".")) return 0;
    std::int32_t value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        if (digits < 9) value = value * 10 + (text[digits] - '0');
        ++digits;
    }
    if (digits == 0 || digits > 9) return std::nullopt;
    for (std::size_t i = digits; i < 9; ++i)
        value *= 10;
    text.remove_prefix(digits);
    return value;
}

// "Z", "+02:00", "-09:30" -> minutes east of Greenwich.
std::optional<int> take_offset(std::string_view& text) {
    if (take(text, "Zz")) return 0;
    const bool west = text.starts_with('-');
    if (!take(text, "+-")) return std::nullopt;
    const auto hours = take_digits(text, 2);
    if (!hours || !take(text, ":")) return std::nullopt;
    const auto minutes = take_digits(text, 2);
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    const int offset = *hours * 60 + *minutes;
    return west ? -offset : offset;
}

std::optional<Span> parse_timestamp(std::string_view text) {
    const auto year = take_digits(text, 4);
    if (!year || !take(text, "-")) return std::nullopt;
    const auto month = take_digits(text, 2);
    if (!month || !take(text, "-")) return std::nullopt;
    const auto day = take_digits(text, 2);
    if (!day || !take(text, "Tt")) return std::nullopt;
    const auto hour = take_digits(text, 2);
    if (!hour || !take(text, ":")) return std::nullopt;
    const auto minute = take_digits(text, 2);
    if (!minute || !take(text, ":")) return std::nullopt;
    const auto second = take_digits(text, 2);
    if (!second) return std::nullopt;
    const auto fraction = take_fraction(text);
    if (!fraction) return std::nullopt;
    const auto offset = take_offset(text);
    if (!offset || !text.empty()) return std::nullopt;
    const date::year_month_day ymd(
        date::year(*year),
        date::month(static_cast<unsigned>(*month)),
        date::day(static_cast<unsigned>(*day))
    );
    if (!ymd.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    const std::int64_t days = date::sys_days(ymd).time_since_epoch().count();
    const std::int64_t minutes = days * 1440 + *hour * 60 + *minute - *offset;
    return Span{minutes * 60 + *second, *fraction};
}

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};

constexpr std::array<Unit, 7> units = {{
    {"ns", 1},
    {"us", 1'000},
    {"µs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

using Wide = __int128;

// One "1.5h"; the text is shortened. The result is far below what Wide holds.
std::optional<Wide> take_component(std::string_view& text) {
    std::int64_t whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    const auto digits = static_cast<std::size_t>(read.ptr - text.data());
    if (text.starts_with('-') || read.ec == std::errc::result_out_of_range) return std::nullopt;
    if (digits == 0 && !text.starts_with('.')) return std::nullopt;
    text.remove_prefix(digits);
    const auto fraction = take_fraction(text);
    if (!fraction) return std::nullopt;
    // "ms" before "m" and "s": the units are in that order.
    for (const Unit& unit : units) {
        if (!text.starts_with(unit.name)) continue;
        text.remove_prefix(unit.name.size());
        return Wide(whole) * unit.nanoseconds +
               Wide(*fraction) * unit.nanoseconds / nanoseconds_in_second;
    }
    return std::nullopt;
}

const date::time_zone* find_zone(std::string_view name) {
    try {
        return date::locate_zone(std::string(name));
    } catch (const std::exception&) {
        return nullptr;
    }
}

base::Result<std::int64_t> offset_seconds(Span at, std::string_view zone) {
    if (zone.empty() || zone == "UTC" || zone == "Z") return 0;
    if (zone.find(':') != std::string_view::npos) {
        const bool sign = zone.front() == '+' || zone.front() == '-';
        const std::string with_sign = (sign ? "" : "+") + std::string(zone);
        std::string_view rest = with_sign;
        const auto minutes = take_offset(rest);
        if (!minutes || !rest.empty()) {
            return wrong_time(fmt::format("'{}' is no offset such as +02:00", zone));
        }
        return *minutes * 60;
    }
    const date::time_zone* found = find_zone(zone);
    if (!found) return wrong_time(fmt::format("unknown time zone '{}'", zone));
    const date::sys_seconds moment{std::chrono::seconds(at.seconds)};
    return found->get_info(moment).offset.count();
}

}  // namespace

base::Result<Value> timestamp_in_range(Span since_epoch) {
    if (since_epoch.seconds < timestamp_seconds_min ||
        since_epoch.seconds > timestamp_seconds_max) {
        return wrong_time("the timestamp is outside the years 1 to 9999");
    }
    return Value::timestamp(since_epoch);
}

base::Result<Value> duration_in_range(Span length) {
    const Wide nanoseconds = Wide(length.seconds) * nanoseconds_in_second + length.nanoseconds;
    if (nanoseconds < INT64_MIN || nanoseconds > INT64_MAX) {
        return wrong_time("the duration is over 292 years");
    }
    return Value::duration(length);
}

base::Result<Value> time_arithmetic(bool subtract, const Value& left, const Value& right) {
    const Span span = sum(left.as_span(), subtract ? negated(right.as_span()) : right.as_span());
    const bool point = left.is(Kind::timestamp) != right.is(Kind::timestamp);
    return point ? timestamp_in_range(span) : duration_in_range(span);
}

base::Result<Value> read_timestamp(std::string_view text) {
    const auto span = parse_timestamp(text);
    if (!span) {
        return wrong_time(
            fmt::format("'{}' is no timestamp such as 2026-01-31T12:00:00Z", text.substr(0, 40))
        );
    }
    return timestamp_in_range(*span);
}

base::Result<Value> read_duration(std::string_view text) {
    std::string_view rest = text;
    const bool negative = rest.starts_with('-');
    take(rest, "+-");
    Wide total = 0;
    const auto refuse = [&] {
        return wrong_time(
            fmt::format("'{}' is no duration such as 1h30m or 2.5s", text.substr(0, 40))
        );
    };
    if (rest.empty()) return refuse();
    if (rest == "0") rest = {};
    while (!rest.empty()) {
        const auto component = take_component(rest);
        if (!component) return refuse();
        total += *component;
        if (total > Wide(INT64_MAX) + 1) return wrong_time("the duration is over 292 years");
    }
    if (negative) total = -total;
    if (total > INT64_MAX || total < INT64_MIN) return wrong_time("the duration is over 292 years");
    auto seconds = static_cast<std::int64_t>(total / nanoseconds_in_second);
    auto nanoseconds = static_cast<std::int32_t>(total % nanoseconds_in_second);
    if (nanoseconds < 0) {
        nanoseconds += nanoseconds_in_second;
        --seconds;
    }
    return Value::duration({seconds, nanoseconds});
}

base::Result<CivilTime> civil_time(Span since_epoch, std::string_view zone) {
    const auto offset = offset_seconds(since_epoch, zone);
    if (!offset) return std::unexpected(offset.error());
    const date::sys_seconds local{std::chrono::seconds(since_epoch.seconds + *offset)};
    const auto day = date::floor<date::days>(local);
    const date::year_month_day ymd(day);
    const date::hh_mm_ss<std::chrono::seconds> time(local - day);
    const date::sys_days new_year(ymd.year() / date::January / 1);
    return CivilTime{
        .year = static_cast<int>(ymd.year()),
        .month = static_cast<int>(static_cast<unsigned>(ymd.month())) - 1,
        .day = static_cast<int>(static_cast<unsigned>(ymd.day())) - 1,
        .weekday = static_cast<int>(date::weekday(day).c_encoding()),
        .day_of_year = static_cast<int>((day - new_year).count()),
        .hour = static_cast<int>(time.hours().count()),
        .minute = static_cast<int>(time.minutes().count()),
        .second = static_cast<int>(time.seconds().count()),
    };
}

}  // namespace nets::cel
