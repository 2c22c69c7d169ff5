#include "nets/analysis/check_parts.hpp"

#include <algorithm>
#include <vector>

namespace nets::analysis {
namespace {

bool rival_waits(const PtTransition& transition, const Marking& marking) {
    return std::ranges::any_of(transition.rivals, [&](PlaceId p) { return marking[p] > 0; });
}

}  // namespace

WholePlaces whole_places(CheckRun& run, const StateSpace& space) {
    std::vector<TransitionId> by_order;
    for (TransitionId t = 0; t < run.net.transitions.size(); ++t) {
        if (!run.net.transitions[t].rivals.empty()) by_order.push_back(t);
    }
    WholePlaces result;
    Patience patience(run.budget);
    Marking held(run.net.places.size(), 0);
    for (StateId state = 0; state < space.states.size(); ++state) {
        if (patience.over(4 * held.size() + by_order.size())) {
            result.complete = false;
            break;
        }
        const Marking marking = space.marking(state);
        std::ranges::fill(held, 0);
        for (PlaceId p = 0; p < marking.size(); ++p)
            held[run.place_group_of[p]] += marking[p];
        const Count most = std::ranges::max(held);
        result.place_max = std::max(result.place_max, most);
        if (most > 1 && !result.beyond_one) result.beyond_one = state;
        std::erase_if(by_order, [&](TransitionId t) {
            const bool met = rival_waits(run.net.transitions[t], marking) &&
                             space.packing.enabled(space.states[state], t);
            if (met) run.note_order(t);
            return met;
        });
    }
    if (!result.complete) {
        for (const TransitionId t : by_order)
            run.note_order(t);
    }
    return result;
}

}  // namespace nets::analysis
