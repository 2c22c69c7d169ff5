#include "nets/analysis/guards.hpp"

#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace analysis = nets::analysis;

namespace {

/// Findings about a place `in` whose tokens are taken by one transition for each guard.
std::vector<analysis::Finding> findings(
    const std::vector<std::string>& guards, const std::string& place = "{}"
) {
    base::Json document{
        {"net", "n"},
        {"version", "1.0.0"},
        {"places", {{"in", base::Json::parse(place)}, {"out", base::Json::object()}}},
        {"transitions", base::Json::object()},
        {"start", "in"},
        {"end", {"out"}}
    };
    for (std::size_t i = 0; i < guards.size(); ++i) {
        base::Json transition{{"in", {{"x", "in"}}}, {"out", {{"out", "${x}"}}}};
        if (!guards[i].empty()) transition["guard"] = guards[i];
        document["transitions"]["t" + std::to_string(i)] = transition;
    }
    const auto net = nets::compile(document);
    REQUIRE_MESSAGE(net, (net ? "" : net.error().details[0].message));
    return analysis::guard_findings(*net);
}

std::vector<std::string> codes(const std::vector<std::string>& guards) {
    std::vector<std::string> result;
    for (const auto& finding : findings(guards))
        result.push_back(finding.code);
    return result;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_CASE("guards that between them take every token, each only one, leave nothing to say") {
    CHECK(codes({"x.ok", "!x.ok"}) == Codes{});
    CHECK(codes({"x.n < 10", "x.n >= 10 && x.n < 20", "x.n >= 20"}) == Codes{});
    CHECK(codes({"x.kind == 'a'", "x.kind == 'b'", "!(x.kind in ['a', 'b'])"}) == Codes{});
    CHECK(codes({"has(x.n) && x.n > 3", "!has(x.n) || x.n <= 3"}) == Codes{});
    CHECK(codes({"x.a.b == null", "x.a.b != null"}) == Codes{});
    CHECK(codes({"x.r < 0.5", "x.r >= 0.5"}) == Codes{});
}

TEST_CASE("a gap between guards is shown with a token that falls into it") {
    CHECK(codes({"x.n < 10", "x.n > 10"}) == Codes{"guards_gap"});
    CHECK(codes({"x.ok"}) == Codes{"guards_gap"});
    CHECK(codes({"x.kind == 'a'", "x.kind == 'b'"}) == Codes{"guards_gap"});
    const auto found = findings({"x.n < 10", "x.n > 10"});
    CHECK(found[0].message.contains(R"({"n":10})"));
    CHECK(found[0].pointer == "/places/in");
}

TEST_CASE("an overlap of guards is shown with a token that suits both") {
    CHECK(codes({"x.n <= 10", "x.n >= 10"}) == Codes{"guards_overlap"});
    CHECK(codes({"x.a", "x.b", "!x.a && !x.b"}) == Codes{"guards_overlap"});
    // One without a guard takes the rest: that is how a default is drawn, with a priority or not.
    CHECK(codes({"x.ok", ""}) == Codes{});
}

TEST_CASE("what an enum of the schema rules out is not held against the guards") {
    const std::string place =
        R"({"schema": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}}})";
    CHECK(findings({"x.kind == 'a'", "x.kind == 'b'"}, place).empty());
    CHECK(findings({"x.kind == 'a'"}, place).size() == 1);
}

TEST_CASE("guards that ask more than fields and constants are left alone") {
    CHECK(codes({"x.n * 2 > 10"}) == Codes{});
    CHECK(codes({"size(x.list) > 0"}) == Codes{});
    CHECK(codes({"x.a < x.b"}) == Codes{});
    CHECK(codes({"x.name < 'm'", "x.name > 'm'"}) == Codes{});
}
