#include "nets/analysis/reduction.hpp"

#include "nets/analysis/siphons.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::size_t nodes_max = 2'000;  ///< larger nets are left as they are

bool same_effect(const std::vector<Touch>& one, const std::vector<Touch>& other) {
    return std::ranges::equal(one, other, [](const Touch& a, const Touch& b) {
        return a.place == b.place && a.need == b.need && a.below == b.below && a.reset == b.reset &&
               a.consume == b.consume && a.produce == b.produce;
    });
}

std::vector<PtArc> joined(std::vector<PtArc> one, const std::vector<PtArc>& other) {
    for (const PtArc& arc : other) {
        const auto at = std::ranges::find(one, arc.place, &PtArc::place);
        if (at == one.end()) {
            one.push_back(arc);
        } else {
            at->weight += arc.weight;
        }
    }
    return one;
}

class Reducer {
public:
    Reducer(const PtNet& net, const Marking& initial, const Budget& budget)
        : budget_(budget),
          result_{.net = net, .initial = initial, .stands_for = {}, .dropped_dead = false} {
        result_.net.start.reset();
        result_.net.end.clear();
        for (TransitionId t = 0; t < net.transitions.size(); ++t)
            result_.stands_for.push_back({t});
    }

    Reduced run() && {
        if (net().places.size() + net().transitions.size() > nodes_max) return std::move(result_);
        for (bool changed = true; changed && !budget_.out_of_time();) {
            changed = drop_dead();
            changed = drop_copies_of_transitions() || changed;
            changed = drop_idle_places() || changed;
            changed = join_through_a_place() || changed;
        }
        return std::move(result_);
    }

private:
    PtNet& net() { return result_.net; }

    void erase_transitions(const std::vector<bool>& gone) {
        std::vector<PtTransition> transitions;
        std::vector<std::vector<TransitionId>> stands_for;
        for (std::size_t t = 0; t < gone.size(); ++t) {
            if (gone[t]) continue;
            transitions.push_back(std::move(net().transitions[t]));
            stands_for.push_back(std::move(result_.stands_for[t]));
        }
        net().transitions = std::move(transitions);
        result_.stands_for = std::move(stands_for);
    }

    /// Only for places that no transition needs, is kept back by, or can be brought to need.
    void erase_places(const std::vector<bool>& gone) {
        std::vector<std::optional<PlaceId>> moved(gone.size());
        std::vector<PtPlace> places;
        Marking initial;
        for (PlaceId p = 0; p < gone.size(); ++p) {
            if (gone[p]) continue;
            moved[p] = static_cast<PlaceId>(places.size());
            places.push_back(std::move(net().places[p]));
            initial.push_back(result_.initial[p]);
        }
        const auto renumber = [&](std::vector<PtArc>& arcs) {
            std::erase_if(arcs, [&](const PtArc& arc) { return !moved[arc.place]; });
            for (PtArc& arc : arcs)
                arc.place = *moved[arc.place];
        };
        for (PtTransition& transition : net().transitions) {
            renumber(transition.consume);
            renumber(transition.produce);
            renumber(transition.read);
            renumber(transition.inhibit);
            std::erase_if(transition.reset, [&](PlaceId p) { return !moved[p]; });
            for (PlaceId& p : transition.reset)
                p = *moved[p];
        }
        net().places = std::move(places);
        result_.initial = std::move(initial);
    }

    bool drop_dead() {
        const EmptySiphon siphon = largest_empty_siphon(net(), result_.initial, budget_);
        if (siphon.dead.empty()) return false;
        std::vector<bool> gone(net().transitions.size(), false);
        for (const auto& dead : siphon.dead)
            gone[dead.transition] = true;
        erase_transitions(gone);
        result_.dropped_dead = true;
        return true;
    }

    /// Two transitions that ask and do the same: one stands for both.
    bool drop_copies_of_transitions() {
        const auto touched = all_touches(net());
        std::multimap<std::size_t, TransitionId> seen;
        std::vector<bool> gone(touched.size(), false);
        bool any = false;
        for (TransitionId t = 0; t < touched.size(); ++t) {
            std::size_t key = touched[t].size();
            for (const Touch& touch : touched[t]) {
                key = key * 31 + touch.place * 7 + touch.need * 3 + touch.produce;
            }
            const auto [first, last] = seen.equal_range(key);
            gone[t] = std::any_of(first, last, [&](const auto& entry) {
                return same_effect(touched[entry.second], touched[t]);
            });
            if (!gone[t]) seen.emplace(key, t);
            any = any || gone[t];
        }
        if (any) erase_transitions(gone);
        return any;
    }

