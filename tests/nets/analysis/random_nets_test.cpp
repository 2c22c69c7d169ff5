#include "nets/analysis/check.hpp"
#include "nets/analysis/components.hpp"
#include "nets/analysis/reduction.hpp"
#include "nets/analysis/siphons.hpp"
#include "nets/analysis/soundness.hpp"
#include "nets/analysis/state_space.hpp"
#include "nets/analysis/stubborn.hpp"
#include "tests/nets/analysis/naive.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace analysis = nets::analysis;
using analysis::Answer;
using analysis::Property;
using analysis::PtNet;

namespace {

constexpr std::uint64_t nets_tried = 1'500;
constexpr std::size_t states_max = 300;

bool dead(const naive::Graph& graph, std::size_t state) {
    return graph.edges[state].empty();
}

bool has_deadlock(const naive::Graph& graph) {
    for (std::size_t s = 0; s < graph.states.size(); ++s) {
        if (dead(graph, s)) return true;
    }
    return false;
}

/// By the definition: from each state, for each transition, a state is reachable that fires it.
bool is_live(const PtNet& net, const naive::Graph& graph) {
    for (std::size_t s = 0; s < graph.states.size(); ++s) {
        std::set<analysis::TransitionId> fires;
        for (const std::size_t later : graph.reachable(s)) {
            for (const auto& [t, target] : graph.edges[later])
                fires.insert(t);
        }
        if (fires.size() < net.transitions.size()) return false;
    }
    return true;
}

template <class Visit>
void each_small_net(const naive::RandomNet& options, const Visit& visit) {
    std::size_t visited = 0;
    for (std::uint64_t seed = 1; seed <= nets_tried; ++seed) {
        const PtNet net = naive::random_net(seed, options);
        const auto initial = analysis::initial_marking(net);
        const auto graph = naive::explore(net, initial, states_max);
        if (!graph) continue;
        CAPTURE(seed);
        visit(net, initial, *graph);
        ++visited;
    }
    CHECK(visited > nets_tried / 4);
}

std::uint64_t edge_count(const naive::Graph& graph) {
    std::uint64_t count = 0;
    for (const auto& edges : graph.edges)
        count += edges.size();
    return count;
}

}  // namespace

TEST_CASE("random nets with every kind of arc get the answers of a naive explorer") {
    each_small_net({}, [](const PtNet& net, const auto&, const naive::Graph& graph) {
        const auto report = analysis::check(net, {});
        CHECK(report.states == graph.states.size());
        CHECK(report.edges == edge_count(graph));
        CHECK(report.bounded == true);
        analysis::Count most = 0;
        analysis::Count total = 0;
        std::set<analysis::TransitionId> fires;
        for (std::size_t s = 0; s < graph.states.size(); ++s) {
            const auto& marking = graph.states[s];
            most = std::max(most, std::ranges::max(marking));
            total = std::max(
                total, std::accumulate(marking.begin(), marking.end(), analysis::Count{0})
            );
            for (const auto& [t, target] : graph.edges[s])
                fires.insert(t);
        }
        CHECK(report.max_token_in_place == most);
        CHECK(report.max_token_per_marking == total);
        CHECK(report.one_safe == (most <= 1));
        CHECK(report.has_deadlock == has_deadlock(graph));
        CHECK(report.quasi_live == (fires.size() == net.transitions.size()));
        CHECK(report.live == is_live(net, graph));
    });
}

TEST_CASE("stubborn sets and reduction keep whether there is a deadlock, and the trace holds") {
    for (const bool plain : {true, false}) {
        each_small_net(
            {.plain = plain},
            [](const auto& net, const auto& initial, const auto& graph) {
                analysis::Budget budget({});
                const auto small = analysis::reduced(net, initial, budget);
                const analysis::StubbornSets stubborn(small.net);
                const auto space =
                    analysis::explore(small.net, small.initial, budget, {.stubborn = &stubborn});
                REQUIRE(space.complete());
                CHECK(space.deadlock.has_value() == has_deadlock(graph));
                const auto whole = analysis::explore(small.net, small.initial, budget);
                CHECK(whole.deadlock.has_value() == has_deadlock(graph));
                CHECK(space.states.size() <= whole.states.size());
                if (!space.deadlock) return;
                auto marking = initial;
                for (const auto t : space.trace(*space.deadlock)) {
                    for (const auto original : small.stands_for[t]) {
                        REQUIRE(analysis::enabled(net, marking, original));
                        marking = analysis::fired(net, marking, original);
                    }
                }
                for (analysis::TransitionId t = 0; t < net.transitions.size(); ++t) {
                    CHECK_FALSE(analysis::enabled(net, marking, t));
                }
            }
        );
    }
}

