#include "engine/scheduler.hpp"
#include "tests/engine/test_model.hpp"

#include <fmt/format.h>

// Searches among more combinations than are tried in one go.
namespace {

std::string pairs(std::string_view guard) {
    return fmt::format(
        R"({{"net": "n", "version": "1", "places": {{"x": {{}}, "g": {{}}, "done": {{}}}},
            "transitions": {{"pair": {{"in": {{"x": "x", "g": "g"}}, "guard": "{}",
                "out": {{"done": "${{g.i}}"}}}}}}}})",
        guard
    );
}

void fill(TestModel& m, int tokens) {
    const auto place = engine::PlaceName{"n", "x"};
    for (int i = 0; i < tokens;) {
        std::vector<engine::PutToken> some;
        for (; i < tokens && some.size() < 5'000; ++i)
            some.push_back({fmt::format(R"({{"i":{}}})", i), {}});
        REQUIRE(engine::put_tokens(m.model, place, std::move(some), m.asker()));
    }
}

std::vector<std::string> matched(TestModel& m) {
    for (const int i : {5, 9000, 15000, 19000, 12000}) {
        m.put("n", "g", fmt::format(R"({{"i":{}}})", i));
        m.run();
    }
    return m.in("n", "done");
}

}  // namespace

TEST_CASE("S19 S29: a token fires with the one that it matches, however many lie before that") {
    const std::vector<std::string> all{"5", "9000", "15000", "19000", "12000"};
    for (const auto* guard : {"x.i == g.i", "x.i - g.i == 0"}) {
        CAPTURE(guard);
        TestModel m;
        m.deploy(pairs(guard));
        fill(m, 20'000);
        CHECK(matched(m) == all);
        CHECK(m.in("n", "x").size() == 20'000 - all.size());
        m.check_fold();
    }
}

TEST_CASE("S19: while a search goes on, others fire and its own tokens come and go") {
    TestModel m;
    m.deploy(R"({"net": "n", "version": "1",
        "places": {"x": {}, "g": {}, "done": {}, "a": {}, "b": {}, "gone": {}},
        "transitions": {
            "pair": {"in": {"x": "x", "g": "g"}, "guard": "x.i - g.i == 0",
                     "out": {"done": "${g.i}"}, "priority": 5},
            "pass": {"in": {"a": "a"}, "out": {"b": "${a}"}},
            "drop": {"in": {"x": "x", "a": {"place": "gone"}}, "out": {}}}})");
    fill(m, 5'000);
    m.model.try_at_once(100);
    m.put("n", "g", R"({"i":4999})");
    m.put("n", "a", "1");
    CHECK(m.model.pump(m.now, 10) == 1);  // `pass`
    CHECK(m.model.scheduler().searching());
    // Why not does not say that nothing matches before all was looked at.
    const auto pair = *m.model.state().find_transition("n", "pair");
    const auto held = m.model.scheduler().held(pair, 1);
    REQUIRE(held.size() == 1);
    CHECK(held[0].why.reason == engine::Unbound::Reason::searching);
    // It stands at some token in the middle: those around it go.
    for (int i = 0; i < 300; ++i)
        m.put("n", "gone", "1");
    for (int turn = 0; turn < 400; ++turn)
        m.model.pump(m.now, 1);
    m.run();
    CHECK(m.in("n", "done") == std::vector<std::string>{"4999"});
}

TEST_CASE("S10 S29: one token less in a list may be what a guard waits for") {
    TestModel m;
    m.deploy(R"({"net": "n", "version": "1", "places": {"x": {}, "take": {}, "done": {}},
        "transitions": {
            "few": {"in": {"x": {"place": "x", "take": "all"}}, "guard": "size(x) <= 2",
                    "out": {"done": "${size(x)}"}},
            "one": {"in": {"x": "x", "t": "take"}, "out": {}}}})");
    fill(m, 3);
    m.run();
    CHECK(m.in("n", "done").empty());
    m.put("n", "take", "1");
    m.run();
    CHECK(m.in("n", "done") == std::vector<std::string>{"2"});
}

TEST_CASE("S11: keys are equal where the language calls them so") {
    TestModel m;
    m.deploy(R"({"net": "n", "version": "1", "places": {"x": {}, "g": {}, "done": {}},
        "transitions": {"pair": {
            "in": {"x": {"place": "x", "key": "token.k"}, "g": {"place": "g", "key": "token.k"}},
            "out": {"done": "${x.k == g.k}"}}}})");
    const auto joined = [&](std::string_view x, std::string_view g) {
        const auto before = m.in("n", "done").size();
        m.put("n", "x", x);
        m.put("n", "g", g);
        m.run();
        return m.in("n", "done").size() != before;
    };
    CHECK(joined(R"({"k":1})", R"({"k":1.0})"));
    CHECK(joined(R"({"k":{"a":[2]}})", R"({"k":{"a":[2.0]}})"));
    CHECK_FALSE(joined(R"({"k":9007199254740993})", R"({"k":9007199254740992.0})"));
    CHECK(joined(R"({"k":9007199254740992})", R"({"k":"other"})"));
    CHECK_FALSE(joined(R"({"k":"1"})", R"({"k":[1]})"));
    for (const auto& equal : m.in("n", "done"))
        CHECK(equal == "true");
    const auto value = base::Json::parse("[9007199254740993, 9007199254740992.0, 1, 1.0]");
    using nets::cel::Value;
    CHECK_FALSE(Value::json(value[0]) == Value::json(value[1]));
    CHECK(Value::json(value[2]) == Value::json(value[3]));
}

TEST_CASE("S11: a key that shares its parts is not written out without end") {
    std::string key = "[1]";
    for (int i = 0; i < 40; ++i)
        key = fmt::format("cel.bind(a{0}, {1}, [a{0}, a{0}])", i, key);
    TestModel m;
    m.deploy(fmt::format(
        R"({{"net": "n", "version": "1", "places": {{"x": {{}}, "g": {{}}, "done": {{}}}},
            "transitions": {{"pair": {{
                "in": {{"x": {{"place": "x", "key": "{}"}}, "g": {{"place": "g", "key": "token"}}}},
                "out": {{"done": 1}}}}}}}})",
        key
    ));
    m.put("n", "x", "1");
    m.put("n", "g", "1");
    CHECK(m.run() == 0);
}
