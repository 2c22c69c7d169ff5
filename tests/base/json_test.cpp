#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using base::canonical;
using base::parse_json;

TEST_CASE("canonical JSON sorts keys by UTF-16 code units") {
    const auto value = parse_json(R"({"b":1,"a":2,"\ufb33":3,"\ud83d\ude00":4})");
    REQUIRE(value);
    CHECK(canonical(*value) == "{\"a\":2,\"b\":1,\"\xF0\x9F\x98\x80\":4,\"\xEF\xAC\xB3\":3}");
}

TEST_CASE("canonical JSON writes doubles as RFC 8785 does and keeps them doubles") {
    const auto text = [](double value) { return canonical(base::Json(value)); };
    CHECK(text(10.0) == "10.0");
    CHECK(text(-0.0) == "0.0");
    CHECK(text(0.1) == "0.1");
    CHECK(text(1e21) == "1e+21");
    CHECK(text(1e20) == "100000000000000000000.0");
    CHECK(text(1e-6) == "0.000001");
    CHECK(text(1e-7) == "1e-7");
    CHECK(text(-123.456) == "-123.456");
    CHECK(text(5e-324) == "5e-324");
    CHECK(text(1.7976931348623157e308) == "1.7976931348623157e+308");
    CHECK(text(333333333.33333329) == "333333333.3333333");
}

TEST_CASE("canonical JSON keeps 64-bit integers exact") {
    const auto value = parse_json("[9223372036854775807,-9223372036854775808,10.0,10]");
    REQUIRE(value);
    CHECK(canonical(*value) == "[9223372036854775807,-9223372036854775808,10.0,10]");
}

TEST_CASE("canonical JSON escapes as RFC 8785 does") {
    CHECK(
        canonical(base::Json("\b\f\n\r\t\"\\/\x01\x7f\xC3\xA9")) ==
        "\"\\b\\f\\n\\r\\t\\\"\\\\/\\u0001\x7f\xC3\xA9\""
    );
}

TEST_CASE("a number that int64 cannot hold is refused, not rounded") {
    for (const char* text :
         {"9223372036854775808", "18446744073709551616", "-9223372036854775809"}) {
        const auto value = parse_json(text);
        REQUIRE_FALSE(value);
        CHECK(value.error().code == base::ErrorCode::validation);
    }
    CHECK(parse_json("1e400").has_value() == false);
}

TEST_CASE("a hostile document is refused before it costs memory or stack") {
    CHECK_FALSE(parse_json(std::string(200'000, '[')));
    CHECK_FALSE(parse_json("\"\xff\""));
    CHECK_FALSE(parse_json("{\"a\":1,\"a\":2}"));
    CHECK_FALSE(parse_json("[1] x"));
    CHECK_FALSE(parse_json(""));
    CHECK(parse_json("[1]", {.bytes_max = 2}).error().code == base::ErrorCode::too_large);
    CHECK(parse_json(std::string(128, '[') + std::string(128, ']')));
    CHECK_FALSE(parse_json(std::string(129, '[') + std::string(129, ']')));
}

TEST_CASE("a document has as many values as its limit, and not one more") {
    const auto code = [](std::string_view text, std::size_t nodes_max) {
        const auto value = parse_json(text, {.nodes_max = nodes_max});
        return value ? std::string("read") : std::string(base::name(value.error().code));
    };
    // Each of these has four values, the outermost counted too.
    for (const char* text : {"[[],[],[]]", R"({"a":1,"b":"x","c":null})", "[[[[]]]]", "[1,[2]]"}) {
        CHECK_MESSAGE(code(text, 4) == "read", text);
        CHECK_MESSAGE(code(text, 3) == "too_large", text);
    }
    std::string many = "[";
    for (std::size_t i = 0; i < base::outside_limits.nodes_max; ++i)
        many += "[],";
    many += "0]";
    CHECK_FALSE(parse_json(many, base::outside_limits));
    CHECK(parse_json(many));
}
