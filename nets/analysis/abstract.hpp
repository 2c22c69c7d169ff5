#pragma once

#include "nets/analysis/pt_net.hpp"
#include "nets/net.hpp"

namespace nets::analysis {

/// The place/transition net behind a net: tokens lose their data, and one case runs alone.
///
/// - A guard, filter, join key, age or priority may go either way: the transition is there, and
///   `may_refuse`.
/// - Each way in which a transition can come out (rules of `out` that may hold, `fail`) is a
///   transition of its own with the same `origin`.
/// - A timer fires once. A place that nothing fills, in a net without a start, is given one token.
/// - A place shared with other nets is left out: it may hold anything at any time.
///
/// What is lost on the way is in `abstracted`. So a transition that can never fire here never fires
/// for real, while a sequence here is certain only where no transition of it `may_refuse`.
PtNet abstracted(const Net& net);

}  // namespace nets::analysis
