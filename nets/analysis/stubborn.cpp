#include "nets/analysis/stubborn.hpp"

#include "base/result.hpp"

#include <algorithm>

namespace nets::analysis {
namespace {

bool takes(const Touch& touch) {
    return touch.consume > 0 || touch.reset;
}

/// Whether two transitions can, through one place, disable each other or give another marking in
/// the other order.
bool interfere(const Touch& one, const Touch& other) {
    const auto disables = [](const Touch& actor, const Touch& victim) {
        return (takes(actor) && victim.need > 0) || (actor.produce > 0 && victim.below.has_value());
    };
    return disables(one, other) || disables(other, one) || (one.reset && other.changes()) ||
           (other.reset && one.changes());
}

}  // namespace

StubbornSets::StubbornSets(const PtNet& net)
    : touches_(all_touches(net)),
      conflicts_(net.transitions.size()),
      adders_(net.places.size()),
      takers_(net.places.size()) {
    struct User {
        TransitionId transition;
        const Touch* touch;
    };
    std::vector<std::vector<User>> users(net.places.size());
    for (TransitionId t = 0; t < touches_.size(); ++t) {
        for (const Touch& touch : touches_[t]) {
            users[touch.place].push_back({t, &touch});
            if (touch.produce > 0) adders_[touch.place].push_back(t);
            if (takes(touch)) takers_[touch.place].push_back(t);
        }
    }
    for (TransitionId t = 0; t < touches_.size(); ++t) {
        for (const Touch& touch : touches_[t]) {
            for (const User& user : users[touch.place]) {
                if (user.transition != t && interfere(touch, *user.touch)) {
                    conflicts_[t].push_back(user.transition);
                }
            }
        }
        std::ranges::sort(conflicts_[t]);
        const auto rest = std::ranges::unique(conflicts_[t]);
        conflicts_[t].erase(rest.begin(), rest.end());
    }
}

bool StubbornSets::enabled(const Marking& marking, TransitionId transition) const {
    return std::ranges::all_of(touches_[transition], [&](const Touch& touch) {
        const Count held = marking[touch.place];
        return held >= touch.need && (!touch.below || held < *touch.below);
    });
}

const std::vector<TransitionId>& StubbornSets::enablers(
    const Marking& marking, TransitionId transition
) const {
    const std::vector<TransitionId>* best = nullptr;
    for (const Touch& touch : touches_[transition]) {
        const Count held = marking[touch.place];
        const std::vector<TransitionId>* candidates = nullptr;
        if (held < touch.need) candidates = &adders_[touch.place];
        if (touch.below && held >= *touch.below) candidates = &takers_[touch.place];
        if (candidates != nullptr && (best == nullptr || candidates->size() < best->size())) {
            best = candidates;
        }
    }
    base::check(best != nullptr, "a disabled transition has a place that disables it");
    return *best;
}

std::vector<TransitionId> StubbornSets::closure(
    const Marking& marking, TransitionId seed, std::size_t give_up_at
) const {
    std::vector<std::uint8_t> in(touches_.size(), 0);
    std::vector<TransitionId> open{seed};
    std::vector<TransitionId> chosen;
    in[seed] = 1;
    while (!open.empty()) {
        const TransitionId t = open.back();
        open.pop_back();
        const bool fires = enabled(marking, t);
        if (fires) {
            chosen.push_back(t);
            if (chosen.size() >= give_up_at) return chosen;
        }
        for (const TransitionId other : fires ? conflicts_[t] : enablers(marking, t)) {
            if (in[other] != 0) continue;
            in[other] = 1;
            open.push_back(other);
        }
    }
    return chosen;
}

std::vector<TransitionId> StubbornSets::of(const Marking& marking) const {
    std::vector<TransitionId> all;
    for (TransitionId t = 0; t < touches_.size(); ++t) {
        if (enabled(marking, t)) all.push_back(t);
    }
    std::vector<TransitionId> best = all;
    for (const TransitionId seed : all) {
        if (best.size() <= 1) break;
        std::vector<TransitionId> found = closure(marking, seed, best.size());
        if (found.size() < best.size()) best = std::move(found);
    }
    std::ranges::sort(best);
    return best;
}

}  // namespace nets::analysis
