#include "nets/cel/value.hpp"

#include <chrono>
#include <date/date.h>
#include <fmt/format.h>

namespace nets::cel {

namespace {

// ".5", ".25", "" : without zeros at the end.
std::string fraction_text(std::int32_t nanoseconds) {
    if (nanoseconds == 0) return {};
    std::string text = fmt::format(".{:09}", nanoseconds);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

}  // namespace

std::string timestamp_text(Span since_epoch) {
    const date::sys_seconds at{std::chrono::seconds(since_epoch.seconds)};
    const auto day = date::floor<date::days>(at);
    const date::year_month_day ymd(day);
    const date::hh_mm_ss<std::chrono::seconds> time(at - day);
    return fmt::format(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z",
        static_cast<int>(ymd.year()),
        static_cast<unsigned>(ymd.month()),
        static_cast<unsigned>(ymd.day()),
        time.hours().count(),
        time.minutes().count(),
        time.seconds().count(),
        fraction_text(since_epoch.nanoseconds)
    );
}

std::string duration_text(Span length) {
    const bool negative = length.seconds < 0;
    if (negative && length.nanoseconds > 0) {
        length = {length.seconds + 1, 1'000'000'000 - length.nanoseconds};
    }
    return fmt::format(
        "{}{}{}s",
        negative ? "-" : "",
        negative ? -length.seconds : length.seconds,
        fraction_text(length.nanoseconds)
    );
}

}  // namespace nets::cel
