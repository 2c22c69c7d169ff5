#pragma once

#include "nets/analysis/pt_net.hpp"
#include "nets/net.hpp"

#include <cstdint>

namespace nets::analysis {

enum class Values : std::uint8_t {
    lost,       ///< a place is one place
    told_apart  ///< where it helps, a place is one place for each value of a field
};

/// The place/transition net behind a net: tokens lose their data, and one case runs alone.
///
/// - A guard, filter, join key, age or priority may go either way: the transition is there, and
///   `may_refuse`.
/// - Each way in which a transition can come out (rules of `out` that may hold, `fail`) is a
///   transition of its own with the same `origin`.
/// - With `told_apart`, a place whose schema lists the values of a field that conditions ask for is
///   one place a value (unfolding.hpp), and a transition one transition for each way to bind them:
///   conditions on the field are then decided. The start keeps its place too, from which one
///   transition a value leads on.
/// - A timer fires whenever its inputs and the room for what it makes let it. A place that nothing
/// fills, in a net without a start, is given one token.
/// - A place shared with other nets is left out: it may hold anything at any time.
///
/// What is lost on the way is in `abstracted`. So a transition that can never fire here never fires
/// for real, while a sequence here is certain only where no transition of it `may_refuse`.
PtNet abstracted(const Net& net, Values values = Values::lost);

}  // namespace nets::analysis
