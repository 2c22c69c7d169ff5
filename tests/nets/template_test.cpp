#include "nets/template.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <string>
#include <vector>

using base::ErrorCode;
using base::Json;
using nets::Template;
using nets::cel::Value;

namespace {

const nets::cel::Scope scope{{"order", "x"}};

Json json(std::string_view text) {
    auto value = base::parse_json(text);
    REQUIRE(value.has_value());
    return std::move(*value);
}

Template compiled(std::string_view source) {
    auto made = Template::compile(json(source), scope, "/out");
    if (!made) FAIL(made.error().details.front().message);
    return std::move(*made);
}

const std::string order_text = R"({"id":"o-1","total":10,"rate":1.5,"paid":true,"none":null,
    "lines":[1,"two",3.0],"nested":{"b":1,"a":[]},"quote":"a\"b\n}"})";

base::Result<std::string> rendered(
    const Template& made, nets::cel::Budget budget = {}, Value x = Value()
) {
    const Json order = json(order_text);
    const std::vector<Value> values{Value::json(order), std::move(x)};
    std::string out = "[";
    auto done = made.render(out, values, budget);
    if (!done) {
        CHECK_MESSAGE(out == "[", "after an error nothing is left behind");
        return base::fail(done.error());
    }
    return out.substr(1);
}

std::string text_of(std::string_view source, Value x = Value()) {
    auto out = rendered(compiled(source), {}, std::move(x));
    return out ? *out : fmt::format("{}: {}", base::name(out.error().code), out.error().message);
}

// "pointer message" of each fault.
std::vector<std::string> faults(std::string_view source) {
    const auto made = Template::compile(json(source), scope, "/out");
    REQUIRE_FALSE(made.has_value());
    std::vector<std::string> out;
    for (const auto& detail : made.error().details)
        out.push_back(detail.pointer + " " + detail.message);
    return out;
}

}  // namespace

TEST_CASE("a template without expressions is its own canonical JSON") {
    CHECK(
        text_of(R"({"b": [1, 2.0, null], "a": {"é": "\n"}})") ==
        "{\"a\":{\"é\":\"\\n\"},\"b\":[1,2.0,null]}"
    );
    CHECK(text_of("3") == "3");
    CHECK(text_of(R"("$${x} and $5")") == R"("${x} and $5")");
    CHECK(compiled(R"({"a": ["$${x}"]})").constant());
    CHECK_FALSE(compiled(R"({"a": ["${x}"]})").constant());
}

TEST_CASE("a template that was never compiled renders null") {
    std::string out;
    nets::cel::Budget budget;
    REQUIRE(Template().render(out, {}, budget).has_value());
    CHECK(out == "null");
}

TEST_CASE("a string that is exactly one expression takes the value with its type") {
    CHECK(text_of(R"("${order.total}")") == "10");
    CHECK(text_of(R"("${order.rate}")") == "1.5");
    CHECK(text_of(R"("${order.lines}")") == R"([1,"two",3.0])");
    CHECK(text_of(R"("${order.nested}")") == R"({"a":[],"b":1})");
    CHECK(text_of(R"("${order.none}")") == "null");
    CHECK(text_of(R"("${order.total * 1.5}")") == "15.0");
    CHECK(text_of(R"("${{'k': order.paid}}")") == R"({"k":true})");
    CHECK(text_of(R"("${order.quote}")") == R"("a\"b\n}")");
    CHECK(text_of(R"("${timestamp('2026-01-31T12:00:00Z')}")") == R"("2026-01-31T12:00:00Z")");
    CHECK(text_of(R"("${b'abc'}")") == R"("YWJj")");
}

