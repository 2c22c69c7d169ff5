#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Bytes of any kind as text. `valid_utf8` is in base/json.hpp.
namespace base {

/// All bytes; each that belongs to no character becomes U+FFFD.
std::string lossy_utf8(std::string_view bytes);

/// Of bytes that were cut somewhere: without the part of a character that the cut left at the end
/// (or start).
std::string_view without_cut_end(std::string_view bytes);
std::string_view without_cut_start(std::string_view bytes);

/// The first (or last) at most `bytes_max` bytes of that text: never a part of a character.
std::string preview_head(std::string_view bytes, std::size_t bytes_max);
std::string preview_tail(std::string_view bytes, std::size_t bytes_max);

/// Appends the character. `point` is not a surrogate and at most 0x10FFFF.
void append_utf8(std::string& out, std::uint32_t point);

/// For messages: the whole text, or its beginning and how many bytes there are in all.
std::string shortened(std::string_view text, std::size_t bytes_max);

}  // namespace base
