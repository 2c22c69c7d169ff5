#pragma once

#include "base/result.hpp"
#include "places/store.hpp"

#include <string_view>
#include <vector>

namespace engine {

/// Why a token with this data (canonical JSON) may not arrive in the place: every fault against the
/// place's schema, its pointer below `pointer`. Empty when it may. Only decisions ask; the fold
/// takes what the record says.
std::vector<base::ErrorDetail> arrival_faults(
    const places::Place& place, std::string_view data, std::string_view pointer
);

/// The same for a token that a firing makes: `bad_output`, or `limit` where checking costs too
/// much.
base::Result<void> may_arrive(const places::Place& place, std::string_view data);

}  // namespace engine
