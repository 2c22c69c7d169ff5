#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <bitset>
#include <optional>
#include <string_view>

namespace nets {

/// When a `cron` timer fires: five fields, `minute hour day-of-month month day-of-week`. Immutable;
/// reading it takes no clock and no zone.
struct CronFields {
    std::bitset<60> minutes;
    std::bitset<24> hours;
    std::bitset<32> days;     ///< 1 to 31
    std::bitset<13> months;   ///< 1 to 12
    std::bitset<7> weekdays;  ///< 0 = Sunday
    bool any_day = false;     ///< the day of the month is left open
    bool any_weekday = false;
    bool real_time = false;  ///< the hour is left open or has a step: see `next_turn`
};

/// Each field is a list of `*`, `n`, `a-b`, all three with `/step`; months and weekdays also by
/// their English names of three letters; 7 is Sunday too. As cron has always had it, a day fits
/// when either the day of the month or the weekday does, once both are given. Every fault is in
/// `details`. A date that never comes (30 February) is a fault.
base::Result<CronFields> parse_cron(std::string_view text);

/// True when the machine's time zone database (tzdata) has the zone.
bool zone_known(std::string_view zone);

/// The first turn after `after`, by the wall clock of the zone. Where the hours are given, a time
/// of day that the change to summer time leaves out comes once, at the moment of the change, and
/// one that the change back repeats comes once, the first time. With `real_time` every minute that
/// fits is a turn: what is left out does not come, what is repeated comes twice, so that "every
/// quarter of an hour" is that. Nothing when the zone is not known.
std::optional<base::Timestamp> next_turn(
    const CronFields& fields, std::string_view zone, base::Timestamp after
);

}  // namespace nets
