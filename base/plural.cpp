#include "base/plural.hpp"

#include <fmt/format.h>

namespace base {

std::string plural(std::uint64_t count, std::string_view noun) {
    if (count == 1) return fmt::format("1 {}", noun);
    constexpr std::string_view vowels = "aeiou";
    const bool ends_in_y = noun.ends_with('y') && noun.size() > 1 &&
                           vowels.find(noun[noun.size() - 2]) == std::string_view::npos;
    if (ends_in_y) return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
    const bool hisses = noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch");
    return fmt::format("{} {}{}", count, noun, hisses ? "es" : "s");
}

}  // namespace base
