#pragma once

#include "nets/analysis/abstract_transition.hpp"

namespace nets::analysis {

/// Once all transitions are there: where cases begin and end, what comes from outside, and that
/// priorities are not kept.
void add_surroundings(const Net& net, const Unfolding& unfolding, AbstractNet& into);

}  // namespace nets::analysis
