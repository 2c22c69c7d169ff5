#pragma once

#include "base/sha256.hpp"

#include <string_view>

namespace base {

/// HMAC-SHA256 (RFC 2104): who does not know the key can neither make it nor guess it.
Digest hmac_sha256(std::string_view key, std::string_view message);

}  // namespace base
