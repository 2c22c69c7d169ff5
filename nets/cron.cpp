#include "nets/cron.hpp"

#include "nets/faults.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <date/tz.h>
#include <exception>
#include <fmt/format.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nets {

namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t cron_bytes_max = 256;
// 29 February can be eight years away, around 2100.
constexpr int days_ahead_max = 9 * 366;

constexpr std::array<std::string_view, 12> month_names = {
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"
};
constexpr std::array<std::string_view, 7> weekday_names = {
    "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"
};

constexpr int sunday_too = 7;  // of the last field only

struct FieldRule {
    std::string_view name;
    int min;
    int max;
    std::span<const std::string_view> names;
    int first_name;
};
constexpr std::array<FieldRule, 5> field_rules = {
    FieldRule{"minute", 0, 59, {}, 0},
    FieldRule{"hour", 0, 23, {}, 0},
    FieldRule{"day of the month", 1, 31, {}, 0},
    FieldRule{"month", 1, 12, month_names, 1},
    FieldRule{"day of the week", 0, sunday_too, weekday_names, 0},
};

std::string upper(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return made;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && !text.starts_with('-') ? std::optional(value) : std::nullopt;
}

std::optional<int> value_of(std::string_view text, const FieldRule& rule) {
    const auto named = std::ranges::find(rule.names, upper(text));
    if (named != rule.names.end()) {
        return rule.first_name + static_cast<int>(named - rule.names.begin());
    }
    const auto value = number(text);
    return value && *value >= rule.min && *value <= rule.max ? value : std::nullopt;
}

// One part of a list: `*`, `n`, `a-b`, with or without a step. "" when it is good.
std::string read_part(std::string_view part, const FieldRule& rule, std::vector<int>& values) {
    const auto slash = part.find('/');
    const auto range = part.substr(0, slash);
    int step = 1;
    if (slash != std::string_view::npos) {
        const auto given = number(part.substr(slash + 1));
        if (!given || *given < 1 || *given > rule.max) {
            return fmt::format(
                "the step in {} is no number from 1 to {}", in_quotes(part), rule.max
            );
        }
        step = *given;
    }
    int first = rule.min;
    int last = rule.max == sunday_too ? sunday_too - 1 : rule.max;
    if (range != "*") {
        const auto dash = range.find('-');
        const auto low = value_of(range.substr(0, dash), rule);
        auto high = dash == std::string_view::npos ? low : value_of(range.substr(dash + 1), rule);
        if (dash != std::string_view::npos && rule.max == sunday_too && high == 0 && low != 0) {
            high = sunday_too;  // FRI-SUN, but SUN-SUN is one day
        }
        if (!low || !high) {
            return fmt::format("{} is not from {} to {}", in_quotes(range), rule.min, rule.max);
        }
        if (*low > *high) return fmt::format("{} runs backwards", in_quotes(range));
        const bool to_the_end = dash == std::string_view::npos && slash != std::string_view::npos;
        first = to_the_end && rule.max == sunday_too && *low == sunday_too ? 0 : *low;
        if (!to_the_end) last = *high;
    }
    for (int value = first; value <= last; value += step)
        values.push_back(value);
    return "";
}

template <std::size_t N>
void set_all(std::bitset<N>& bits, const std::vector<int>& values) {
    for (const int value : values)
        bits.set(static_cast<std::size_t>(value));
}

// The longest that a month can be.
int days_in(int month) {
    constexpr std::array<int, 12> days = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[static_cast<std::size_t>(month - 1)];
}

bool ever_comes(const CronFields& fields) {
    if (!fields.any_weekday) return true;
    for (int month = 1; month <= 12; ++month) {
        if (!fields.months.test(static_cast<std::size_t>(month))) continue;
        for (int day = 1; day <= days_in(month); ++day)
            if (fields.days.test(static_cast<std::size_t>(day))) return true;
    }
    return false;
}

const date::time_zone* find_zone(std::string_view zone) {
    try {
        return date::locate_zone(zone);
    } catch (const std::exception&) {
        return nullptr;  // not in the database, or there is none
    }
}

bool fits(const CronFields& fields, date::local_days day) {
    const date::year_month_day calendar{day};
    if (!fields.months.test(static_cast<unsigned>(calendar.month()))) return false;
    const bool by_day = fields.days.test(static_cast<unsigned>(calendar.day()));
    const bool by_weekday = fields.weekdays.test(date::weekday{day}.c_encoding());
    if (fields.any_day || fields.any_weekday) return by_day && by_weekday;
    return by_day || by_weekday;
}

using Micros = date::sys_time<std::chrono::microseconds>;

base::Timestamp timestamp(date::sys_seconds at) {
    return {std::chrono::microseconds(at.time_since_epoch()).count()};
}

base::Timestamp moment(const date::time_zone& zone, date::local_seconds local) {
    const auto info = zone.get_info(local);
    // In the gap: the moment of the change. Repeated: the first time, as before the change.
    const auto at = info.result == date::local_info::nonexistent
                        ? info.first.end
                        : date::sys_seconds(local.time_since_epoch() - info.first.offset);
    return timestamp(at);
}

