#pragma once

#include "base/result.hpp"
#include "engine/state.hpp"

namespace engine {

/// Whether this version may take over, but for what `migrate` moves: no token is lost, whatever
/// lies in its places fits them, and it does not contradict what other nets say of the places that
/// they share. Tells every fault.
base::Result<void> deployable(const State& state, const nets::Net& next);

}  // namespace engine
