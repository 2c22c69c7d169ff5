#pragma once

#include "nets/analysis/pt_net.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

/// A reference that is too simple to be wrong: markings as they are, maps and sets, each property
/// by its definition.
namespace naive {

using nets::analysis::Marking;
using nets::analysis::PtNet;
using nets::analysis::TransitionId;

struct Graph {
    std::vector<Marking> states;
    std::vector<std::vector<std::pair<TransitionId, std::size_t>>> edges;

    [[nodiscard]] std::set<std::size_t> reachable(std::size_t from) const {
        std::set<std::size_t> seen{from};
        std::vector<std::size_t> open{from};
        while (!open.empty()) {
            const std::size_t state = open.back();
            open.pop_back();
            for (const auto& [t, target] : edges[state]) {
                if (seen.insert(target).second) open.push_back(target);
            }
        }
        return seen;
    }
};

/// Written from the definition of the firing rule, not with `nets::analysis::enabled`.
inline std::optional<Marking> fire(const PtNet& net, Marking marking, TransitionId t) {
    const auto& transition = net.transitions[t];
    for (const auto& arc : transition.read) {
        if (marking[arc.place] < arc.weight) return std::nullopt;
    }
    for (const auto& arc : transition.inhibit) {
        if (marking[arc.place] >= arc.weight) return std::nullopt;
    }
    for (const auto& arc : transition.consume) {
        if (marking[arc.place] < arc.weight) return std::nullopt;
        marking[arc.place] -= arc.weight;
    }
    for (const auto place : transition.reset)
        marking[place] = 0;
    for (const auto& arc : transition.produce) {
        marking[arc.place] += arc.weight;
        const auto capacity = net.places[arc.place].capacity;
        if (capacity && marking[arc.place] > *capacity) return std::nullopt;
    }
    return marking;
}

/// Nothing when there are more than `states_max`.
inline std::optional<Graph> explore(
    const PtNet& net, const Marking& initial, std::size_t states_max
) {
    Graph graph{{initial}, {{}}};
    std::map<Marking, std::size_t> index{{initial, 0}};
    for (std::size_t state = 0; state < graph.states.size(); ++state) {
        for (TransitionId t = 0; t < net.transitions.size(); ++t) {
            const auto after = naive::fire(net, graph.states[state], t);
            if (!after) continue;
            const auto [at, fresh] = index.try_emplace(*after, graph.states.size());
            if (fresh) {
                if (graph.states.size() == states_max) return std::nullopt;
                graph.states.push_back(*after);
                graph.edges.emplace_back();
            }
            graph.edges[state].emplace_back(t, at->second);
        }
    }
    return graph;
}

struct RandomNet {
    bool plain = false;     ///< only consume and produce arcs
    bool workflow = false;  ///< with a start and an end
};

inline PtNet random_net(std::uint64_t seed, const RandomNet& options) {
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::uint64_t n) { return random() % (n + 1); };
    PtNet net{.name = "random " + std::to_string(seed)};
    const auto places = 2 + up_to(5);
    for (std::uint64_t p = 0; p < places; ++p) {
        net.places.push_back({.id = "p" + std::to_string(p), .initial = up_to(5) / 3});
        if (!options.plain && up_to(5) == 0) net.places.back().capacity = 1 + up_to(2);
    }
    const auto arcs = [&](std::uint64_t most) {
        std::vector<nets::analysis::PtArc> list;
        for (std::uint32_t p = 0; p < places && list.size() < most; ++p) {
            if (up_to(2) == 0) list.push_back({.place = p, .weight = 1 + up_to(6) / 6});
        }
        return list;
    };
    const auto transitions = 1 + up_to(6);
    for (std::uint64_t t = 0; t < transitions; ++t) {
        auto& made = net.transitions.emplace_back();
        made.id = "t" + std::to_string(t);
        made.consume = arcs(2);
        if (made.consume.empty()) {
            made.consume.push_back({.place = static_cast<std::uint32_t>(up_to(places - 1))});
        }
        made.produce = arcs(2);
        if (options.plain) continue;
        if (up_to(3) == 0) made.read = arcs(1);
        if (up_to(3) == 0) made.inhibit = arcs(1);
        if (up_to(4) == 0) made.reset = {static_cast<std::uint32_t>(up_to(places - 1))};
    }
    if (options.workflow) {
        net.start = 0;
        net.places[0].initial = 0;
        net.places[0].capacity.reset();
        net.end = {static_cast<std::uint32_t>(places - 1)};
        net.places.back().initial = 0;
    }
    return net;
}

}  // namespace naive
