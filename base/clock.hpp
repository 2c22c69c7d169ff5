#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// Microseconds since 1970-01-01T00:00:00Z.
struct Timestamp {
    std::int64_t us = 0;
    auto operator<=>(const Timestamp&) const = default;
};

/// A length of time in microseconds.
struct Duration {
    std::int64_t us = 0;
    auto operator<=>(const Duration&) const = default;
    [[nodiscard]] std::int64_t ms() const { return us / 1000; }
};

constexpr Duration milliseconds(std::int64_t n) {
    return {n * 1000};
}
constexpr Duration seconds(std::int64_t n) {
    return {n * 1'000'000};
}

constexpr Duration operator+(Duration left, Duration right) {
    return {left.us + right.us};
}
constexpr Duration operator-(Duration left, Duration right) {
    return {left.us - right.us};
}
constexpr Timestamp operator+(Timestamp at, Duration length) {
    return {at.us + length.us};
}
constexpr Timestamp operator-(Timestamp at, Duration length) {
    return {at.us - length.us};
}
constexpr Duration operator-(Timestamp late, Timestamp early) {
    return {late.us - early.us};
}

/// Where time comes from. Everything that reads a clock gets one of these, so that a test or the
/// simulator can turn it by hand. Thread-safe.
class Clock {
public:
    virtual ~Clock() = default;
    /// Wall time: for records and people. May jump.
    [[nodiscard]] virtual Timestamp now() const = 0;
    /// Time since some fixed moment, never going back, counting suspended time (CLOCK_BOOTTIME):
    /// for leases and deadlines.
    [[nodiscard]] virtual Duration elapsed() const = 0;
};

/// The machine's clock.
const Clock& system_clock();

/// `2026-01-31T12:00:00.000000Z`: RFC 3339 with microseconds, UTC.
std::string rfc3339(Timestamp at);
void append_rfc3339(std::string& out, Timestamp at);
/// Reads RFC 3339 with any offset and 0 to 9 digits of fraction (beyond microseconds cut off).
std::optional<Timestamp> timestamp(std::string_view text);

/// `250ms`, `30s`, `5m`, `2h`, `1d`; a number and one unit. Nothing else, nothing negative.
std::optional<Duration> duration(std::string_view text);
/// The shortest spelling that `duration` reads back as the same length (milliseconds and up).
std::string text(Duration length);

}  // namespace base
