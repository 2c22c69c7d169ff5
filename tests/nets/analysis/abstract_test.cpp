#include "nets/analysis/abstract.hpp"

#include "base/files.hpp"
#include "nets/analysis/check_net.hpp"
#include "tests/nets/analysis/in_and_out.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis = nets::analysis;
using analysis::Answer;
using analysis::Property;

namespace {

std::vector<std::string> ids(const analysis::PtNet& net) {
    std::vector<std::string> result;
    for (const auto& transition : net.transitions)
        result.push_back(transition.id);
    std::ranges::sort(result);
    return result;
}

Answer answer(const analysis::Report& report, Property property) {
    const auto* const verdict = report.verdict(property);
    REQUIRE(verdict != nullptr);
    return verdict->answer;
}

const std::string three_places = R"("in": {}, "out": {}, "bad": {})";

}  // namespace

TEST_CASE("a call can succeed or fail, and both are certain") {
    const auto net = analysis::abstracted(in_and_out(
        three_places,
        R"("t": {"in": {"x": "in"}, "call": {"toolId": "tool"}, "out": {"out": "${result}"},
                 "fail": {"bad": "${x}"}})"
    ));
    CHECK(ids(net) == std::vector<std::string>{"t (fail: bad)", "t (out)"});
    for (const auto& transition : net.transitions)
        CHECK_FALSE(transition.may_refuse);
}

TEST_CASE("rules with a condition come out in every non-empty choice, and depend on data") {
    const auto net = analysis::abstracted(in_and_out(
        three_places,
        R"("t": {"in": {"x": "in"}, "out": [
             {"to": "out", "token": "${x}", "when": "x.a"},
             {"to": "bad", "token": "${x}", "when": "x.b"}]})"
    ));
    CHECK(ids(net) == std::vector<std::string>{"t (bad)", "t (bad, out)", "t (out)"});
    for (const auto& transition : net.transitions)
        CHECK(transition.may_refuse);
}

TEST_CASE("with choose first one rule comes out, up to the one that always holds") {
    const auto net = analysis::abstracted(in_and_out(
        three_places,
        R"("t": {"in": {"x": "in"}, "choose": "first", "out": [
             {"to": "out", "token": "${x}", "when": "x.a"},
             {"to": "bad", "token": "${x}", "otherwise": true}]})"
    ));
    CHECK(ids(net) == std::vector<std::string>{"t (bad)", "t (out)"});
}

TEST_CASE("a guard may go either way, and is named") {
    const auto net = analysis::abstracted(in_and_out(
        three_places, R"("t": {"in": {"x": "in"}, "guard": "x.ok", "out": {"out": "${x}"}})"
    ));
    REQUIRE(net.transitions.size() == 1);
    CHECK(net.transitions[0].may_refuse);
    REQUIRE(net.abstracted.size() >= 1);
    CHECK(net.abstracted[0].kind == analysis::Abstraction::Kind::guard);
    CHECK(net.abstracted[0].element == "t");
}

TEST_CASE("a choice that a guard leaves open is no certain fault, a failing call is one") {
    const std::string places =
        R"("in": {}, "a": {}, "b": {}, "c": {}, "d": {}, "out": {}, "bad": {})";
    const std::string join =
        R"(, "join": {"in": {"x": "c", "y": "d"}, "out": {"out": "${x}"}},
            "split": {"in": {"x": "in"}, "out": {"a": "${x}", "b": "${x}"}},
            "right": {"in": {"x": "b"}, "out": {"d": "${x}"}})";
    const auto by_call = analysis::check(
        in_and_out(
            places,
            R"("left": {"in": {"x": "a"}, "call": {"toolId": "tool"}, "out": {"c": "${x}"},
                        "fail": {"bad": "${x}"}})" +
                join
        ),
        {}
    );
    CHECK(by_call.has_errors());
    CHECK(answer(by_call, Property::option_to_complete) == Answer::refuted);
    CHECK(by_call.verdict(Property::option_to_complete)->trace->certain);
    const auto by_guard = analysis::check(
        in_and_out(
            places,
            R"("left": {"in": {"x": "a"}, "guard": "x.ok", "out": {"c": "${x}"}},
               "away": {"in": {"x": "a"}, "guard": "!x.ok", "out": {"bad": "${x}"}})" +
                join
        ),
        {}
    );
    CHECK_FALSE(by_guard.has_errors());
    CHECK(answer(by_guard, Property::option_to_complete) == Answer::refuted);
    CHECK_FALSE(by_guard.verdict(Property::option_to_complete)->trace->certain);
}