    /// A place that always holds what its transitions need and keeps nobody back says nothing.
    bool drop_idle_places() {
        std::vector<bool> idle(net().places.size(), true);
        for (const std::vector<Touch>& of_transition : all_touches(net())) {
            for (const Touch& touch : of_transition) {
                const bool harmless = !touch.reset && !touch.below &&
                                      touch.consume <= touch.produce &&
                                      result_.initial[touch.place] >= touch.need;
                if (!harmless) idle[touch.place] = false;
            }
        }
        if (std::ranges::find(idle, true) == idle.end()) return false;
        erase_places(idle);
        return true;
    }

    bool join_through_a_place() {
        const auto touched = all_touches(net());
        std::vector<bool> watched(net().places.size(), false);  // by inhibit, capacity or reset
        std::vector<std::vector<TransitionId>> users(net().places.size());
        for (TransitionId t = 0; t < touched.size(); ++t) {
            for (const Touch& touch : touched[t]) {
                users[touch.place].push_back(t);
                if (touch.below || touch.reset) watched[touch.place] = true;
            }
        }
        for (PlaceId p = 0; p < users.size(); ++p) {
            if (result_.initial[p] == 0 && !watched[p] && join(p, users[p], touched, watched)) {
                return true;
            }
        }
        return false;
    }

    /// Where tokens of a place can only go on by transitions that need nothing else, they may as
    /// well go on at once: each filler is joined with each of those, and the place is gone.
    bool join(
        PlaceId place,
        const std::vector<TransitionId>& users,
        const std::vector<std::vector<Touch>>& touched,
        const std::vector<bool>& watched
    ) {
        std::vector<TransitionId> fillers;
        std::vector<TransitionId> emptiers;
        for (const TransitionId t : users) {
            const auto at = std::ranges::find(touched[t], place, &Touch::place);
            if (at->need == 0 && at->produce == 1) {
                fillers.push_back(t);
            } else if (at->need == 1 && at->consume == 1 && at->produce == 0) {
                emptiers.push_back(t);
            } else {
                return false;
            }
        }
        if (fillers.empty() || emptiers.empty()) return false;
        if (fillers.size() > 1 && emptiers.size() > 1 && fillers.size() * emptiers.size() > 6) {
            return false;
        }
        for (const TransitionId t : emptiers) {
            for (const Touch& touch : touched[t]) {
                if (touch.place == place) continue;
                if (touch.need > 0 || watched[touch.place]) return false;
            }
        }
        std::vector<bool> gone(net().transitions.size(), false);
        for (const TransitionId filler : fillers) {
            for (const TransitionId emptier : emptiers)
                add_joined(place, filler, emptier);
            gone[filler] = true;
        }
        for (const TransitionId emptier : emptiers)
            gone[emptier] = true;
        gone.resize(net().transitions.size(), false);
        erase_transitions(gone);
        return true;
    }

    void add_joined(PlaceId place, TransitionId filler, TransitionId emptier) {
        PtTransition joint = net().transitions[filler];
        std::erase_if(joint.produce, [&](const PtArc& arc) { return arc.place == place; });
        joint.produce = joined(std::move(joint.produce), net().transitions[emptier].produce);
        joint.id += "+" + net().transitions[emptier].id;
        std::vector<TransitionId> sequence = result_.stands_for[filler];
        const auto& more = result_.stands_for[emptier];
        sequence.insert(sequence.end(), more.begin(), more.end());
        net().transitions.push_back(std::move(joint));
        result_.stands_for.push_back(std::move(sequence));
    }

    const Budget& budget_;
    Reduced result_;
};

}  // namespace

Reduced reduced(const PtNet& net, const Marking& initial, const Budget& budget) {
    return Reducer(net, initial, budget).run();
}

}  // namespace nets::analysis