TEST_CASE("in mixed text values become text") {
    CHECK(text_of(R"("order ${order.id}!")") == R"("order o-1!")");
    CHECK(text_of(R"("${order.total}/${order.rate}/${order.paid}")") == R"("10/1.5/true")");
    CHECK(text_of(R"("l=${order.lines}")") == R"("l=[1,\"two\",3.0]")");
    CHECK(text_of(R"("n=${order.nested}")") == R"("n={\"a\":[],\"b\":1}")");
    CHECK(text_of(R"("q=${order.quote}")") == R"("q=a\"b\n}")");
    CHECK(
        text_of(R"("at ${timestamp('2026-01-31T12:00:00Z')}")") == R"("at 2026-01-31T12:00:00Z")"
    );
    CHECK(text_of(R"("b=${b'abc'}")") == R"("b=YWJj")");
    CHECK(text_of(R"("u=${3u}")") == R"("u=3")");
    CHECK(text_of(R"("$${${order.id}}")") == R"("${o-1}")");
}

TEST_CASE("null has no text") {
    const auto out = rendered(compiled(R"({"a": "x ${order.none}"})"));
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().code == ErrorCode::validation);
    CHECK(out.error().message == "${order.none}: null has no text");
}

TEST_CASE("keys come out in canonical order and are never expressions") {
    CHECK(
        text_of("{\"\\ufb33\": \"${order.total}\", \"\\ud83d\\ude00\": 2, \"$${b}\": 3, \"b\": 4, "
                "\"\": 5, \"ba\": 6}"
        ) == "{\"\":5,\"${b}\":3,\"b\":4,\"ba\":6,\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\xB3\":10}"
    );
    CHECK(faults(R"({"${x}": 1})").front().starts_with("/out/${x} a key is plain text"));
}

TEST_CASE("what a template renders is canonical whatever it holds") {
    const auto out = rendered(compiled(
        R"({"z": "${order}", "a": ["${order.nested}", "t ${order.nested}", {"y": 1, "x": "${x}"}]})"
    ));
    REQUIRE(out.has_value());
    const auto again = base::parse_json(*out);
    REQUIRE(again.has_value());
    CHECK(base::canonical(*again) == *out);
}

TEST_CASE("an error at evaluation names the expression and leaves no trace") {
    const auto out = rendered(compiled(R"({"a": "${order.id}", "b": "${order.missing}"})"));
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().message.starts_with("${order.missing}: "));
    CHECK_FALSE(rendered(compiled(R"("${0.0 / 0.0}")")).has_value());
    CHECK_FALSE(rendered(compiled(R"("${type(1)}")")).has_value());
}

TEST_CASE("a template cannot spend more steps than it is given") {
    const auto out = rendered(compiled(R"(["${order}", "${order}", "${order}"])"), {.steps = 3});
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().code == ErrorCode::limit);
    const auto big = rendered(
        compiled(R"(["${x}", "${x}", "${x}", "${x}"])"),
        {.steps = 1'000'000'000},
        Value::string(std::string(5 << 20U, 'a'))
    );
    REQUIRE_FALSE(big.has_value());
    CHECK(big.error().code == ErrorCode::limit);
    const auto text = rendered(
        compiled(R"("${x}${x}${x}${x}")"),
        {.steps = 1'000'000'000},
        Value::string(std::string(5 << 20U, 'a'))
    );
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().code == ErrorCode::limit);
}

TEST_CASE("every fault of a template is told, each with its pointer") {
    const auto told = faults(R"({"a": "${zebra}", "b~c": [0, "${x.", "text ${x +} ${}"]})");
    REQUIRE(told.size() >= 4);
    CHECK(told[0].starts_with("/out/a ${zebra}: "));
    CHECK(told[1].starts_with("/out/b~0c/1 "));
    CHECK(told[2].starts_with("/out/b~0c/2 ${x +}: "));
    CHECK(told.back().starts_with("/out/b~0c/2 '${}' holds no expression"));
}

TEST_CASE("a template that nests too deep is refused") {
    const auto nested = [](std::size_t depth) {
        return Template::compile(
            json(std::string(depth, '[') + std::string(depth, ']')), scope, ""
        );
    };
    CHECK(nested(nets::template_depth_max).has_value());
    CHECK_FALSE(nested(nets::template_depth_max + 2).has_value());
}

TEST_CASE("a template that is one bare name says which") {
    CHECK(compiled(R"("${order}")").bare_name() == 0);
    CHECK(compiled(R"("${x}")").bare_name() == 1);
    CHECK(compiled(R"("${x.a}")").bare_name() == -1);
    CHECK(compiled(R"("${x} ")").bare_name() == -1);
    CHECK(compiled(R"(["${x}"])").bare_name() == -1);
    CHECK(compiled(R"("x")").bare_name() == -1);
    CHECK(Template().bare_name() == -1);
}

TEST_CASE("a template knows which names it uses") {
    const auto made = compiled(R"({"a": "text ${order.id}", "b": 1})");
    CHECK(made.uses(0));
    CHECK_FALSE(made.uses(1));
    CHECK_FALSE(made.uses(7));
}