TEST_CASE("what 'each' makes is not tried in full, so nothing is proved by it") {
    const auto report = analysis::check(
        in_and_out(
            three_places,
            R"("t": {"in": {"x": "in"}, "out": [{"to": "out", "token": "${each}", "each": "x.list"}]})"
        ),
        {}
    );
    CHECK(answer(report, Property::option_to_complete) == Answer::unknown);
    CHECK_FALSE(report.bounded);
    CHECK_FALSE(report.has_errors());
}

TEST_CASE("what a transition reads is another token than what it takes from the same place") {
    const auto report = analysis::check(
        in_and_out(
            three_places,
            R"("t": {"in": {"x": "in", "y": {"place": "in", "arc": "read"}}, "out": {"out": "${x}"}})"
        ),
        {}
    );
    CHECK(answer(report, Property::option_to_complete) == Answer::refuted);
    CHECK(answer(report, Property::quasi_live) == Answer::refuted);
}

TEST_CASE("'otherwise' never comes beside a rule that always holds, and only the first of them") {
    const auto net = analysis::abstracted(in_and_out(
        three_places,
        R"("t": {"in": {"x": "in"}, "out": [
             {"to": "out", "token": "${x}"},
             {"to": "out", "token": "${x}", "when": "x.a"},
             {"to": "bad", "token": "${x}", "otherwise": true},
             {"to": "in", "token": "${x}", "otherwise": true}]})"
    ));
    CHECK(ids(net) == std::vector<std::string>{"t (out)", "t (out, out)"});
}

TEST_CASE("an inhibit arc and a reset arc are what they are") {
    const auto net = analysis::abstracted(in_and_out(
        three_places + R"(, "busy": {}, "copy": {})",
        R"("split": {"in": {"x": "in"}, "out": {"busy": "${x}", "copy": "${x}"}},
           "wait": {"in": {"c": "copy", "b": {"place": "busy", "arc": "inhibit", "take": 2}},
                    "out": {"out": "${c}"}},
           "stop": {"in": {"c": "copy", "b": {"place": "busy", "arc": "reset"}},
                    "out": {"out": "${c}"}})"
    ));
    const auto of = [&](std::string_view id) {
        return *std::ranges::find(net.transitions, id, &analysis::PtTransition::id);
    };
    REQUIRE(of("wait").inhibit.size() == 1);
    CHECK(of("wait").inhibit[0].weight == 2);
    CHECK(of("stop").reset.size() == 1);
    CHECK_FALSE(of("wait").may_refuse);
    CHECK_FALSE(of("stop").may_refuse);
    CHECK(net.abstracted.empty());
}

TEST_CASE("a filtered inhibit or reset arc proves nothing that depends on what it leaves") {
    const std::string places = three_places + R"(, "busy": {})";
    const std::string split =
        R"("split": {"in": {"x": "in"}, "out": {"busy": "${x}", "out": "${x}"}})";
    const auto reset = analysis::check(
        in_and_out(places, split + R"(, "stop": {"in": {"o": "out",
                "b": {"place": "busy", "arc": "reset", "where": "token.mine"}},
                "out": {"bad": "${o}"}})"),
        {}
    );
    // What is left in `busy` keeps the case open: taking all of it would hide that.
    CHECK(answer(reset, Property::option_to_complete) == Answer::refuted);
    const auto inhibit = analysis::check(
        in_and_out(places, split + R"(, "pass": {"in": {"o": "out",
                "b": {"place": "busy", "arc": "inhibit", "where": "token.mine"}},
                "out": {"bad": "${o}"}})"),
        {}
    );
    CHECK(answer(inhibit, Property::quasi_live) == Answer::proved);
}

TEST_CASE("as many tokens as there are, in a range, all or any, are taken exactly") {
    const std::string split =
        R"("split": {"in": {"x": "in"}, "out": [{"to": "a", "token": "${x}"},
             {"to": "a", "token": "${x}"}, {"to": "a", "token": "${x}"}]},)";
    for (const auto* const take : {R"({"min": 1, "max": 3})", R"("all")", R"("any")", "3"}) {
        CAPTURE(take);
        const auto report = analysis::check(
            in_and_out(
                three_places + R"(, "a": {})",
                split + R"("join": {"in": {"l": {"place": "a", "take": )" + take +
                    (std::string_view(take) == R"("any")" ? R"(}, "z": {"place": "a"})" : "}") +
                    R"(}, "out": {"out": "${l}"}})"
            ),
            {}
        );
        CHECK(answer(report, Property::sound) == Answer::proved);
        CHECK(report.max_token_in_place == 3);
    }
}

