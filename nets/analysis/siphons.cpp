#include "nets/analysis/siphons.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::size_t search_nodes_max = 20'000;
/// Places looked at or remembered by a search: what it costs, in time and in memory.
constexpr std::size_t search_places_max = 50'000'000;

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

/// Where `shrink` looks: a place stays in the set only while each of the transitions that have it
/// among their `targets` has one of its `answers` in it.
struct Rule {
    const std::vector<std::vector<PlaceId>>& answers;           ///< of each transition
    const std::vector<std::vector<TransitionId>>& answered_by;  ///< the same, of each place
    const std::vector<std::vector<PlaceId>>& targets;           ///< of each transition
};

/// The largest siphon inside a set is what this leaves of it.
Rule siphon_rule(const Flow& flow) {
    return {.answers = flow.needs, .answered_by = flow.needers, .targets = flow.fills};
}

Rule trap_rule(const Flow& flow) {
    return {.answers = flow.fills, .answered_by = flow.fillers, .targets = flow.needs};
}

/// Takes places out of `set` until the rule holds; all of them when the time is over first.
void shrink(Set& set, const Rule& rule, Patience& patience) {
    std::vector<std::size_t> answers(rule.answers.size(), 0);
    std::vector<PlaceId> gone;
    const auto take_targets = [&](std::size_t transition) {
        for (const PlaceId place : rule.targets[transition]) {
            if (set[place] == 0) continue;
            set[place] = 0;
            gone.push_back(place);
        }
    };
    for (std::size_t t = 0; t < answers.size() && !patience.over(rule.answers[t].size()); ++t) {
        answers[t] = static_cast<std::size_t>(
            std::ranges::count_if(rule.answers[t], [&](PlaceId place) { return set[place] != 0; })
        );
    }
    for (std::size_t t = 0; t < answers.size(); ++t) {
        if (answers[t] == 0) take_targets(t);
    }
    while (!gone.empty()) {
        const PlaceId place = gone.back();
        gone.pop_back();
        if (patience.over(1 + rule.answered_by[place].size())) break;
        for (const TransitionId transition : rule.answered_by[place]) {
            if (answers[transition] > 0 && --answers[transition] == 0) take_targets(transition);
        }
    }
    if (patience.over(0)) std::ranges::fill(set, std::uint8_t{0});
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
        : flow_(flow), initial_(initial), budget_(budget), patience_(budget) {}

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
            places_ += initial_.size();
            if (++steps > search_nodes_max || budget_.out_of_time()) return {};
            if (places_ > search_places_max) return {};
            Branch branch = std::move(open_.back());
            open_.pop_back();
            if (auto siphon = look_at(std::move(branch))) {
                if (patience_.over(0)) return {};
                return {.answer = SiphonTrap::fails, .siphon = members(*siphon)};
            }
        }
        if (places_ > search_places_max || patience_.over(0)) return {};
        return {.answer = SiphonTrap::holds, .siphon = {}};
    }

private:
    struct Branch {
        Set allowed;
        Set required;
    };

    std::optional<Set> look_at(Branch branch) {
        Set& siphon = branch.allowed;
        shrink(siphon, siphon_rule(flow_), patience_);
        for (PlaceId place = 0; place < siphon.size(); ++place) {
            if (branch.required[place] != 0 && siphon[place] == 0) return std::nullopt;
        }
        if (std::ranges::none_of(siphon, [](auto in) { return in != 0; })) return std::nullopt;
        Set required_trap = branch.required;
        shrink(required_trap, trap_rule(flow_), patience_);
        if (holds_token(required_trap, initial_)) return std::nullopt;
        Set trap = siphon;
        shrink(trap, trap_rule(flow_), patience_);
        if (!holds_token(trap, initial_)) return std::move(siphon);
        for (const PlaceId place : members(trap)) {
            if (branch.required[place] != 0) continue;
            places_ += initial_.size();
            if (places_ > search_places_max) return std::nullopt;
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
    Patience patience_;
    std::vector<Branch> open_;
    std::size_t places_ = 0;
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

EmptySiphon largest_empty_siphon(const PtNet& net, const Marking& initial, const Budget& budget) {
    const Flow flow = flow_of(net);
    Set set(initial.size(), 0);
    for (PlaceId place = 0; place < set.size(); ++place)
        set[place] = initial[place] == 0 ? 1 : 0;
    Patience patience(budget);
    shrink(set, siphon_rule(flow), patience);
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
