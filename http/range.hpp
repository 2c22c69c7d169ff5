#pragma once

#include "http/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace http {

/// What a request asks for of a representation of known size (RFC 9110, 14.2).
struct RangeAsked {
    enum class Kind : std::uint8_t {
        whole,          ///< no range, or one that is ignored: 200
        part,           ///< 206
        unsatisfiable,  ///< 416
    };
    Kind kind = Kind::whole;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;  ///< of a part: at least 1
};

/// Ignored, as the RFC allows: other units than bytes, a malformed set (`5-2`), other methods than
/// GET, an If-Range that is not `etag`, several parts that can be given (they would need a
/// multipart body).
RangeAsked range_of(const Request& request, std::uint64_t size, std::string_view etag);

/// "bytes 0-4/10" of a part, "bytes */10" of what cannot be given.
std::string content_range(const RangeAsked& range, std::uint64_t size);

/// 416.
Response range_error(std::uint64_t size);

}  // namespace http
