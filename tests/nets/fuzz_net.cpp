// Whatever is read, a document either compiles or says why; what compiles can be looked over, drawn
// up against itself, and compiles again from its own canonical text to the same digest.
#include "base/json.hpp"
#include "nets/diff.hpp"
#include "nets/lint.hpp"
#include "nets/net.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto document = base::parse_json({reinterpret_cast<const char*>(data), size});
    if (!document) return 0;
    const auto net = nets::compile(*document);
    if (!net) {
        if (net.error().details.empty() || net.error().message.empty()) std::abort();
        return 0;
    }
    nets::lint(*net);
    if (!nets::diff(*document, *document).empty()) std::abort();
    const auto again_document = base::parse_json(net->document);
    if (!again_document) std::abort();
    const auto again = nets::compile(*again_document);
    if (!again || again->digest != net->digest) std::abort();
    return 0;
}
