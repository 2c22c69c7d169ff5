#include "base/json_schema.hpp"

#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace {

base::Json json(std::string_view text) {
    auto parsed = base::parse_json(text);
    REQUIRE(parsed);
    return std::move(*parsed);
}

base::Schema compiled(std::string_view text, const base::SchemaOptions& options = {}) {
    auto schema = base::Schema::compile(json(text), options);
    if (!schema) FAIL(schema.error().message);
    return std::move(*schema);
}

base::Error refused(std::string_view text, const base::SchemaOptions& options = {}) {
    const auto schema = base::Schema::compile(json(text), options);
    REQUIRE_FALSE(schema);
    return schema.error();
}

base::Error misfit(const base::Schema& schema, std::string_view value) {
    const auto valid = schema.validate(json(value));
    REQUIRE_FALSE(valid);
    return valid.error();
}

bool fits(const base::Schema& schema, std::string_view value) {
    return schema.validate(json(value)).has_value();
}

std::vector<std::string> pointers(const base::Error& error) {
    std::vector<std::string> all;
    for (const auto& detail : error.details)
        all.push_back(detail.pointer);
    std::ranges::sort(all);
    return all;
}

}  // namespace

TEST_CASE("every fault of a value is told at once, each with its place") {
    const auto schema = compiled(R"({
        "type": "object",
        "required": ["id", "lines"],
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]+-\\d+$"},
            "lines": {"type": "array", "items": {
                "properties": {"count": {"type": "integer", "minimum": 1}, "a/b": {"const": null}},
                "additionalProperties": false}}
        }})");
    CHECK(fits(schema, R"({"id": "A-1", "lines": [{"count": 1.0}], "more": 1})"));
    const auto error = misfit(
        schema,
        R"({"id": "a", "lines": [{"count": 0}, {"count": 2, "x": 1, "a/b": 0}, {"count": "1"}]})"
    );
    CHECK(error.code == base::ErrorCode::validation);
    CHECK(
        pointers(error) ==
        std::vector<std::string>{
            "/id", "/lines/0/count", "/lines/1/a~1b", "/lines/1/x", "/lines/2/count"
        }
    );
    CHECK(error.details[1].message == "0 is less than the minimum 1");
    CHECK(misfit(schema, "{}").details.size() == 2);
    CHECK(misfit(schema, "7").details[0].pointer.empty());
}

TEST_CASE("faults beyond the limit are not looked for") {
    base::SchemaOptions options;
    options.limits.faults_max = 3;
    const auto schema = compiled(R"({"items": {"type": "string"}})", options);
    CHECK(misfit(schema, "[1, 2, 3, 4, 5, 6]").details.size() == 3);
}

TEST_CASE("every fault of a schema is told at once, each with its place") {
    const auto error = refused(R"({
        "type": "strin",
        "properties": {
            "a": {"minLength": -1, "maxLength": 1.5, "pattern": "("},
            "b": {"$ref": "#/$defs/absent"},
            "c": {"enum": 1, "required": ["x", "x"], "uniqueItems": "yes"},
            "d": 7
        },
        "allOf": [],
        "items": [true],
        "multipleOf": 0,
        "$defs": {"unused": {"$ref": "http://example.com/nowhere.json"}}
    })");
    CHECK(error.code == base::ErrorCode::validation);
    CHECK(
        pointers(error) ==
        std::vector<std::string>{
            "/$defs/unused/$ref",
            "/allOf",
            "/items",
            "/multipleOf",
            "/properties/a/maxLength",
            "/properties/a/minLength",
            "/properties/a/pattern",
            "/properties/b/$ref",
            "/properties/c/enum",
            "/properties/c/required",
            "/properties/c/uniqueItems",
            "/properties/d",
            "/type"
        }
    );
}

