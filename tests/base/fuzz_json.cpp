// What parses as JSON has one canonical text, and that text parses to the same value and text
// again.
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto value = base::parse_json({reinterpret_cast<const char*>(data), size});
    if (!value) return 0;
    const auto text = base::canonical(*value);
    const auto again = base::parse_json(text);
    if (!again || *again != *value || base::canonical(*again) != text) std::abort();
    return 0;
}
