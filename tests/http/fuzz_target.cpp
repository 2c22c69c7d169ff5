// The target of a request: what is taken reads back as itself when it is written again.
#include "base/result.hpp"
#include "http/target.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto parsed = http::parse_target(text);
    if (!parsed) return 0;
    std::string again;
    for (const auto& segment : parsed->path) {
        base::check(segment != "." && segment != "..", "a dot segment came through");
        base::check(segment.find('\0') == std::string::npos, "a NUL came through");
        again.append("/").append(http::percent_encode(segment));
    }
    if (again.empty()) again = "/";
    char separator = '?';
    for (const auto& [name, value] : parsed->query.items()) {
        again += separator;
        again.append(http::percent_encode(name)).append("=").append(http::percent_encode(value));
        separator = '&';
    }
    const auto second = http::parse_target(again);
    base::check(second.has_value(), "a target that was written again is refused");
    base::check(second->path == parsed->path, "the path changed");
    base::check(second->query.items() == parsed->query.items(), "the query changed");
    return 0;
}
