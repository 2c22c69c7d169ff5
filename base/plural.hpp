#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

/// A number with its noun: "1 token", "2 tokens", "0 entries". `noun` is a regular English noun in
/// the singular.
std::string plural(std::uint64_t count, std::string_view noun);

}  // namespace base
