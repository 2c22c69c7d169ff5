#include "nets/shapes.hpp"

#include "nets/check.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace {

constexpr const char* order_schema = R"({
    "type": "object", "required": ["id"], "additionalProperties": false,
    "properties": {
        "id": {"type": "string"}, "total": {"type": "number"},
        "to": {"$ref": "#/$defs/address"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}},
    "$defs": {
        "address": {"type": "object", "properties": {"city": {"type": "string"}}},
        "line": {"type": "object", "additionalProperties": false, "required": ["sku"],
                 "properties": {"sku": {"type": "string"}}}}})";

/// A net of two places with that schema and one transition, its fields given.
std::vector<nets::Finding> check(std::string_view fields, std::string_view places = "") {
    const auto text = std::string(R"({"net": "n", "places": {"in": {"schema": )") + order_schema +
                      R"(}, "out": {"schema": )" + order_schema + "}" + std::string(places) +
                      R"(}, "transitions": {"t": {"in": {"o": "in"}, )" + std::string(fields) +
                      "}}}";
    const auto document = base::parse_json(text);
    REQUIRE_MESSAGE(document, text);
    const auto net = nets::compile(*document);
    REQUIRE_MESSAGE(net, text);
    return nets::check_shapes(*net);
}

using Pointers = std::vector<std::string>;
Pointers errors(const std::vector<nets::Finding>& findings) {
    Pointers pointers;
    for (const auto& finding : findings)
        if (finding.severity == nets::Severity::error) pointers.push_back(finding.pointer);
    return pointers;
}

}  // namespace

TEST_CASE("an expression that reads what a closed schema lacks is an error where it stands") {
    CHECK(check(R"("out": {"out": "${o}"})").empty());
    CHECK(
        errors(check(R"("guard": "o.totl > 1", "out": {"out": {"id": "${o.idd}"}})")) ==
        Pointers{"/transitions/t/guard", "/transitions/t/out/out/id"}
    );
    CHECK(
        errors(check(R"("out": [{"to": "out", "when": "o.x == 1", "token": {"id": "a ${o.y} b"}},
                                {"to": "out", "otherwise": true}])")) ==
        Pointers{"/transitions/t/out/0/when", "/transitions/t/out/0/token/id"}
    );
    CHECK(errors(check(R"("guard": "o.total.cents > 1")")) == Pointers{"/transitions/t/guard"});
    // has() and optionals ask, they do not read; an item of a list is not followed.
    CHECK(check(R"j("guard": "has(o.nothing) || o.?none.orValue(true)")j").empty());
    CHECK(check(R"("guard": "o.lines[0].sku == 'a'")").empty());
}

TEST_CASE("a field that an open schema does not name is a warning") {
    const auto findings = check(R"("guard": "o.to.city == 'Bonn' && o.to.street == 'x'")");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == nets::Severity::warning);
    CHECK(findings[0].message.contains("o.to.street"));
}

TEST_CASE("where and key speak of the token, and are held to its place") {
    const auto net = nets::compile(*base::parse_json(
        std::string(R"({"net": "n", "places": {"in": {"schema": )") + order_schema + R"(}},
            "transitions": {"t": {"in": {
                "a": {"place": "in", "where": "token.nope", "key": "token.id"},
                "b": {"place": "in", "take": 2, "key": "token.idd"}},
              "guard": "b[0].nope && size(b) > 1"}}})"
    ));
    REQUIRE(net);
    CHECK(
        errors(nets::check_shapes(*net)) ==
        Pointers{"/transitions/t/in/a/where", "/transitions/t/in/b/key"}
    );
}

TEST_CASE("a template that makes what its place refuses is an error at the field") {
    CHECK(
        errors(check(R"("out": {"out": {"total": "${o.total}", "note": 1}})")) ==
        Pointers{"/transitions/t/out/out/note", "/transitions/t/out/out"}
    );
    CHECK(
        errors(check(R"("out": {"out": {"id": ["${o.id}"], "lines": [{"sku": "a ${o.id}"}, {}]}})")
        ) == Pointers{"/transitions/t/out/out/id", "/transitions/t/out/out/lines/1"}
    );
    // Nothing to evaluate: the whole of it is checked.
    CHECK(
        errors(check(R"("out": {"out": {"id": "a", "total": "1"}})")) ==
        Pointers{"/transitions/t/out/out/total"}
    );
    CHECK(
        errors(check(R"("fail": {"out": {"id": "${error.message}", "why": "x"}})")) ==
        Pointers{"/transitions/t/fail/out/why"}
    );
}

TEST_CASE("initial tokens that do not fit their place are errors at their fields") {
    const auto findings =
        check(R"("out": {})", R"(, "more": {"schema": {"minimum": 3}, "tokens": [4, 2]})");
    CHECK(errors(findings) == Pointers{"/places/more/tokens/1"});
}

TEST_CASE("a time zone that the machine lacks is an error of the check, not of compiling") {
    const auto net = nets::compile(*base::parse_json(R"({"net": "n", "places": {"p": {}},
        "transitions": {"t": {"cron": {"expression": "0 0 * * *", "zone": "Europe/Atlantis"},
                              "out": {"p": 1}}}})"));
    REQUIRE(net);
    const auto findings = nets::check(*net);
    REQUIRE_FALSE(findings.empty());
    CHECK(findings[0].pointer == "/transitions/t/cron/zone");
    CHECK(findings[0].severity == nets::Severity::error);
}
