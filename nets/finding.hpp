#pragma once

#include <cstdint>
#include <string>

namespace nets {

enum class Severity : std::uint8_t { error, warning };

/// What a check of a whole net has to say. Errors refuse deployment, warnings do not.
struct Finding {
    Severity severity = Severity::warning;
    std::string pointer;  ///< RFC 6901, into the net document
    std::string code;     ///< stable, such as "place_unread"
    std::string message;
    bool operator==(const Finding&) const = default;
};

}  // namespace nets