// The first minute from `from` on, and before `end`, that fits.
std::optional<date::local_seconds> first_fit(
    const CronFields& fields, date::local_seconds from, date::local_seconds end
) {
    auto day = date::floor<date::days>(from);
    for (int i = 0; i < days_ahead_max && day < end; ++i, day += date::days(1)) {
        if (!fits(fields, day)) continue;
        for (std::size_t hour = 0; hour < fields.hours.size(); ++hour) {
            if (!fields.hours.test(hour)) continue;
            for (std::size_t minute = 0; minute < fields.minutes.size(); ++minute) {
                const auto at = date::local_seconds(day) + std::chrono::hours(hour) +
                                std::chrono::minutes(minute);
                if (fields.minutes.test(minute) && at >= from)
                    return at < end ? std::optional(at) : std::nullopt;
            }
        }
    }
    return std::nullopt;
}

// From one change of the zone's offset to the next the wall clock runs like any other.
std::optional<base::Timestamp> next_in_real_time(
    const CronFields& fields, const date::time_zone& zone, base::Timestamp after
) {
    const Micros last{std::chrono::microseconds(after.us)};
    auto from = date::floor<std::chrono::seconds>(last) + std::chrono::seconds(1);
    const auto end = from + date::days(days_ahead_max);
    while (from < end) {
        const auto info = zone.get_info(from);
        const auto local = [&](date::sys_seconds at) {
            return date::local_seconds(at.time_since_epoch() + info.offset);
        };
        const auto stop = std::min(info.end, end);
        if (const auto fit = first_fit(fields, local(from), local(stop)))
            return timestamp(date::sys_seconds(fit->time_since_epoch() - info.offset));
        from = stop;
    }
    return std::nullopt;
}

// The same with given hours: each time of day comes once on each day.
std::optional<base::Timestamp> next_by_day(
    const CronFields& fields, const date::time_zone& zone, base::Timestamp after
) {
    auto day = date::floor<date::days>(zone.to_local(Micros{std::chrono::microseconds(after.us)}));
    for (int i = 0; i < days_ahead_max; ++i, day += date::days(1)) {
        if (!fits(fields, day)) continue;
        for (std::size_t hour = 0; hour < fields.hours.size(); ++hour) {
            if (!fields.hours.test(hour)) continue;
            for (std::size_t minute = 0; minute < fields.minutes.size(); ++minute) {
                if (!fields.minutes.test(minute)) continue;
                const auto at = moment(
                    zone,
                    date::local_seconds(day) + std::chrono::hours(hour) +
                        std::chrono::minutes(minute)
                );
                if (at > after) return at;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

base::Result<CronFields> parse_cron(std::string_view text) {
    std::vector<std::string_view> parts;
    for (const auto part : split(text, ' '))
        if (!part.empty()) parts.push_back(part);
    if (parts.size() != field_rules.size() || text.size() > cron_bytes_max) {
        return fail(
            ErrorCode::validation,
            fmt::format(
                "{} is no cron expression: five fields, minute hour day-of-month month day-of-week",
                in_quotes(text)
            ),
            "such as \"30 6 * * MON-FRI\""
        );
    }
    std::vector<base::ErrorDetail> faults;
    std::array<std::vector<int>, field_rules.size()> values;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const auto part : split(parts[i], ',')) {
            const auto fault = read_part(part, field_rules[i], values[i]);
            if (fault.empty()) continue;
            faults.push_back(
                {"", ErrorCode::validation, fmt::format("{}: {}", field_rules[i].name, fault)}
            );
        }
    }
    if (!faults.empty()) {
        return fail(base::Error{
            ErrorCode::validation,
            fmt::format("{} is no cron expression", in_quotes(text)),
            {},
            std::move(faults)
        });
    }
    CronFields fields;
    set_all(fields.minutes, values[0]);
    set_all(fields.hours, values[1]);
    set_all(fields.days, values[2]);
    set_all(fields.months, values[3]);
    for (const int value : values[4])
        fields.weekdays.set(static_cast<std::size_t>(value % 7));
    fields.any_day = fields.days.count() == 31;
    fields.any_weekday = fields.weekdays.all();
    fields.real_time = fields.hours.all() || parts[1].find('/') != std::string_view::npos;
    if (!ever_comes(fields)) {
        return fail(
            ErrorCode::validation, fmt::format("the date of {} never comes", in_quotes(text))
        );
    }
    return fields;
}

bool zone_known(std::string_view zone) {
    return find_zone(zone) != nullptr;
}

std::optional<base::Timestamp> next_turn(
    const CronFields& fields, std::string_view zone_name, base::Timestamp after
) {
    const auto* zone = find_zone(zone_name);
    if (zone == nullptr) return std::nullopt;
    return fields.real_time ? next_in_real_time(fields, *zone, after)
                            : next_by_day(fields, *zone, after);
}

}  // namespace nets
