#include "nets/lint.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace {

// "code pointer" of each finding, in order.
std::vector<std::string> found(std::string_view text) {
    const auto document = base::parse_json(text);
    REQUIRE(document.has_value());
    const auto net = nets::compile(*document);
    if (!net) FAIL(net.error().details.front().message);
    std::vector<std::string> out;
    for (const auto& finding : nets::lint(*net)) {
        CHECK(finding.severity == nets::Severity::warning);
        CHECK_FALSE(finding.message.empty());
        out.push_back(fmt::format("{} {}", finding.code, finding.pointer));
    }
    return out;
}

using Findings = std::vector<std::string>;

}  // namespace

TEST_CASE("a net in which everything is used has no findings") {
    CHECK(found(R"({"net": "n", "places": {"a": {}, "b": {}, "lock": {"tokens": [1]}},
        "transitions": {"t": {"in": {"x": "a", "l": "lock"}, "out": {"b": "${x}", "lock": "${l}"}}},
        "start": "a", "end": ["b"]})") == Findings{});
}

TEST_CASE(
    "places that nobody feeds, reads or touches are found; what takes from them may still fire"
) {
    CHECK(
        found(R"({"net": "n",
        "places": {"a": {}, "b": {}, "lonely": {}, "sink": {}, "starved": {}, "common": {"shared": true}},
        "transitions": {"t": {"in": {"x": "a"}, "out": {"b": 1, "sink": 1}},
                        "u": {"in": {"x": "starved"}, "out": {"b": 1}}},
        "start": "a", "end": ["b"]})") ==
        Findings{
            "place_unused /places/lonely",
            "place_unread /places/sink",
            "place_unfed /places/starved"
        }
    );
}

TEST_CASE("without a start any place may be fed by hand") {
    CHECK(found(R"({"net": "n", "places": {"a": {}, "b": {}},
        "transitions": {"t": {"in": {"x": "a"}, "out": {"b": 1}}}, "end": ["b"]})") == Findings{});
}

TEST_CASE("a transition behind one that never fires is unreachable too, unless a timer feeds it") {
    const std::string text = R"({"net": "n", "places": {"a": {}, "b": {}, "c": {}, "d": {}},
        "transitions": {"t": {"in": {"x": "b", "y": "c"}, "out": {"b": 1, "d": 1}},
                        "u": {"in": {"x": "a"}, "out": {"c": 1}},
                        "v": {"in": {"x": "d"}} TIMER},
        "start": "a"})";
    const auto with = [&](std::string_view timer) {
        auto copy = text;
        copy.replace(copy.find("TIMER"), 5, timer);
        return found(copy);
    };
    CHECK(
        with("") ==
        Findings{"transition_unreachable /transitions/t", "transition_unreachable /transitions/v"}
    );
    CHECK(with(R"(, "w": {"every": "1s", "out": {"b": 1}})") == Findings{});
}

TEST_CASE("a place that only a fail way feeds is fed") {
    CHECK(found(R"({"net": "n", "places": {"a": {}, "b": {}, "c": {}},
        "transitions": {"t": {"in": {"x": "a"}, "out": {"b": 1}, "fail": {"c": "${error.code}"}}},
        "start": "a", "end": ["b", "c"]})") == Findings{});
}

TEST_CASE("names, keys and weights that cannot do what they seem to are found") {
    CHECK(
        found(R"({"net": "n", "places": {"a": {"capacity": 2}, "b": {}},
        "transitions": {"t": {"in": {"in": "a", "k": {"place": "a", "key": "token.id"},
                                     "w": {"place": "a", "take": 3}, "x-y": "a"},
                              "out": {"b": 1}}},
        "start": "a", "end": ["b"]})") ==
        Findings{
            "alias_unusable /transitions/t/in/in",
            "key_alone /transitions/t/in/k/key",
            "weight_above_capacity /transitions/t/in/w",
            "alias_unusable /transitions/t/in/x-y"
        }
    );
}

TEST_CASE("settings that mean nothing where no tool is called are found") {
    CHECK(
        found(R"({"net": "n", "places": {"a": {}, "b": {}},
        "transitions": {"t": {"in": {"x": "a"}, "out": {"b": 1}, "retry": {"attempts": 2},
                              "timeout": "1s", "concurrency": 1, "onUncertain": "fail"}},
        "start": "a", "end": ["b"]})") ==
        Findings{
            "without_effect /transitions/t/retry",
            "without_effect /transitions/t/timeout",
            "without_effect /transitions/t/concurrency",
            "without_effect /transitions/t/onUncertain"
        }
    );
}

TEST_CASE("a transition that takes nothing away, and a result that nobody gets, are found") {
    CHECK(
        found(R"({"net": "n", "places": {"a": {"tokens": [1]}, "b": {}},
        "transitions": {"t": {"in": {"x": {"place": "a", "arc": "read"}}, "out": {"b": 1}},
                        "u": {"in": {"x": "b"}, "call": {"toolId": "t"}}}})") ==
        Findings{"consumes_nothing /transitions/t", "result_dropped /transitions/u"}
    );
}

TEST_CASE("a rule behind one that always holds is found") {
    CHECK(found(R"({"net": "n", "places": {"a": {}, "b": {}},
        "transitions": {"t": {"in": {"x": "a"}, "choose": "first",
            "out": [{"to": "b", "when": "x.n > 1"}, {"to": "b"}, {"to": "b", "when": "x.n > 2"}]}},
        "start": "a", "end": ["b"]})") == Findings{"rule_shadowed /transitions/t/out/2"});
}
