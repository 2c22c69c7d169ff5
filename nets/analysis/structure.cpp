#include "nets/analysis/structure.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace nets::analysis {
namespace {

bool ordinary(const PtNet& net) {
    const auto one = [](const PtArc& arc) { return arc.weight == 1; };
    return plain(net) && std::ranges::all_of(net.transitions, [&](const PtTransition& transition) {
               return transition.read.empty() && std::ranges::all_of(transition.consume, one) &&
                      std::ranges::all_of(transition.produce, one);
           });
}

bool free_choice(const PtNet& net) {
    std::vector<std::set<PlaceId>> inputs;
    for (const PtTransition& transition : net.transitions) {
        std::set<PlaceId>& mine = inputs.emplace_back();
        for (const PtArc& arc : transition.consume)
            mine.insert(arc.place);
    }
    std::map<PlaceId, const std::set<PlaceId>*> first;
    for (const std::set<PlaceId>& mine : inputs) {
        for (const PlaceId place : mine) {
            const auto [at, fresh] = first.try_emplace(place, &mine);
            if (!fresh && *at->second != mine) return false;
        }
    }
    return true;
}

}  // namespace

std::string_view name(NetClass net_class) {
    switch (net_class) {
        case NetClass::state_machine:
            return "state machine";
        case NetClass::marked_graph:
            return "marked graph";
        case NetClass::free_choice:
            return "free choice";
        case NetClass::general:
            return "general";
    }
    base::check(false, "a class of nets outside its enumeration");
    return {};
}

NetClass classify(const PtNet& net) {
    if (!ordinary(net)) return NetClass::general;
    const bool state_machine =
        std::ranges::all_of(net.transitions, [](const PtTransition& transition) {
            return transition.consume.size() == 1 && transition.produce.size() == 1;
        });
    if (state_machine) return NetClass::state_machine;
    std::vector<int> in(net.places.size(), 0);
    std::vector<int> out(net.places.size(), 0);
    for (const PtTransition& transition : net.transitions) {
        for (const PtArc& arc : transition.produce)
            ++in[arc.place];
        for (const PtArc& arc : transition.consume)
            ++out[arc.place];
    }
    const auto one = [](int count) { return count == 1; };
    if (std::ranges::all_of(in, one) && std::ranges::all_of(out, one)) {
        return NetClass::marked_graph;
    }
    return free_choice(net) ? NetClass::free_choice : NetClass::general;
}

}  // namespace nets::analysis
