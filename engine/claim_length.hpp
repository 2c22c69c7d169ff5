#pragma once

#include "base/clock.hpp"

namespace engine {

/// How long the claim of a work packet lasts, at least and at most, until its next heartbeat.
inline constexpr base::Duration claim_min = base::seconds(1);
inline constexpr base::Duration claim_max = base::seconds(24 * 3600);

}  // namespace engine
