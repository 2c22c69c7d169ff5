#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nets::cel {

/// RFC 4648 with padding.
void append_base64(std::string& out, std::string_view bytes);
/// Reads it back, with or without padding; none when a character does not belong.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace nets::cel
