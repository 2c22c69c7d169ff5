#include "engine/arrival.hpp"

#include "base/limits.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;

std::vector<base::ErrorDetail> arrival_faults(
    const places::Place& place, std::string_view data, std::string_view pointer
) {
    if (!place.schema) return {};
    const auto value = base::parse_json(data, base::limits::stored);
    if (!value) return {{std::string(pointer), value.error().code, value.error().message}};
    const auto fits = place.schema->validate(*value);
    if (fits) return {};
    auto faults = fits.error().details;
    if (faults.empty()) faults.push_back({"", fits.error().code, fits.error().message});
    for (auto& fault : faults)
        fault.pointer = std::string(pointer) + fault.pointer;
    return faults;
}

base::Result<void> may_arrive(const places::Place& place, std::string_view data) {
    auto faults = arrival_faults(place, data, "");
    if (faults.empty()) return {};
    const bool costly = faults.front().code == ErrorCode::limit;
    return fail(base::Error{
        costly ? ErrorCode::limit : ErrorCode::bad_output,
        fmt::format(
            "a token for place '{}' does not fit its schema: {}",
            place.name,
            base::text(faults.front())
        ),
        "make the output fit, or change the place's schema",
        std::move(faults)
    });
}

}  // namespace engine
