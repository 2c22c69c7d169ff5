#include "base/json.hpp"
#include "nets/analysis/check_net.hpp"
#include "nets/analysis/report.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace analysis = nets::analysis;

namespace {

analysis::Report checked(const std::string& document) {
    const auto net = nets::compile(base::Json::parse(document));
    REQUIRE_MESSAGE(net, (net ? "" : net.error().details[0].message));
    return analysis::check(*net, {}, {});
}

std::string timer_net(const std::string& timer, const std::string& tick) {
    return R"({"net": "n", "version": "1", "places": {"tick": )" + tick + R"(, "done": {}},
        "transitions": {"timer": {)" +
           timer + R"(, "out": {"tick": {}}},
                        "take": {"in": {"t": "tick"}, "out": {}}}, "end": ["done"]})";
}

}  // namespace

TEST_CASE("a timer fires again and again: what it fills has a bound only where a capacity sets one"
) {
    for (const std::string timer : {R"("every": "1s")", R"("cron": "0 6 * * *")"}) {
        CAPTURE(timer);
        const auto open = checked(timer_net(timer, "{}"));
        CHECK(open.verdict(analysis::Property::bounded)->answer == analysis::Answer::refuted);
        CHECK(open.verdict(analysis::Property::one_safe)->answer == analysis::Answer::refuted);
        const auto capped = checked(timer_net(timer, R"({"capacity": 2})"));
        CHECK(capped.verdict(analysis::Property::bounded)->answer == analysis::Answer::proved);
        CHECK(capped.verdict(analysis::Property::one_safe)->answer == analysis::Answer::refuted);
        const auto one = checked(timer_net(timer, R"({"capacity": 1})"));
        CHECK(one.verdict(analysis::Property::one_safe)->answer == analysis::Answer::proved);
        for (const auto* report : {&open, &capped, &one})
            CHECK_FALSE(report->has_errors());
    }
}

TEST_CASE("a timer with inputs fires as often as these let it") {
    const auto report = checked(R"({"net": "n", "version": "1",
        "places": {"in": {"tokens": [1, 2, 3]}, "out": {}},
        "transitions": {"timer": {"every": "1s", "in": {"x": "in"}, "out": {"out": "${x}"}}},
        "end": ["out"]})");
    CHECK(report.verdict(analysis::Property::bounded)->answer == analysis::Answer::proved);
    CHECK(report.max_token_in_place == 3);
}

TEST_CASE("S18: in the check, a firing that goes its fail way resets nothing") {
    const auto report = checked(R"({"net": "n", "version": "1", "start": "in", "end": ["out"],
        "places": {"in": {}, "a": {}, "b": {}, "out": {}},
        "transitions": {
            "split": {"in": {"x": "in"}, "out": {"a": "${x}", "b": "${x}"}},
            "call": {"in": {"a": "a", "b": {"place": "b", "arc": "reset"}},
                     "call": {"toolId": "t", "args": {}},
                     "out": {"out": 1}, "fail": {"out": 2}}}})");
    const auto* proper = report.verdict(analysis::Property::proper_completion);
    REQUIRE(proper != nullptr);
    CHECK(proper->answer == analysis::Answer::refuted);  // after a failure 'b' is left
}
