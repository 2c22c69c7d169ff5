#include "base/result.hpp"
#include "nets/pnml/pnml.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Whatever is read can be written, and read again as the same document.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto document =
        nets::pnml::read({reinterpret_cast<const char*>(data), size}, {.bytes_max = 1U << 20U});
    if (!document) return 0;
    const auto xml = nets::pnml::write(*document);
    base::check(xml.has_value(), "what was read from PNML can be written as PNML");
    const auto again = nets::pnml::read(*xml);
    base::check(again && *again == *document, "PNML read, written and read again is the same");
    return 0;
}
