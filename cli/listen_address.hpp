#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;  ///< 0 = any that is free
};

/// `HOST:PORT`, `[ADDRESS]:PORT`.
base::Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace cli
