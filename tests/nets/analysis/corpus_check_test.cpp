#include "nets/analysis/check.hpp"
#include "nets/pnml/pnml.hpp"
#include "tests/nets/pnml/corpus.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iostream>
#include <string>

namespace analysis = nets::analysis;

namespace {

/// Where a fact is stated it is the published one; where it must be known it is stated.
void check_fact(const base::Json& report, const base::Json& answer, const char* key, bool must) {
    CAPTURE(key);
    if (!answer.contains(key)) return;
    if (must) REQUIRE(report.contains(key));
    if (report.contains(key)) CHECK(report[key] == answer[key]);
}

analysis::TransitionId transition_by_id(const analysis::PtNet& net, const std::string& id) {
    const auto at = std::ranges::find(net.transitions, id, &analysis::PtTransition::id);
    REQUIRE(at != net.transitions.end());
    return static_cast<analysis::TransitionId>(at - net.transitions.begin());
}

analysis::Marking fire_all(
    const analysis::PtNet& net, analysis::Marking marking, const std::vector<std::string>& ids
) {
    for (const std::string& id : ids) {
        const auto t = transition_by_id(net, id);
        REQUIRE(analysis::enabled(net, marking, t));
        marking = analysis::fired(net, marking, t);
    }
    return marking;
}

void check_growth(const analysis::PtNet& net, const analysis::Report& report) {
    const auto* const verdict = report.verdict(analysis::Property::bounded);
    REQUIRE(verdict != nullptr);
    REQUIRE(verdict->trace);
    REQUIRE_FALSE(verdict->trace->repeat.empty());
    const auto before = fire_all(net, analysis::initial_marking(net), verdict->trace->firings);
    auto after = before;
    for (int i = 0; i < 3; ++i) {
        const auto next = fire_all(net, after, verdict->trace->repeat);
        bool grown = false;
        for (std::size_t p = 0; p < next.size(); ++p) {
            CHECK(next[p] >= after[p]);
            grown = grown || next[p] > after[p];
        }
        CHECK(grown);
        after = next;
    }
}

#ifdef __OPTIMIZE__
constexpr double states_explored_max = 5e6;
constexpr std::uint64_t limit_test_states = 200'000;
#else
constexpr double states_explored_max = 2e5;  // what is larger takes long without optimization
constexpr std::uint64_t limit_test_states = 20'000;
#endif

}  // namespace

TEST_CASE("every net of the corpus gets the published answers") {
    const char* const only = std::getenv("NETWRIGHT_ONLY");
    for (const auto& net : pnml_corpus::cases()) {
        if (only != nullptr && net.name.find(only) == std::string::npos) continue;
        CAPTURE(net.name);
        const auto document = nets::pnml::read(net.xml);
        REQUIRE(document);
        const bool unbounded = net.answer.contains("bounded");
        const bool limit_test = net.answer.contains("limit_test");
        if (!unbounded && !limit_test && net.answer["states"].get<double>() > states_explored_max) {
            std::cerr << "not in this build: " << net.name << '\n';
            continue;
        }
        analysis::Limits limits;
        if (limit_test) limits.states_max = limit_test_states;
        const auto report = analysis::check(document->net, limits);
        const base::Json json = analysis::to_json(report);
        const bool must = !limit_test && !unbounded;
        for (const char* key :
             {"states",
              "edges",
              "max_token_in_place",
              "max_token_per_marking",
              "has_deadlock",
              "one_safe",
              "live",
              "quasi_live"}) {
            check_fact(json, net.answer, key, must);
        }
        CHECK(json["bounded"] == !unbounded);
        if (unbounded) check_growth(document->net, report);
        if (limit_test) {
            CHECK(report.stopped == analysis::LimitHit::states);
            base::Json known = json;
            for (const char* list : {"findings", "invariants", "abstracted"})
                known.erase(list);
            INFO(known.dump(1));
            CHECK_FALSE(json.contains("states"));
            CHECK_FALSE(json.contains("edges"));
        }
    }
}
