#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// Text as CEL sees it: characters (code points), not bytes. All text is valid UTF-8.
namespace nets::cel {

std::size_t character_count(std::string_view text);
/// The byte at which the n-th character starts, or the text's end.
std::size_t byte_of_character(std::string_view text, std::size_t n);
/// The first place of `part` at or after `from`, or npos. Linear in the text whatever the part.
std::size_t find_text(std::string_view text, std::string_view part, std::size_t from);
/// The last place of `part` that starts at or before `from`, or npos. Linear, too.
std::size_t find_text_back(std::string_view text, std::string_view part, std::size_t from);
/// The characters, each as a piece of the text.
std::vector<std::string_view> characters(std::string_view text);
/// Without white space, as Unicode knows it, at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace nets::cel