TEST_CASE(
    "nothing is fetched: a reference resolves within the schema, to what is given with it, or not"
) {
    constexpr auto text =
        R"({"properties": {"a": {"$ref": "http://example.com/s.json#/$defs/n"}}})";
    const auto error = refused(text);
    REQUIRE(error.details.size() == 1);
    CHECK(error.details[0].code == base::ErrorCode::not_found);
    CHECK(error.details[0].pointer == "/properties/a/$ref");
    CHECK(error.details[0].message.find("http://example.com/s.json") != std::string::npos);

    base::SchemaDocuments documents;
    REQUIRE(
        documents.add("http://example.com/s.json", json(R"({"$defs": {"n": {"$ref": "t.json"}}})"))
    );
    const auto in_document = refused(text, {.documents = &documents});
    CHECK(in_document.details[0].message.find("http://example.com/t.json") != std::string::npos);
    CHECK(in_document.details[0].message.find("/$defs/n/$ref") != std::string::npos);

    REQUIRE(documents.add("http://example.com/t.json", json(R"({"type": "integer"})")));
    CHECK(
        documents.add("http://example.com/t.json", json("true")).error().code ==
        base::ErrorCode::conflict
    );
    const auto schema = compiled(text, {.documents = &documents});
    CHECK(fits(schema, R"({"a": 1})"));
    CHECK_FALSE(fits(schema, R"({"a": "1"})"));
}

