#include "nets/diff.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using base::Json;

namespace {

const Json before = Json::parse(R"({"net": "n", "version": "1",
  "places": {"a": {}, "b": {"capacity": 5}, "gone": {}},
  "transitions": {
    "t": {"in": {"x": "a"}, "guard": "x.n > 1", "out": {"b": "${x}"}, "timeout": "1s"},
    "old": {"in": {"x": "a"}}},
  "start": "a"})");

}  // namespace

TEST_CASE("what became of a net is told in plain words, places first") {
    auto after = before;
    after["version"] = "2";
    after["places"].erase("gone");
    after["places"]["fresh"] = Json::object();
    after["places"]["b"]["capacity"] = 7;
    after["transitions"].erase("old");
    after["transitions"]["new"] = Json::object();
    auto& changed = after["transitions"]["t"];
    changed["in"]["x"] = {{"place", "a"}, {"take", 2}};
    changed["in"]["y"] = "b";
    changed["guard"] = "x[0].n > 1";
    changed["out"]["b"] = "${x[0]}";
    changed["out"]["fresh"] = 1;
    changed.erase("timeout");
    changed["priority"] = 3;
    after["end"] = {"b"};
    CHECK(
        nets::in_words(nets::diff(before, after)) ==
        "- place 'gone' is gone\n"
        "~ place 'b' 'capacity' was 5, is 7\n"
        "+ place 'fresh' is new\n"
        "- transition 'old' is gone\n"
        "+ transition 'new' is new\n"
        "+ transition 't' input 'x': 'take' is new: 2\n"
        "+ transition 't' input 'y' is new: {\"place\":\"b\"}\n"
        "~ transition 't' 'guard' was \"x.n > 1\", is \"x[0].n > 1\"\n"
        "~ transition 't' 'out': 'b' was \"${x}\", is \"${x[0]}\"\n"
        "+ transition 't' 'out': 'fresh' is new: 1\n"
        "+ transition 't' 'priority' is new: 3\n"
        "- transition 't' 'timeout' is gone\n"
        "~ 'version' was \"1\", is \"2\"\n"
        "+ 'end' is new: [\"b\"]\n"
    );
}

TEST_CASE("spelling and defaults are no difference") {
    auto after = before;
    after["places"]["a"] = {{"shared", false}, {"cases", true}, {"tokens", Json::array()}};
    after["transitions"]["t"]["in"]["x"] = {
        {"place", "a"}, {"arc", "consume"}, {"take", 1}, {"order", "fifo"}, {"anyCase", false}
    };
    after["transitions"]["t"]["guard"] = "${x.n > 1}";
    after["transitions"]["t"]["priority"] = 0;
    CHECK(nets::diff(before, after).empty());
    CHECK(nets::in_words({}) == "no difference\n");
}

TEST_CASE("a difference has a kind and a pointer for programs") {
    auto after = before;
    after["transitions"]["t"]["in"]["x"] = "b";
    const auto changes = nets::to_json(nets::diff(before, after));
    REQUIRE(changes.size() == 1);
    CHECK(changes[0]["kind"] == "changed");
    CHECK(changes[0]["pointer"] == "/transitions/t/in/x/place");
    CHECK(changes[0]["words"] == "transition 't' input 'x': 'place' was \"a\", is \"b\"");
}

TEST_CASE("ten and ten point zero are not the same token") {
    auto after = before;
    auto older = before;
    older["places"]["a"]["tokens"] = {10};
    after["places"]["a"]["tokens"] = {10.0};
    CHECK(nets::in_words(nets::diff(older, after)) == "~ place 'a' 'tokens' was [10], is [10.0]\n");
}

TEST_CASE("a value that is too long to show is only named") {
    auto after = before;
    after["transitions"]["t"]["guard"] = std::string(100, 'x');
    CHECK(nets::in_words(nets::diff(before, after)) == "~ transition 't' 'guard' is different\n");
}
