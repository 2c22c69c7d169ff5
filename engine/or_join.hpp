#pragma once

#include "engine/state.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace engine {

struct Binding;

/// Markings looked at to find whether a token may still come to an or-join.
inline constexpr std::size_t or_join_markings_max = 1'000;

/// The part of the model from which tokens may come to an or-join, data abstracted away: guards and
/// filters may go either way, other or-joins take what one of their arcs brings, and places that
/// strip the case are the business of all cases, so what is taken from them is there.
struct ArrivalNet {
    using Counts = std::vector<std::pair<places::PlaceId, std::uint64_t>>;
    /// One way in which a transition may fire.
    struct Move {
        Counts take;
        Counts read;
        std::vector<places::PlaceId> reset;
        Counts make;                         ///< the most that may come out
        std::vector<places::PlaceId> flood;  ///< any number may
    };
    std::vector<Move> moves;
    std::vector<places::PlaceId> places;  ///< all that the moves take from, and the join's own
};

ArrivalNet arrival_net(const State& state, TransitionId join);

/// True for an arc that an or-join may go without: its tokens belong to the case.
bool may_stay_empty(
    const nets::Transition& rules, const nets::InputArc& arc, const places::Place& place
);

struct Arrival {
    enum class Answer : std::uint8_t { cannot, may, unknown };
    Answer answer = Answer::cannot;
    places::PlaceId place = 0;  ///< where to, unless it cannot
};
/// Whether a further token of the binding's case may come to an arc of the join that would take it,
/// while the arcs that are served stay so. Backward coverability: exact for the abstract net, up to
/// `or_join_markings_max`.
Arrival may_arrive(
    const State& state, const ArrivalNet& net, TransitionId join, const Binding& binding
);

}  // namespace engine