TEST_CASE("a computed number of tokens is tried up to a limit, and proves where no more are there"
) {
    const std::string places = three_places + R"(, "a": {}, "plan": {})";
    const std::string join =
        R"("join": {"in": {"p": "plan", "l": {"place": "a", "take": "${p.n}"}},
                    "out": {"out": "${l}"}},)";
    const auto few = analysis::check(
        in_and_out(
            places, join + R"("split": {"in": {"x": "in"}, "out": {"a": "${x}", "plan": "${x}"}})"
        ),
        {}
    );
    CHECK(answer(few, Property::bounded) == Answer::proved);
    // The plan may ask for none: then what is there is left over.
    CHECK(answer(few, Property::option_to_complete) == Answer::refuted);
    CHECK_FALSE(few.verdict(Property::option_to_complete)->trace->certain);
    const auto many = analysis::check(
        in_and_out(
            places, join + R"("split": {"in": {"x": "in"}, "out": [{"to": "plan", "token": "${x}"},
                {"to": "a", "token": "${x}", "each": "x.list"}]})"
        ),
        {}
    );
    CHECK(answer(many, Property::bounded) == Answer::unknown);
}

TEST_CASE("what a running firing has read may be taken: where that matters nothing is proved") {
    const std::string places = three_places + R"(, "a": {}, "r": {}, "o": {})";
    const auto net = [&](const std::string& action) {
        return in_and_out(
            places,
            R"("split": {"in": {"x": "in"}, "out": {"a": "${x}", "r": "${x}"}},
               "slow": {"in": {"a": "a", "r": {"place": "r", "arc": "read"}}, )" +
                action + R"( "out": {"o": 1}},
               "take": {"in": {"r": "r", "o": {"place": "o", "arc": "inhibit"}}, "out": {"out": 1}},
               "both": {"in": {"r": "r", "o": "o"}, "out": {"out": 1}})"
        );
    };
    const auto slow = analysis::check(net(R"("call": {"toolId": "tool"},)"), {});
    CHECK(answer(slow, Property::one_safe) == Answer::unknown);
    const auto at_once = analysis::check(net(""), {});
    CHECK(answer(at_once, Property::one_safe) == Answer::proved);
}

TEST_CASE("an age and an order depend on time and data, not on the net") {
    const auto report = analysis::check(
        in_and_out(
            three_places,
            R"("late": {"in": {"x": {"place": "in", "age": "1h"}}, "out": {"bad": "${x}"}},
               "go": {"in": {"x": {"place": "in", "order": "lifo"}}, "out": {"out": "${x}"}})"
        ),
        {}
    );
    CHECK(answer(report, Property::sound) == Answer::proved);
    CHECK(
        report.findings.end() ==
        std::ranges::find(report.findings, "guards_gap", &analysis::Finding::code)
    );
}

TEST_CASE("a fault of one case alone is no error where cases meet") {
    const std::string net = R"("t": {"in": {"x": "in", "p": "permit"}, "out": {"out": "${x}"}},
        "u": {"in": {"x": "bad", "p": "permit"}, "out": {"out": "${x}", "permit": "${p}"}})";
    const auto alone = analysis::check(in_and_out(three_places + R"(, "permit": {})", net), {});
    CHECK(alone.has_errors());
    const auto shared =
        analysis::check(in_and_out(three_places + R"(, "permit": {"cases": false})", net), {});
    CHECK_FALSE(shared.has_errors());
}

TEST_CASE("an or-join takes every choice of its inputs, and what its waiting decides stays unknown"
) {
    const auto report = analysis::check(
        in_and_out(
            three_places + R"(, "a": {}, "b": {})",
            R"("split": {"in": {"x": "in"}, "out": [{"to": "a", "token": "${x}", "when": "x.a"},
                                                    {"to": "b", "token": "${x}", "when": "x.b"}]},
               "join": {"in": {"a": "a", "b": "b"}, "join": "or", "out": {"out": 1}})"
        ),
        {}
    );
    CHECK(answer(report, Property::bounded) == Answer::proved);
    CHECK(answer(report, Property::quasi_live) == Answer::proved);
    CHECK(answer(report, Property::option_to_complete) == Answer::proved);
    CHECK_FALSE(report.has_errors());
}

TEST_CASE("the examples that come with the program have no errors") {
    const auto folder = std::filesystem::path(NETWRIGHT_SOURCE_DIR) / "nets" / "examples";
    std::size_t seen = 0;
    for (const auto& example : std::filesystem::directory_iterator(folder)) {
        const auto text = base::read_file(example.path() / "net.json", 1U << 20U);
        if (!text) continue;
        CAPTURE(example.path().string());
        const auto net = nets::compile(base::Json::parse(*text));
        REQUIRE(net);
        const auto report = analysis::check(*net, {.states_max = analysis::deployment_states_max});
        CHECK_FALSE(report.has_errors());
        CHECK(report.states.has_value());
        ++seen;
    }
    CHECK(seen > 0);
}
