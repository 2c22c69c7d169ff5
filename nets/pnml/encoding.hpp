#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace nets::pnml {

/// The text of an XML file as UTF-8, without a byte order mark. Read are UTF-8 and ASCII, UTF-16
/// and UTF-32 of both byte orders (with a byte order mark or without), and ISO-8859-1 when the file
/// declares it. Refused: other encodings (`unsupported`), bytes that are not valid in the encoding,
/// and a declaration that contradicts the bytes.
base::Result<std::string> utf8_text(std::string_view xml);

}  // namespace nets::pnml
