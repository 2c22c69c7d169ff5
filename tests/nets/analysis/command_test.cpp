#include "nets/analysis/command.hpp"

#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace analysis = nets::analysis;
using analysis::CheckRequest;

namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

const std::string good_net = R"({
  "net": "good", "version": "1.0.0", "places": {"in": {}, "out": {}},
  "transitions": {"go": {"in": {"x": "in"}, "out": {"out": "${x}"}}},
  "start": "in", "end": ["out"]})";

const std::string ring = R"(<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
  <place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/>
  <transition id="t"/><transition id="u"/>
  <arc id="1" source="a" target="t"/><arc id="2" source="t" target="b"/>
  <arc id="3" source="b" target="u"/><arc id="4" source="u" target="a"/>
  </page></net></pnml>)";

}  // namespace

TEST_CASE("a good net is said to be good in words") {
    const auto output = analysis::run_check({.text = good_net, .file = "good.json"});
    CHECK_FALSE(output.negative);
    CHECK(output.err.empty());
    CHECK(contains(output.out, "good: 2 places, 1 transitions, 2 reachable states"));
    CHECK(contains(output.out, "yes      a case can always be completed"));
    CHECK(contains(output.out, "0 errors"));
}

TEST_CASE("with --json the facts of a PNML net come as fields, unknown ones are absent") {
    CheckRequest request{
        .format = CheckRequest::Format::pnml, .text = ring, .file = "ring.pnml", .json = true
    };
    auto json = base::Json::parse(analysis::run_check(request).out);
    CHECK(json["states"] == 2);
    CHECK(json["edges"] == 2);
    CHECK(json["max_token_in_place"] == 1);
    CHECK(json["max_token_per_marking"] == 1);
    CHECK(json["has_deadlock"] == false);
    CHECK(json["one_safe"] == true);
    CHECK(json["live"] == true);
    CHECK(json["quasi_live"] == true);
    CHECK(json["bounded"] == true);
    request.limits.states_max = 1;
    json = base::Json::parse(analysis::run_check(request).out);
    CHECK(json["stopped"] == "states");
    CHECK_FALSE(json.contains("states"));
    CHECK_FALSE(json.contains("edges"));
    CHECK(json["live"] == true);  // a state machine: known without looking at states
}

TEST_CASE("a transition of a PNML net that never fires is a warning, with what it waits for") {
    const std::string one = "<text>1</text>";
    std::string empty_ring = ring;
    empty_ring.replace(empty_ring.find(one), one.size(), "<text>0</text>");
    const auto output = analysis::run_check(
        {.format = CheckRequest::Format::pnml, .text = empty_ring, .file = "x", .json = true}
    );
    CHECK_FALSE(output.negative);
    const auto json = base::Json::parse(output.out);
    CHECK(json["quasi_live"] == false);
    CHECK(contains(output.out, "never_fires"));
}

TEST_CASE("what is no net is a negative answer that names every fault") {
    const auto broken = analysis::run_check(
        {.text = R"({"net": "n", "version": "1.0.0", "places": {}, "colour": 1, "size": 2})",
         .file = "broken.json"}
    );
    CHECK(broken.negative);
    CHECK(contains(broken.err, "broken.json"));
    CHECK(contains(broken.err, "/colour"));
    CHECK(contains(broken.err, "/size"));
    const auto xml = analysis::run_check(
        {.format = CheckRequest::Format::pnml, .text = "<pnml>", .file = "x", .json = true}
    );
    CHECK(xml.negative);
    const auto told = base::Json::parse(xml.out);
    CHECK(told["ok"] == false);
    CHECK(told["findings"].size() >= 1);
}

TEST_CASE("a net is exported as PNML that can be checked again") {
    const auto exported = analysis::run_pnml_export({.text = good_net, .file = "good.json"});
    REQUIRE_FALSE(exported.negative);
    const auto output = analysis::run_check(
        {.format = CheckRequest::Format::pnml, .text = exported.out, .file = "x", .json = true}
    );
    CHECK(base::Json::parse(output.out)["states"] == 2);
}

TEST_CASE("the ways to come out of a transition have ids that XML allows") {
    const auto exported = analysis::run_pnml_export(
        {.text = R"({
           "net": "n", "version": "1.0.0", "places": {"in": {}, "out": {}, "bad": {}},
           "transitions": {"go": {"in": {"x": "in"}, "call": {"toolId": "t"},
             "out": {"out": "${result}"}, "fail": {"bad": "${x}"}}},
           "start": "in", "end": ["out", "bad"]})",
         .file = "n.json"}
    );
    REQUIRE_FALSE(exported.negative);
    CHECK(contains(exported.out, "id=\"go__fail__bad_\""));
    CHECK(contains(exported.out, "go (fail: bad)"));
    const auto output = analysis::run_check(
        {.format = CheckRequest::Format::pnml, .text = exported.out, .file = "x", .json = true}
    );
    CHECK(base::Json::parse(output.out)["states"] == 3);
}

TEST_CASE("a limit on time ends a check with what is known by then") {
    // A clock that runs a second ahead at each look.
    class Fast final : public base::Clock {
    public:
        base::Timestamp now() const override { return {}; }
        base::Duration elapsed() const override { return {seconds_++ * 1'000'000}; }

    private:
        mutable std::int64_t seconds_ = 0;
    };
    std::string wide = "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'>";
    for (int i = 0; i < 30; ++i) {
        const auto n = std::to_string(i);
        wide += "<place id='a" + n + "'><initialMarking><text>1</text></initialMarking></place>" +
                "<place id='b" + n + "'/><transition id='t" + n + "'/><arc id='x" + n +
                "' source='a" + n + "' target='t" + n + "'/><arc id='y" + n + "' source='t" + n +
                "' target='b" + n + "'/>";
    }
    wide += "</net></pnml>";
    const Fast clock;
    const auto output = analysis::run_check(
        {.format = CheckRequest::Format::pnml,
         .text = wide,
         .file = "wide",
         .json = true,
         .limits = {.time_max = base::seconds(40), .clock = &clock}}
    );
    const auto json = base::Json::parse(output.out);
    CHECK(json["stopped"] == "time");
    CHECK(json["one_safe"] == true);
    CHECK(json["bounded"] == true);
}
