#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>

/// XML from strangers, let in through one door.
namespace nets::pnml {

struct XmlLimits {
    std::size_t bytes_max = 0;
    std::size_t depth_max = 0;
    std::size_t tags_max = 8'000'000;
};

base::Error too_long(std::size_t bytes, std::size_t bytes_max);

/// Parses XML, which must be valid UTF-8, into `tree`. Refused: a document type (so that nothing
/// can define an entity), a zero byte, more bytes, levels or tags than `limits`, what is not
/// well-formed.
base::Result<void> load(pugi::xml_document& tree, std::string_view xml, const XmlLimits& limits);

/// `line 12`, for the byte at `offset`.
std::string line_of(std::string_view xml, std::ptrdiff_t offset);

}  // namespace nets::pnml
