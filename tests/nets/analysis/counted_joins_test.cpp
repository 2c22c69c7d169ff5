#include "base/json.hpp"
#include "nets/analysis/check_net.hpp"
#include "nets/analysis/report.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <string>

namespace analysis = nets::analysis;

namespace {

analysis::Report checked(std::string_view number, std::string_view work = "") {
    const auto net = nets::compile(base::Json::parse(fmt::format(
        R"({{"net": "n", "version": "1", "start": "in", "end": ["out"],
            "places": {{"in": {{}}, "plan": {{}}, "parts": {{}}, "done": {{}}, "out": {{}}, "lost": {{}}}},
            "transitions": {{
                "split": {{"in": {{"job": "in"}}, "out": [
                    {{"to": "plan", "token": {{"n": "${{{}}}"}}}},
                    {{"to": "parts", "each": "job.items", "token": "${{each}}"}}]}},
                "work": {{"in": {{"part": "parts"}}, "out": {{"done": "${{part}}"}}{}}},
                "join": {{"in": {{"plan": "plan", "all": {{"place": "done", "take": "${{plan.n}}"}}}},
                    "out": {{"out": "${{all}}"}}}}}}}})",
        number,
        work
    )));
    REQUIRE_MESSAGE(net, (net ? "" : net.error().details[0].message));
    return analysis::check(*net, {}, {});
}

bool warns(const analysis::Report& report) {
    return std::ranges::any_of(report.findings, [](const auto& finding) {
        return finding.code == "stuck" || finding.code == "left_over";
    });
}

}  // namespace

TEST_CASE("a join that takes as many as its fan-out makes does not warn") {
    const auto report = checked("size(job.items)");
    CHECK_FALSE(warns(report));
    for (const auto property :
         {analysis::Property::option_to_complete, analysis::Property::proper_completion})
        CHECK(report.verdict(property)->answer == analysis::Answer::unknown);
}

TEST_CASE("a join that may take another number than its fan-out makes warns") {
    CHECK(warns(checked("job.count")));
    CHECK(warns(checked("size(job.others)")));
    CHECK(warns(checked("size(job.items)", R"(, "fail": {"lost": 1})")));
}
