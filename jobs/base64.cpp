#include "jobs/base64.hpp"

#include <array>
#include <cstdint>

namespace jobs {

namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> base64_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t i = 0; i < base64_digits.size(); ++i) {
        values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}();

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = (group << 8U) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += k <= count ? base64_digits[(group >> (18 - 6 * k)) & 0x3FU] : '=';
        }
    }
    return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::size_t digits = 4;
        if (i + 4 == text.size()) {
            while (digits > 2 && text[i + digits - 1] == '=')
                --digits;
        }
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const auto digit = static_cast<unsigned char>(text[i + k]);
            const std::uint8_t value = k < digits ? base64_values[digit] : std::uint8_t{0};
            if (value == no_digit) return std::nullopt;
            group = (group << 6U) | value;
        }
        const std::size_t count = digits - 1;
        for (std::size_t k = 0; k < count; ++k) {
            out += static_cast<char>((group >> (16 - 8 * k)) & 0xFFU);
        }
        // The bits behind the last byte must be zero, else two texts would mean the same bytes.
        if ((group & ((1U << (24 - 8 * count)) - 1U)) != 0) return std::nullopt;
    }
    return out;
}

}  // namespace jobs
