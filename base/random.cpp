#include "base/random.hpp"

#include "base/result.hpp"

#include <sys/random.h>
#include <vector>

namespace base {

std::string random_hex(std::size_t bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::vector<unsigned char> raw(bytes);
    std::size_t filled = 0;
    while (filled < bytes) {
        const ssize_t count = ::getrandom(raw.data() + filled, bytes - filled, 0);
        check(count > 0, "getrandom");
        filled += static_cast<std::size_t>(count);
    }
    std::string text;
    for (const unsigned char byte : raw) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

}  // namespace base
