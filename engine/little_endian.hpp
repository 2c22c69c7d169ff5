#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Numbers in the files and values of a data directory.
namespace engine {

inline void append_little_endian(std::string& out, std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
        out.push_back(static_cast<char>(value >> (8U * i)));
}

/// At most 8 bytes.
inline std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace engine