TEST_CASE("reduction keeps whether all transitions are live") {
    each_small_net({.plain = true}, [](const auto& net, const auto& initial, const auto& graph) {
        analysis::Budget budget({});
        const auto small = analysis::reduced(net, initial, budget);
        const auto space = analysis::explore(small.net, small.initial, budget);
        REQUIRE(space.complete());
        std::vector<analysis::TransitionId> alone(small.net.transitions.size());
        std::iota(alone.begin(), alone.end(), analysis::TransitionId{0});
        const auto live =
            analysis::live_transitions(space, analysis::components(space, budget), alone, budget);
        REQUIRE(live);
        const bool all = std::ranges::find(*live, 0) == live->end() && !small.dropped_dead;
        CHECK(all == is_live(net, graph));
    });
}

TEST_CASE("an empty siphon stays empty and a siphon-trap answer means no deadlock") {
    each_small_net({.plain = true}, [](const auto& net, const auto& initial, const auto& graph) {
        const analysis::Budget budget({});
        const auto siphon = analysis::largest_empty_siphon(net, initial, budget);
        for (std::size_t s = 0; s < graph.states.size(); ++s) {
            for (const auto place : siphon.places)
                CHECK(graph.states[s][place] == 0);
            for (const auto& [t, target] : graph.edges[s]) {
                CHECK(
                    std::ranges::find(siphon.dead, t, &analysis::EmptySiphon::Dead::transition) ==
                    siphon.dead.end()
                );
            }
        }
        const auto answer = analysis::siphon_trap(net, initial, budget);
        if (answer.answer == analysis::SiphonTrap::holds) CHECK_FALSE(has_deadlock(graph));
    });
}

TEST_CASE("place invariants hold in every reachable marking and bounds are never passed") {
    each_small_net({}, [](const auto& net, const auto& initial, const auto& graph) {
        const analysis::Budget budget({});
        const auto invariants = analysis::place_invariants(net, initial, budget);
        const auto bounds = analysis::place_bounds(net, initial, invariants, budget);
        for (const auto& marking : graph.states) {
            for (const auto& invariant : invariants.found) {
                analysis::Count sum = 0;
                for (const auto& term : invariant.terms) {
                    sum += static_cast<analysis::Count>(term.factor) * marking[term.index];
                }
                CHECK(sum == invariant.value);
            }
            for (std::size_t p = 0; p < marking.size(); ++p) {
                if (bounds[p]) CHECK(marking[p] <= *bounds[p]);
            }
        }
    });
}

TEST_CASE("soundness is what its definition says") {
    for (const analysis::Count cases : {1U, 2U}) {
        std::size_t sound = 0;
        for (std::uint64_t seed = 1; seed <= nets_tried; ++seed) {
            const PtNet net = naive::random_net(seed, {.plain = seed % 2 == 0, .workflow = true});
            const auto initial = analysis::initial_marking(net, cases);
            const auto graph = naive::explore(net, initial, states_max);
            if (!graph) continue;
            CAPTURE(seed);
            const auto over = [&](const analysis::Marking& marking) {
                for (std::size_t p = 0; p + 1 < marking.size(); ++p) {
                    if (net.places[p].initial == 0 && marking[p] > 0) return false;
                }
                return true;
            };
            bool completes = true;
            bool proper = true;
            for (std::size_t s = 0; s < graph->states.size(); ++s) {
                const auto later = graph->reachable(s);
                completes = completes && std::ranges::any_of(later, [&](std::size_t state) {
                                return over(graph->states[state]);
                            });
                const auto& marking = graph->states[s];
                proper = proper && (marking.back() < cases || over(marking));
            }
            const auto report = analysis::check(net, {.cases = cases});
            const auto answer = [&](Property property) { return report.verdict(property)->answer; };
            CHECK((answer(Property::option_to_complete) == Answer::proved) == completes);
            CHECK((answer(Property::proper_completion) == Answer::proved) == proper);
            const bool all = completes && proper && report.quasi_live == true;
            CHECK((answer(Property::sound) == Answer::proved) == all);
            if (all) ++sound;
        }
        CHECK(sound > 0);
    }
}

TEST_CASE("with a small limit nothing is claimed that is not so") {
    each_small_net({}, [](const PtNet& net, const auto&, const naive::Graph& graph) {
        const auto report = analysis::check(net, {.states_max = 3});
        if (report.states) CHECK(*report.states == graph.states.size());
        if (report.has_deadlock) CHECK(*report.has_deadlock == has_deadlock(graph));
        if (report.live) CHECK(*report.live == is_live(net, graph));
        if (report.bounded) CHECK(*report.bounded);
        analysis::Count most = 0;
        std::set<analysis::TransitionId> fires;
        for (std::size_t s = 0; s < graph.states.size(); ++s) {
            most = std::max(most, std::ranges::max(graph.states[s]));
            for (const auto& [t, target] : graph.edges[s])
                fires.insert(t);
        }
        if (report.one_safe) CHECK(*report.one_safe == (most <= 1));
        if (report.max_token_in_place) CHECK(*report.max_token_in_place == most);
        if (report.quasi_live)
            CHECK(*report.quasi_live == (fires.size() == net.transitions.size()));
    });
}
