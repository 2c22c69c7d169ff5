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

TEST_CASE("a number that cannot be held is reported with its pointer, its value and the limits") {
    const auto refused = [](const char* text) {
        const auto value = parse_json(text);
        REQUIRE_FALSE(value);
        REQUIRE(value.error().details.size() == 1);
        return value.error();
    };
    const auto big = refused(R"({"a/b":[1,{"c":[true],"d":[[],9223372036854775808]}]})");
    CHECK(big.details[0].pointer == "/a~1b/1/d/1");
    CHECK(big.message.contains("9223372036854775808"));
    CHECK(big.message.contains("from -9223372036854775808 to 9223372036854775807"));
    const auto huge = refused("[0,-123456789012345678901234567890]");
    CHECK(huge.details[0].pointer == "/1");
    CHECK(huge.message.contains("-123456789012345678901234567890"));
    CHECK(refused(R"([{"a":1,"b":2,"a":3}])").details[0].pointer == "/0/a");
}

TEST_CASE("a zero byte anywhere is refused: nothing that follows one is ignored") {
    const std::string text = R"({"a":[1,"b",{"c":null}],"d":-1.5})";
    REQUIRE(parse_json(text));
    for (std::size_t at = 0; at <= text.size(); ++at) {
        auto with = text;
        with.insert(at, 1, '\0');
        const auto value = parse_json(with);
        REQUIRE_FALSE_MESSAGE(value, at);
        CHECK(value.error().message.contains("zero byte"));
        with.insert(at + 1, "garbage");
        CHECK_FALSE(parse_json(with));
    }
    const auto second_line = parse_json(std::string_view("[1,\n2]\0", 8));
    REQUIRE_FALSE(second_line);
    CHECK(second_line.error().message.contains("line 2, column 3"));
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
