#include "base/clock.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <limits>
#include <time.h>

namespace base {

namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] Timestamp now() const override { return {read(CLOCK_REALTIME)}; }
    [[nodiscard]] Duration elapsed() const override { return {read(CLOCK_BOOTTIME)}; }

private:
    static std::int64_t read(clockid_t id) {
        timespec value{};
        ::clock_gettime(id, &value);
        return static_cast<std::int64_t>(value.tv_sec) * 1'000'000 + value.tv_nsec / 1000;
    }
};

std::optional<int> digits(std::string_view text, std::size_t from, std::size_t count) {
    if (from + count > text.size()) return std::nullopt;
    int value = 0;
    for (std::size_t i = from; i < from + count; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

// "Z" or "+hh:mm" or "-hh:mm", as seconds east of UTC.
std::optional<int> offset_seconds(std::string_view text) {
    if (text == "Z" || text == "z") return 0;
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':')
        return std::nullopt;
    const auto hours = digits(text, 1, 2);
    const auto minutes = digits(text, 4, 2);
    if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    const int value = *hours * 3600 + *minutes * 60;
    return text[0] == '-' ? -value : value;
}

struct Unit {
    std::string_view suffix;
    std::int64_t us;
};
constexpr std::array units = {
    Unit{"d", 86'400'000'000},
    Unit{"h", 3'600'000'000},
    Unit{"m", 60'000'000},
    Unit{"s", 1'000'000},
    Unit{"ms", 1'000},
};

}  // namespace

const Clock& system_clock() {
    static const SystemClock clock;
    return clock;
}

void append_rfc3339(std::string& out, Timestamp at) {
    namespace chrono = std::chrono;
    const chrono::sys_time<chrono::microseconds> point{chrono::microseconds{at.us}};
    const auto day = chrono::floor<chrono::days>(point);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss time{point - day};
    fmt::format_to(
        std::back_inserter(out),
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()),
        time.hours().count(),
        time.minutes().count(),
        time.seconds().count(),
        time.subseconds().count()
    );
}

std::string rfc3339(Timestamp at) {
    std::string out;
    append_rfc3339(out, at);
    return out;
}

std::optional<Timestamp> timestamp(std::string_view text) {
    namespace chrono = std::chrono;
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
        text[16] != ':') {
        return std::nullopt;
    }
    if (text[10] != 'T' && text[10] != 't') return std::nullopt;
    const auto year = digits(text, 0, 4);
    const auto month = digits(text, 5, 2);
    const auto day = digits(text, 8, 2);
    const auto hour = digits(text, 11, 2);
    const auto minute = digits(text, 14, 2);
    const auto second = digits(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    const chrono::year_month_day date{
        chrono::year{*year},
        chrono::month{static_cast<unsigned>(*month)},
        chrono::day{static_cast<unsigned>(*day)}
    };
    if (!date.ok()) return std::nullopt;
    std::size_t next = 19;
    std::int64_t fraction_us = 0;
    if (text[next] == '.') {
        std::int64_t scale = 100'000;
        const std::size_t first = ++next;
        for (; next < text.size() && text[next] >= '0' && text[next] <= '9'; ++next, scale /= 10) {
            fraction_us += scale * (text[next] - '0');
        }
        if (next == first || next - first > 9) return std::nullopt;
    }
    const auto offset = offset_seconds(text.substr(next));
    if (!offset) return std::nullopt;
    const std::int64_t days = chrono::sys_days{date}.time_since_epoch().count();
    const std::int64_t total = ((days * 24 + *hour) * 60 + *minute) * 60 + *second - *offset;
    return Timestamp{total * 1'000'000 + fraction_us};
}

std::optional<Duration> duration(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || text.front() == '-') return std::nullopt;
    const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& unit : units) {
        if (unit.suffix != suffix) continue;
        if (value > std::numeric_limits<std::int64_t>::max() / unit.us) return std::nullopt;
        return Duration{value * unit.us};
    }
    return std::nullopt;
}

std::string text(Duration length) {
    for (const auto& unit : units) {
        if (length.us % unit.us == 0 && (length.us != 0 || unit.suffix == "s")) {
            return fmt::format("{}{}", length.us / unit.us, unit.suffix);
        }
    }
    return fmt::format("{}ms", length.us / 1000);
}

}  // namespace base
