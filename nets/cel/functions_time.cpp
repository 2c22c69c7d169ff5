#include "nets/cel/functions.hpp"
#include "nets/cel/times.hpp"

namespace nets::cel {

namespace {

constexpr std::int32_t nanoseconds_in_millisecond = 1'000'000;

// getX() and getX(zone) of a timestamp.
template <int CivilTime::* part, int offset = 0>
base::Result<Value> civil(Arguments arguments, Budget& /*budget*/) {
    const auto time =
        civil_time(arguments[0].as_span(), arguments.size() > 1 ? arguments[1].text() : "");
    if (!time) return std::unexpected(time.error());
    return Value::integer((*time).*part + offset);
}

base::Result<Value> milliseconds(Arguments arguments, Budget& /*budget*/) {
    return Value::integer(arguments[0].as_span().nanoseconds / nanoseconds_in_millisecond);
}

// A duration is truncated towards zero.
template <std::int64_t unit_seconds>
base::Result<Value> length_in(Arguments arguments, Budget& /*budget*/) {
    const Span span = arguments[0].as_span();
    const std::int64_t seconds =
        span.seconds < 0 && span.nanoseconds > 0 ? span.seconds + 1 : span.seconds;
    return Value::integer(seconds / unit_seconds);
}

// Only what is below a second; negative for a negative duration.
base::Result<Value> length_milliseconds(Arguments arguments, Budget& /*budget*/) {
    const Span span = arguments[0].as_span();
    const bool negative = span.seconds < 0 && span.nanoseconds > 0;
    const std::int32_t part = negative ? span.nanoseconds - 1'000'000'000 : span.nanoseconds;
    return Value::integer(part / nanoseconds_in_millisecond);
}

}  // namespace

void add_time_functions(std::vector<Function>& all) {
    const Kinds point = kinds(Kind::timestamp);
    const Kinds length = kinds(Kind::duration);
    const Kinds text = kinds(Kind::string);
    const auto add = [&](std::string_view name, auto call) {
        all.push_back({name, true, {point}, Kind::integer, call});
        all.push_back({name, true, {point, text}, Kind::integer, call});
    };
    add("getFullYear", civil<&CivilTime::year>);
    add("getMonth", civil<&CivilTime::month>);
    add("getDate", civil<&CivilTime::day, 1>);
    add("getDayOfMonth", civil<&CivilTime::day>);
    add("getDayOfWeek", civil<&CivilTime::weekday>);
    add("getDayOfYear", civil<&CivilTime::day_of_year>);
    add("getHours", civil<&CivilTime::hour>);
    add("getMinutes", civil<&CivilTime::minute>);
    add("getSeconds", civil<&CivilTime::second>);
    add("getMilliseconds", milliseconds);
    all.push_back({"getHours", true, {length}, Kind::integer, length_in<3600>});
    all.push_back({"getMinutes", true, {length}, Kind::integer, length_in<60>});
    all.push_back({"getSeconds", true, {length}, Kind::integer, length_in<1>});
    all.push_back({"getMilliseconds", true, {length}, Kind::integer, length_milliseconds});
}

}  // namespace nets::cel
