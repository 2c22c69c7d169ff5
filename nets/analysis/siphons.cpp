#include "nets/analysis/siphons.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::size_t search_nodes_max = 20'000;

/// Which transitions need, and which fill, which places; read arcs count as both.
struct Flow {
    std::vector<std::vector<PlaceId>> needs;         ///< of each transition
    std::vector<std::vector<PlaceId>> fills;         ///< of each transition
    std::vector<std::vector<TransitionId>> needers;  ///< of each place
    std::vector<std::vector<TransitionId>> fillers;  ///< of each place
};

Flow flow_of(const PtNet& net) {
    Flow flow{
        .needs = std::vector<std::vector<PlaceId>>(net.transitions.size()),
        .fills = std::vector<std::vector<PlaceId>>(net.transitions.size()),
        .needers = std::vector<std::vector<TransitionId>>(net.places.size()),
        .fillers = std::vector<std::vector<TransitionId>>(net.places.size())
    };
    for (TransitionId t = 0; t < net.transitions.size(); ++t) {
        for (const Touch& touch : touches(net, t)) {
            if (touch.need > 0) {
                flow.needs[t].push_back(touch.place);
                flow.needers[touch.place].push_back(t);
            }
            const bool keeps = touch.need > touch.consume;  // a read arc
            if (touch.produce > 0 || (keeps && !touch.reset)) {
                flow.fills[t].push_back(touch.place);
                flow.fillers[touch.place].push_back(t);
            }
        }
    }
    return flow;
}

using Set = std::vector<std::uint8_t>;  ///< of places: 1 = in it

bool any_in(const std::vector<PlaceId>& places, const Set& set) {
    return std::ranges::any_of(places, [&](PlaceId place) { return set[place] != 0; });
}

/// Takes places out of `set` until, for each place left, all of `sources` have one of `answers` in
/// it. With fillers and needs that makes the largest siphon inside, with needers and fills the
/// largest trap.
void shrink(
    Set& set,
    const std::vector<std::vector<TransitionId>>& sources,
    const std::vector<std::vector<PlaceId>>& answers
) {
    for (bool changed = true; changed;) {
        changed = false;
        for (PlaceId place = 0; place < set.size(); ++place) {
            if (set[place] == 0) continue;
            const bool stays = std::ranges::all_of(sources[place], [&](TransitionId transition) {
                return any_in(answers[transition], set);
            });
            if (!stays) {
                set[place] = 0;
                changed = true;
            }
        }
    }
}

bool holds_token(const Set& set, const Marking& marking) {
    for (PlaceId place = 0; place < set.size(); ++place) {
        if (set[place] != 0 && marking[place] > 0) return true;
    }
    return false;
}

std::vector<PlaceId> members(const Set& set) {
    std::vector<PlaceId> result;
    for (PlaceId place = 0; place < set.size(); ++place) {
        if (set[place] != 0) result.push_back(place);
    }
    return result;
}

/// Looks for a siphon whose largest trap holds no token. Each step leaves out one place of a marked
/// trap, which a siphon that lacks a marked trap must lack too.
class BadSiphonSearch {
public:
    BadSiphonSearch(const Flow& flow, const Marking& initial, const Budget& budget)
        : flow_(flow), initial_(initial), budget_(budget) {}

    SiphonTrapAnswer run() {
        Branch all{.allowed = Set(initial_.size(), 1), .required = Set(initial_.size(), 0)};
        for (PlaceId place = 0; place < initial_.size(); ++place) {
            // A place that nothing touches is a siphon too, but keeps nobody waiting.
            if (flow_.needers[place].empty() && flow_.fillers[place].empty()) {
                all.allowed[place] = 0;
            }
        }
        open_.push_back(std::move(all));
        std::size_t steps = 0;
        while (!open_.empty()) {
            if (++steps > search_nodes_max || budget_.out_of_time()) return {};
            Branch branch = std::move(open_.back());
            open_.pop_back();
            if (auto siphon = look_at(std::move(branch))) {
                return {.answer = SiphonTrap::fails, .siphon = members(*siphon)};
            }
        }
        return {.answer = SiphonTrap::holds, .siphon = {}};
    }

private:
    struct Branch {
        Set allowed;
        Set required;
    };

    std::optional<Set> look_at(Branch branch) {
        Set& siphon = branch.allowed;
        shrink(siphon, flow_.fillers, flow_.needs);
        for (PlaceId place = 0; place < siphon.size(); ++place) {
            if (branch.required[place] != 0 && siphon[place] == 0) return std::nullopt;
        }
        if (std::ranges::none_of(siphon, [](auto in) { return in != 0; })) return std::nullopt;
        Set required_trap = branch.required;
        shrink(required_trap, flow_.needers, flow_.fills);
        if (holds_token(required_trap, initial_)) return std::nullopt;
        Set trap = siphon;
        shrink(trap, flow_.needers, flow_.fills);
        if (!holds_token(trap, initial_)) return std::move(siphon);
        for (const PlaceId place : members(trap)) {
            if (branch.required[place] != 0) continue;
            Branch without = branch;
            without.allowed[place] = 0;
            open_.push_back(std::move(without));
            branch.required[place] = 1;
        }
        return std::nullopt;
    }

    const Flow& flow_;
    const Marking& initial_;
    const Budget& budget_;
    std::vector<Branch> open_;
};

bool weights_are_one(const PtNet& net) {
    const auto one = [](const PtArc& arc) { return arc.weight == 1; };
    return std::ranges::all_of(net.transitions, [&](const PtTransition& transition) {
        return std::ranges::all_of(transition.consume, one) &&
               std::ranges::all_of(transition.produce, one) &&
               std::ranges::all_of(transition.read, one);
    });
}

}  // namespace

EmptySiphon largest_empty_siphon(const PtNet& net, const Marking& initial) {
    const Flow flow = flow_of(net);
    Set set(initial.size(), 0);
    for (PlaceId place = 0; place < set.size(); ++place)
        set[place] = initial[place] == 0 ? 1 : 0;
    shrink(set, flow.fillers, flow.needs);
    EmptySiphon result{.places = members(set), .dead = {}};
    for (TransitionId t = 0; t < net.transitions.size(); ++t) {
        const auto missing =
            std::ranges::find_if(flow.needs[t], [&](PlaceId place) { return set[place] != 0; });
        if (missing != flow.needs[t].end()) {
            result.dead.push_back({.transition = t, .missing = *missing});
        }
    }
    return result;
}

SiphonTrapAnswer siphon_trap(const PtNet& net, const Marking& initial, const Budget& budget) {
    if (!plain(net) || !weights_are_one(net)) return {};
    const Flow flow = flow_of(net);
    return BadSiphonSearch(flow, initial, budget).run();
}

}  // namespace nets::analysis
