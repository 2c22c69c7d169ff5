#include "nets/analysis/state_space.hpp"

#include "nets/pnml/pnml.hpp"
#include "tests/nets/pnml/corpus.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace analysis = nets::analysis;
using analysis::PtNet;
using analysis::StateSpace;

namespace {

StateSpace explored(const PtNet& net, const analysis::Limits& limits = {}) {
    analysis::Budget budget(limits);
    return analysis::explore(net, analysis::initial_marking(net), budget);
}

/// A net whose only place gains a token without end.
PtNet growing() {
    PtNet net;
    net.places = {{.id = "p", .initial = 1}};
    net.transitions = {
        {.id = "grow", .consume = {{.place = 0}}, .produce = {{.place = 0, .weight = 2}}}
    };
    return net;
}

}  // namespace

TEST_CASE("a trace leads from the initial marking to the state") {
    for (const auto& net : pnml_corpus::cases()) {
        if (!net.answer.contains("states") || net.answer["states"].get<double>() > 20'000) continue;
        CAPTURE(net.name);
        const auto document = nets::pnml::read(net.xml);
        REQUIRE(document);
        const StateSpace space = explored(document->net);
        CHECK(space.states.size() == net.answer["states"].get<std::uint64_t>());
        CHECK(space.edges == net.answer["edges"].get<std::uint64_t>());
        const auto last = static_cast<analysis::StateId>(space.states.size() - 1);
        for (const auto state : {last, last / 2, space.deadlock.value_or(0)}) {
            const auto reached = analysis::replayed(
                document->net, analysis::initial_marking(document->net), space.trace(state)
            );
            REQUIRE(reached);
            CHECK(*reached == space.marking(state));
        }
    }
}

TEST_CASE("fields grow with the tokens in them") {
    const StateSpace space = explored(growing(), {.states_max = 100'000});
    CHECK(space.stopped == analysis::LimitHit::states);
    CHECK(space.states.size() == 100'001);
    CHECK(space.marking(99'999) == analysis::Marking{100'000});
    CHECK(space.place_max[0] >= 100'000);
    CHECK(space.trace(20'000).size() == 20'000);
    REQUIRE(space.beyond_one);
    CHECK(*space.beyond_one == 1);
}

TEST_CASE("a net with exactly as many states as the limit is explored to the end") {
    PtNet net = growing();
    net.places[0].capacity = 1000;
    CHECK(explored(net, {.states_max = 1000}).complete());
    CHECK(explored(net, {.states_max = 999}).stopped == analysis::LimitHit::states);
}

TEST_CASE("a limit on memory ends an exploration") {
    const StateSpace space =
        explored(growing(), {.states_max = 10'000'000, .memory_bytes_max = std::size_t{4} << 20U});
    CHECK(space.stopped == analysis::LimitHit::memory);
    CHECK(space.bytes() < std::size_t{8} << 20U);
}

TEST_CASE("inhibit, reset and read arcs and capacities do what they say") {
    PtNet net;
    net.places = {{.id = "a", .initial = 5}, {.id = "b", .capacity = 3}, {.id = "c"}};
    net.transitions = {
        {.id = "move", .consume = {{.place = 0}}, .produce = {{.place = 1}}},
        {.id = "mark",
         .produce = {{.place = 2}},
         .read = {{.place = 1, .weight = 2}},
         .inhibit = {{.place = 2}}},
        {.id = "clear", .consume = {{.place = 2}}, .produce = {{.place = 1}}, .reset = {1}},
    };
    const StateSpace space = explored(net);
    CHECK(space.complete());
    CHECK(space.place_max == std::vector<analysis::Count>{5, 3, 1});
    for (analysis::StateId id = 0; id < space.states.size(); ++id) {
        const auto marking = space.marking(id);
        for (analysis::TransitionId t = 0; t < net.transitions.size(); ++t) {
            CHECK(space.packing.enabled(space.states[id], t) == analysis::enabled(net, marking, t));
            if (!analysis::enabled(net, marking, t)) continue;
            const auto after = space.packing.pack(analysis::fired(net, marking, t));
            CHECK(space.states.find(after.data()) != analysis::no_state);
        }
    }
}