TEST_CASE("a schema outlives what it was compiled from, and threads share it") {
    const auto schema = [] {
        base::SchemaDocuments documents;
        REQUIRE(documents.add("urn:x:list", json(R"({"items": {"enum": ["a", {"b": [1]}]}})")));
        return compiled(R"({"$ref": "urn:x:list"})", {.documents = &documents});
    }();
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            const auto copy = schema;
            for (int k = 0; k < 200; ++k) {
                const base::Json good = {"a", {{"b", {1.0}}}};
                const base::Json bad = {"a", "b"};
                if (!copy.validate(good) || copy.validate(bad)) ++wrong;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("the metaschemas are known, and fit themselves") {
    for (const char* uri :
         {"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"
         }) {
        const auto schema = compiled(base::Json{{"$ref", uri}}.dump());
        CHECK(fits(schema, R"({"type": "object", "properties": {"a": {"minimum": 1}}})"));
        CHECK_FALSE(fits(schema, R"({"properties": {"a": {"minimum": "1"}}})"));
    }
}

TEST_CASE("a dialect that is not known is refused") {
    CHECK(
        refused(R"({"$schema": "https://json-schema.org/draft/2019-09/schema"})").details[0].code ==
        base::ErrorCode::unsupported
    );
    base::SchemaDocuments documents;
    REQUIRE(documents.add("http://x/meta", json(R"({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": true, "http://x/money": true}
    })")));
    const auto error = refused(R"({"$schema": "http://x/meta"})", {.documents = &documents});
    CHECK(error.details[0].message.find("http://x/money") != std::string::npos);
}

TEST_CASE("a schema that applies itself to the same value without end is refused") {
    CHECK_FALSE(base::Schema::compile(json(R"({"$ref": "#"})")));
    CHECK_FALSE(base::Schema::compile(json(R"({"allOf": [{"not": {"$ref": "#/allOf/0"}}]})")));
    CHECK_FALSE(base::Schema::compile(json(
        R"({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"if": {"$ref": "#/$defs/a"}}}})"
    )));
    CHECK(base::Schema::compile(json(R"({"properties": {"next": {"$ref": "#"}}})")));
    // The same by $dynamicRef shows only when a value comes.
    const auto dynamic = compiled(R"({"$dynamicAnchor": "x", "$dynamicRef": "#x"})");
    CHECK(misfit(dynamic, "1").code == base::ErrorCode::limit);
}

TEST_CASE("depth, recursion and steps are limited") {
    const auto deep = std::string(100, '[') + std::string(100, ']');
    const auto lists = compiled(
        R"({"$ref": "#/$defs/list", "$defs": {"list": {"items": {"$ref": "#/$defs/list"}}}})"
    );
    CHECK(fits(lists, deep));
    base::Json deeper = base::Json::array();
    for (int i = 0; i < 200; ++i)
        deeper = base::Json::array({deeper});
    CHECK(lists.validate(deeper).error().code == base::ErrorCode::limit);
    CHECK(
        base::Schema::compile(base::Json{{"not", deeper}}).error().code ==
        base::ErrorCode::validation
    );

    // Doubles with every level: 2^40 applications, were it not for the limit.
    std::string text = R"({"$defs": {"s0": {"type": "integer"})";
    for (int i = 1; i <= 40; ++i) {
        const auto below = R"({"$ref": "#/$defs/s)" + std::to_string(i - 1) + "\"}";
        text += ", \"s" + std::to_string(i) + "\": {\"allOf\": [" + below + ", " + below + "]}";
    }
    base::SchemaOptions options;
    options.limits.steps_max = 300'000;
    const auto doubling = compiled(text + R"(}, "$ref": "#/$defs/s40"})", options);
    const auto error = misfit(doubling, "1");
    CHECK(error.code == base::ErrorCode::limit);
    CHECK_FALSE(error.next.empty());

    base::SchemaOptions few;
    few.limits.subschemas_max = 10;
    const auto many = refused(R"({"allOf": [{},{},{},{},{},{},{},{},{},{},{},{}]})", few);
    CHECK(many.details[0].code == base::ErrorCode::limit);
}

TEST_CASE("the size of a string or an array does not make validation slow or deep") {
    const auto pattern = compiled(R"({"pattern": "^(a|b)*$"})");
    CHECK(pattern.validate(base::Json(std::string(200'000, 'a'))));
    CHECK_FALSE(pattern.validate(base::Json(std::string(200'000, 'a') + "c")));
    CHECK(
        compiled(R"({"pattern": "^(a+)+$"})")
            .validate(base::Json(std::string(50'000, 'a') + "b"))
            .error()
            .code == base::ErrorCode::validation
    );

    base::Json numbers = base::Json::array();
    for (int i = 0; i < 20'000; ++i)
        numbers.push_back(i);
    const auto unique = compiled(R"({"uniqueItems": true})");
    CHECK(unique.validate(numbers));
    numbers.push_back(500.0);
    CHECK(unique.validate(numbers).error().message.find("500 and 20000") != std::string::npos);
}

TEST_CASE("numbers are compared and divided exactly") {
    const auto fits_number =
        [](const std::string& keyword, const std::string& limit, const std::string& value) {
            return fits(compiled("{\"" + keyword + "\": " + limit + "}"), value);
        };
    CHECK(fits_number("maximum", "9007199254740993", "9007199254740993"));
    CHECK_FALSE(fits_number("maximum", "9007199254740992", "9007199254740993"));
    CHECK_FALSE(fits_number("maximum", "9007199254740992.0", "9007199254740993"));
    CHECK(fits_number("exclusiveMinimum", "9007199254740992.0", "9007199254740993"));
    CHECK(fits_number("const", "1.0", "1"));
    CHECK_FALSE(fits_number("const", "9007199254740992.0", "9007199254740993"));
    CHECK(fits_number("minimum", "-1e300", "-9223372036854775808"));
    CHECK(fits_number("multipleOf", "0.0001", "0.0075"));
    CHECK(fits_number("multipleOf", "0.01", "4.35"));
    CHECK_FALSE(fits_number("multipleOf", "0.01", "4.355"));
    CHECK(fits_number("multipleOf", "0.5", "1e308"));
    CHECK_FALSE(fits_number("multipleOf", "3", "1e308"));
    CHECK(fits_number("multipleOf", "7", "-9223372036854775807"));
    CHECK_FALSE(fits_number("multipleOf", "2", "-9223372036854775807"));
    CHECK_FALSE(fits_number("multipleOf", "1e300", "5"));
    CHECK(fits_number("multipleOf", "1e300", "0"));
    CHECK(fits(compiled(R"({"type": "integer"})"), "1e300"));
    CHECK_FALSE(fits(compiled(R"({"type": "integer"})"), "1.5"));
}

TEST_CASE("a fault of anyOf and oneOf says why each alternative does not fit") {
    const auto any =
        compiled(R"({"anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}}]})");
    const auto error = misfit(any, R"({"b": 1})");
    REQUIRE(error.details.size() == 1);
    CHECK(error.details[0].message.find("the member 'a' is missing") != std::string::npos);
    CHECK(error.details[0].message.find("'/b' 1 is not of type string") != std::string::npos);
    const auto one = compiled(R"({"oneOf": [{"minimum": 1}, {"maximum": 5}, {"type": "string"}]})");
    CHECK(misfit(one, "3").details[0].message.find("alternatives 0 and 1") != std::string::npos);
    CHECK(fits(one, "7"));
}

TEST_CASE("unknown keywords mean nothing, unless they are to be refused") {
    constexpr auto text = R"({"properties": {"a": {"minimun": 1, "x-note": 2, "title": "t"}}})";
    CHECK(fits(compiled(text), R"({"a": 0})"));
    CHECK(
        pointers(refused(text, {.unknown_keywords_refused = true})) ==
        std::vector<std::string>{"/properties/a/minimun"}
    );
}

TEST_CASE("formats are notes, unless they are to be checked") {
    CHECK(fits(compiled(R"({"format": "date"})"), R"("nonsense")"));
    CHECK(fits(compiled(R"({"format": "nonsense"})"), R"("x")"));
    const base::SchemaOptions checked{.format_assertions = true};
    CHECK(
        refused(R"({"format": "nonsense"})", checked).details[0].code ==
        base::ErrorCode::unsupported
    );
    struct Case {
        const char* format;
        std::vector<std::string> good;
        std::vector<std::string> bad;
    };
    const std::vector<Case> cases = {
        {"date-time",
         {"2026-01-31T12:00:00Z", "2026-01-31t12:00:00.5+01:00", "1998-12-31T23:59:60Z"},
         {"2026-01-31", "2026-02-30T12:00:00Z", "2026-01-31 12:00:00Z"}},
        {"date", {"2024-02-29"}, {"2023-02-29", "2023-2-1", ""}},
        {"time", {"08:30:06Z", "08:30:06.283185+00:20"}, {"08:30:06", "24:00:00Z"}},
        {"duration",
         {"P4DT12H30M5S", "P4Y", "PT0S", "P2W", "P1M"},
         {"P", "PT", "P1D2Y", "P1", "P2W1D", "4D", "P1H"}},
        {"email",
         {"joe.bloggs@example.com", "\"joe bloggs\"@example.com", "joe@[127.0.0.1]"},
         {"2962", ".a@x.com", "a..b@x.com", "a@-x.com"}},
        {"hostname",
         {"www.example.com", "a", "xn--4gbwdl.xn--wgbh1c"},
         {"-bad", "a..b", "a_b", std::string(64, 'a'), ""}},
        {"ipv4", {"192.168.0.1"}, {"256.1.1.1", "1.2.3", "01.2.3.4x", "1.2.3.4/24"}},
        {"ipv6", {"::1", "::ffff:192.168.0.1"}, {"12345::", "::1%eth0", "1:2:3:4:5:6:7"}},
        {"uri",
         {"http://foo.bar/?baz=qux#quux", "urn:a:b"},
         {"//foo.bar/", "/abc", "http:// x", "bar,\\baz", "http://a/%zz"}},
        {"uri-reference", {"/abc", "#frag", "a%20b"}, {"\\\\WINDOWS\\share", "a b"}},
        {"uuid",
         {"2EB8AA08-aa98-11ea-b4aa-73b441d16380"},
         {"2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa98-11ea-b4aa73b441d16380aaaa"}},
        {"json-pointer", {"", "/a/b~0~1", "/"}, {"a", "/~", "/~2"}},
        {"relative-json-pointer", {"1", "0/foo", "2#"}, {"/foo", "-1/a", "01/a"}},
        {"regex", {"^a.b$"}, {"^(abc", "\\a"}},
    };
    for (const auto& [format, good, bad] : cases) {
        const auto schema = compiled(base::Json{{"format", format}}.dump(), checked);
        for (const auto& text : good) {
            CAPTURE(format);
            CAPTURE(text);
            CHECK(schema.validate(text));
        }
        for (const auto& text : bad) {
            CAPTURE(format);
            CAPTURE(text);
            CHECK_FALSE(schema.validate(text));
        }
        CHECK(schema.validate(base::Json(7)));
    }
}

namespace {

// How many steps a validation takes, found by its limit: no clock.
std::uint64_t steps_of(const std::string& schema, const base::Json& value) {
    std::uint64_t refused = 0;
    std::uint64_t enough = 1'000'000'000;
    while (refused + 1 < enough) {
        const std::uint64_t between = refused + (enough - refused) / 2;
        base::SchemaOptions options;
        options.limits.steps_max = between;
        const auto made = base::Schema::compile(json(schema), options);
        REQUIRE(made);
        const auto valid = made->validate(value);
        const bool limited = !valid && valid.error().code == base::ErrorCode::limit;
        (limited ? refused : enough) = between;
    }
    return enough;
}

}  // namespace

TEST_CASE("a pattern costs steps for each byte it reads, and more the larger it is") {
    const std::string name(64'000, 'a');
    const auto value = [&](std::size_t bytes) { return base::Json(name.substr(0, bytes)); };
    const std::string small = R"({"pattern": "a"})";
    const std::string large = R"({"pattern": "(a|b){200}c"})";
    CHECK(steps_of(small, value(64'000)) >= 2 * steps_of(small, value(32'000)) - 10);
    CHECK(steps_of(large, value(64'000)) >= 2 * steps_of(large, value(32'000)) - 10);
    CHECK(steps_of(large, value(64'000)) > 20 * steps_of(small, value(64'000)));
    const base::Json member = {{name, 1}};
    CHECK(
        steps_of(R"({"patternProperties": {"(a|b){200}c": true}})", member) >
        20 * steps_of(R"({"patternProperties": {"a": true}})", member)
    );
    // As many patterns as there are, each reads the text.
    CHECK(
        steps_of(
            R"({"allOf": [{"pattern": "(a|b){200}c"}, {"pattern": "(a|b){201}c"}]})", value(64'000)
        ) >= 2 * steps_of(large, value(64'000))
    );
}

TEST_CASE("the patterns of a schema together have a limit, and the first beyond it is named") {
    base::Json schema = {{"properties", base::Json::object()}};
    for (int i = 0; i < 50; ++i)
        schema["properties"]["p" + std::to_string(10 + i)] = {
            {"pattern", "(abcdefghij){" + std::to_string(100 + i) + "}"}
        };
    base::SchemaOptions options;
    options.limits.pattern_instructions_max = 20'000;
    const auto made = base::Schema::compile(schema, options);
    REQUIRE_FALSE(made);
    REQUIRE(made.error().details.size() == 1);
    CHECK(made.error().details[0].code == base::ErrorCode::limit);
    CHECK(made.error().details[0].pointer.starts_with("/properties/p"));
    options.limits.pattern_instructions_max = 200'000;
    CHECK(base::Schema::compile(schema, options));
}

TEST_CASE("unevaluatedProperties blames nobody for what a schema that failed has looked at") {
    const auto schema = compiled(R"({
        "allOf": [{"properties": {"a": {"type": "string"}, "b": {}}, "required": ["c"]}],
        "properties": {"d": {"type": "number"}},
        "unevaluatedProperties": false})");
    const auto error = misfit(schema, R"({"a": "x", "b": 1, "d": 2})");
    REQUIRE(error.details.size() == 1);
    CHECK(error.details[0].message.contains("'c' is missing"));
    // Beside a fault of its own members it still knows who is not allowed.
    CHECK(misfit(schema, R"({"a": "x", "b": 1, "c": 1, "d": "x"})").details.size() == 2);
}
