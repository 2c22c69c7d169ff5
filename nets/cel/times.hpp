#pragma once

#include "base/result.hpp"
#include "nets/cel/value.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

/// Points in time from year 1 to 9999, durations of plus or minus 2^63 nanoseconds.
namespace nets::cel {

/// A value, or the error that it is out of range.
base::Result<Value> timestamp_in_range(Span since_epoch);
base::Result<Value> duration_in_range(Span length);

/// + and - where at least one side is a timestamp or duration and the kinds go together.
base::Result<Value> time_arithmetic(bool subtract, const Value& left, const Value& right);

/// RFC 3339, up to nine digits of fraction.
base::Result<Value> read_timestamp(std::string_view text);
/// "1h30m", "-1.5s", "250ms": numbers with a unit of h, m, s, ms, us, ns.
base::Result<Value> read_duration(std::string_view text);

/// A moment as a calendar shows it, months, days and weekdays from 0.
struct CivilTime {
    int year = 0;
    int month = 0;
    int day = 0;
    int weekday = 0;  ///< 0 = Sunday
    int day_of_year = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

/// `zone`: an IANA name, or an offset such as "+02:00", "-09:30", "02:00".
base::Result<CivilTime> civil_time(Span since_epoch, std::string_view zone);

}  // namespace nets::cel
