#include "nets/cel/value.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <limits>

using nets::cel::Kind;
using nets::cel::Value;

namespace {

std::string text_of(const Value& value) {
    std::string out;
    const auto done = nets::cel::append_canonical(out, value);
    return done ? out : "error: " + done.error().message;
}

}  // namespace

TEST_CASE("a value borrowed from JSON reads its fields without a copy and marks numbers soft") {
    const base::Json json = {{"total", 10}, {"lines", {1.5, "x"}}, {"ok", true}};
    const Value value = Value::json(json);
    REQUIRE(value.is(Kind::map));
    CHECK(value.size() == 3);
    CHECK(value.find("total")->as_integer() == 10);
    CHECK(value.find("total")->soft());
    CHECK(!Value::integer(10).soft());
    CHECK(value.find("lines")->at(0).as_real() == 1.5);
    CHECK(
        value.find("lines")->at(1).text().data() ==
        json["lines"][1].get_ref<const std::string&>().data()
    );
    CHECK(!value.find("absent"));
}

TEST_CASE("numbers are equal across kinds when their values are") {
    CHECK(Value::integer(1) == Value::real(1.0));
    CHECK(Value::uinteger(1) == Value::integer(1));
    CHECK(Value::integer(-1) != Value::uinteger(std::numeric_limits<std::uint64_t>::max()));
    CHECK(Value::integer(1) != Value::real(1.5));
    CHECK(Value::uinteger(std::numeric_limits<std::uint64_t>::max()) != Value::integer(-1));
    CHECK(
        Value::real(std::numeric_limits<double>::quiet_NaN()) !=
        Value::real(std::numeric_limits<double>::quiet_NaN())
    );
    CHECK(Value::string("1") != Value::integer(1));
}

TEST_CASE("owned lists and maps equal borrowed ones with the same content") {
    const base::Json json = {{"a", {1, 2}}, {"b", nullptr}};
    CHECK(Value::json(json) == Value::owned_json(json));
    CHECK(Value::json(json) != Value::json(json["a"]));
}

TEST_CASE("a map finds keys of any numeric kind, also when it is large") {
    std::vector<std::pair<Value, Value>> entries;
    for (int i = 0; i < 100; ++i)
        entries.emplace_back(Value::integer(i), Value::integer(2 * i));
    entries.emplace_back(Value::string("name"), Value::boolean(true));
    const auto map = Value::map(entries);
    REQUIRE(map);
    CHECK(map->find(Value::uinteger(40))->as_integer() == 80);
    CHECK(map->find(Value::real(99.0))->as_integer() == 198);
    CHECK(!map->find(Value::real(0.5)));
    CHECK(map->find("name")->as_boolean());
    entries.emplace_back(Value::uinteger(7), Value());
    CHECK(Value::map(entries).error().message == "the map key 7u is given twice");
    CHECK(!Value::map({{Value::real(1), Value()}}));
}

TEST_CASE("values are written as canonical JSON") {
    const auto map = Value::map({
        {Value::string("b"), Value::bytes("hello")},
        {Value::string("a"), Value::list({Value::integer(1), Value::real(2), Value()})},
        {Value::integer(7), Value::duration({-2, 500'000'000})},
        {Value::boolean(true), Value::timestamp(nets::cel::Span{1234567890, 0})},
    });
    REQUIRE(map);
    CHECK(
        text_of(*map) ==
        R"({"7":"-1.5s","a":[1,2.0,null],"b":"aGVsbG8=","true":"2009-02-13T23:31:30Z"})"
    );
    CHECK(text_of(Value::optional_of(Value::integer(3))) == "3");
    const base::Json json = base::Json::parse(R"({"\ue000":1,"😀":2,"a":{"z":[],"y":{}}})");
    CHECK(text_of(Value::json(json)) == base::canonical(json));
    CHECK(nets::cel::to_json(Value::json(json)).value() == json);
}

TEST_CASE("what JSON cannot hold is refused and leaves the output as it was") {
    std::string out = "kept";
    const Value nan = Value::list({Value::real(std::numeric_limits<double>::quiet_NaN())});
    CHECK(nets::cel::append_canonical(out, nan).error().code == base::ErrorCode::validation);
    CHECK(!nets::cel::append_canonical(out, Value::type(Kind::integer)));
    CHECK(!nets::cel::append_canonical(out, Value::uinteger(1ULL << 63U)));
    CHECK(!nets::cel::append_canonical(
        out, *Value::map({{Value::integer(1), Value()}, {Value::string("1"), Value()}})
    ));
    CHECK(out == "kept");
}

TEST_CASE("a small value that is huge as JSON is stopped by the limit") {
    Value bomb = Value::string(std::string(1000, 'x'));
    for (int i = 0; i < 20; ++i)
        bomb = Value::list({bomb, bomb, bomb, bomb});
    std::string out;
    CHECK(
        nets::cel::append_canonical(out, bomb, {.bytes_max = 100'000}).error().code ==
        base::ErrorCode::limit
    );
    Value deep;
    for (int i = 0; i < 200; ++i)
        deep = Value::list({deep});
    CHECK(nets::cel::append_canonical(out, deep).error().code == base::ErrorCode::limit);
}

TEST_CASE("comparing values that share their parts stops at the given work") {
    Value bomb = Value::integer(1);
    for (int i = 0; i < 60; ++i)
        bomb = Value::list({bomb, bomb});
    std::uint64_t work = 0;
    CHECK(!nets::cel::equal(bomb, bomb, work, 10'000));
    CHECK(work > 10'000);
}
