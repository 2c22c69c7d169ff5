#include "nets/analysis/soundness.hpp"

#include "base/result.hpp"

namespace nets::analysis {

CaseEnd::CaseEnd(const PtNet& net, Count cases)
    : roles_(net.places.size(), Role::of_case),
      group_of_(first_of_place(net)),
      before_(initial_marking(net, 0)),
      cases_(cases) {
    base::check(net.start.has_value(), "cases are of nets with a start");
    std::vector<bool> resource(net.places.size(), false);
    for (PlaceId p = 0; p < net.places.size(); ++p) {
        if (before_[p] > 0 && p != *net.start) resource[group_of_[p]] = true;
    }
    for (PlaceId p = 0; p < net.places.size(); ++p) {
        if (resource[group_of_[p]] && p != *net.start) roles_[p] = Role::resource;
    }
    for (const PtPlace& place : net.places)
        outside_.push_back(place.outside);
    for (const PlaceId p : net.end)
        roles_[p] = Role::end;
}

bool CaseEnd::over(const Marking& marking) const {
    for (PlaceId p = 0; p < roles_.size(); ++p) {
        if (roles_[p] == Role::of_case && marking[p] != before_[p]) return false;
    }
    return true;
}

bool CaseEnd::all_ended(const Marking& marking) const {
    Count ended = 0;
    for (PlaceId p = 0; p < roles_.size(); ++p) {
        if (roles_[p] == Role::end) ended += marking[p] - before_[p];
    }
    return ended >= cases_;
}

std::vector<PlaceId> CaseEnd::leftovers(const Marking& marking) const {
    std::vector<PlaceId> result;
    for (PlaceId p = 0; p < roles_.size(); ++p) {
        if (roles_[p] == Role::of_case && marking[p] != before_[p]) result.push_back(p);
    }
    return result;
}

std::vector<PlaceId> CaseEnd::changed_resources(const Marking& marking) const {
    std::vector<Count> now(roles_.size(), 0);
    std::vector<Count> before(roles_.size(), 0);
    for (PlaceId p = 0; p < roles_.size(); ++p) {
        if (roles_[p] != Role::resource || outside_[p]) continue;
        now[group_of_[p]] += marking[p];
        before[group_of_[p]] += before_[p];
    }
    std::vector<PlaceId> result;
    for (PlaceId p = 0; p < roles_.size(); ++p) {
        if (now[p] != before[p]) result.push_back(p);
    }
    return result;
}

Soundness soundness(
    const PtNet& net, const StateSpace& space, const Components& components, const Budget& budget
) {
    const CaseEnd end(net, budget.limits().cases);
    std::vector<std::uint8_t> over(space.states.size());
    Soundness result;
    Patience patience(budget);
    for (StateId state = 0; state < space.states.size(); ++state) {
        if (patience.over(4 * net.places.size())) {
            result.complete = false;
            return result;
        }
        const Marking marking = space.marking(state);
        over[state] = end.over(marking) ? 1 : 0;
        const bool dead = space.edge_range(state).first == space.edge_range(state).second;
        if (over[state] == 0) {
            if (dead && !result.stuck) result.stuck = state;
            if (!result.improper && end.all_ended(marking)) result.improper = state;
        } else if (dead && !result.drained && !end.changed_resources(marking).empty()) {
            result.drained = state;
        }
    }
    const NotReaching found = first_state_not_reaching(
        space, components, [&](StateId state) { return over[state] != 0; }, budget
    );
    result.cannot_complete = found.first;
    result.complete = found.complete;
    return result;
}

}  // namespace nets::analysis
