#include "tests/engine/test_model.hpp"

namespace {

constexpr const char* first = R"({"net":"n","version":"1","places":{"in":{},"old":{},"done":{}},
    "transitions":{"t":{"in":{"x":"in"},"out":[{"to":"old","token":"${x}","delay":"10s"}]}},
    "start":"in","end":"done"})";

std::string second(std::string_view place, std::string_view migrate = R"({"old":"new"})") {
    return R"({"net":"n","version":"2","places":{"in":{},"new":)" + std::string(place) +
           R"(,"done":{}},"transitions":{"u":{"in":{"x":"new"},"out":{"done":"${x}"}}},
        "start":"in","end":"done","migrate":)" +
           std::string(migrate) + "}";
}

}  // namespace

TEST_CASE(
    "S43: tokens of a place that goes away move where the new version says, with case and delay"
) {
    TestModel test;
    test.deploy(first);
    const auto id = test.start("n", "1");
    test.put("n", "old", "2");
    test.run();
    const auto lost = test.try_deploy(second("{}", "{}"));
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code == base::ErrorCode::conflict);
    CHECK(lost.error().next.contains("migrate"));
    test.deploy(second("{}"));
    CHECK(test.in("n", "old").empty());
    CHECK(test.in("n", "new").size() == 2);
    test.run();
    CHECK(test.in("n", "done") == std::vector<std::string>{"2"});
    CHECK(test.case_state(id) == engine::CaseState::running);
    test.now = test.now + base::seconds(10);
    test.run();
    CHECK(test.in("n", "done").size() == 2);
    CHECK(test.case_state(id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("S44: a running case ends by the end places of the version that took it over") {
    TestModel test;
    test.deploy(first);
    const auto id = test.start("n", "1");
    test.run();
    test.now = test.now + base::seconds(10);
    test.run();
    test.deploy(R"({"net":"n","version":"2","places":{"in":{},"kept":{}},
        "start":"in","end":"kept","migrate":{"old":"kept"}})");
    CHECK(test.case_state(id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("S43: tokens that do not fit, find no room or are held by a firing refuse the deployment"
) {
    TestModel test;
    test.deploy(R"({"net":"n","version":"1","places":{"old":{},"done":{}},
        "transitions":{"t":{"in":{"x":"old"},"guard":"x == 9","agent":{"skill":"s"},
                            "out":{"done":1}}}})");
    test.put("n", "old", "1");
    test.put("n", "old", R"("text")");
    test.run();
    const auto seq = test.model.state().seq;
    const auto places = test.model.state().store.place_count();
    const auto misfit = test.try_deploy(second(R"({"schema":{"type":"integer"}})"));
    REQUIRE_FALSE(misfit);
    CHECK(misfit.error().details[0].pointer == "/migrate/old");
    const auto full = test.try_deploy(second(R"({"capacity":1})"));
    REQUIRE_FALSE(full);
    CHECK(full.error().details[0].message.contains("room for 1"));
    CHECK(test.model.state().seq == seq);
    CHECK(test.model.state().store.place_count() == places);
    test.put("n", "old", "9");
    test.run();
    const auto held = test.try_deploy(second("{}"));
    REQUIRE_FALSE(held);
    CHECK(held.error().details[0].message.contains("hold 1 tokens"));
    test.check_fold();
}

TEST_CASE("S44: a firing that is only prepared starts over under the next version") {
    constexpr const char* calling = R"({"net":"n","version":"%","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"call":{"toolId":"tool"},"out":{"o":%}}},
        "start":"a","end":"o"})";
    const auto version = [&](const char* number) {
        std::string text = calling;
        for (auto at = text.find('%'); at != std::string::npos; at = text.find('%'))
            text.replace(at, 1, number);
        return text;
    };
    TestModel test;
    test.deploy(version("1"));
    const auto id = test.start("n", "1");
    test.run();
    const auto before = test.effects<engine::Prepare>();
    REQUIRE(before.size() == 1);
    test.deploy(version("2"));
    engine::prepared(
        test.model, before[0].claim, engine::Prepared{"{}", "once", "tool", "v"}, test.asker()
    );
    CHECK(test.model.state().operations.empty());
    test.run();
    const auto after = test.effects<engine::Prepare>();
    REQUIRE(after.size() == 1);
    engine::prepared(
        test.model, after[0].claim, engine::Prepared{"{}", "once", "tool", "v"}, test.asker()
    );
    const auto performed = test.effects<engine::Perform>();
    REQUIRE(performed.size() == 1);
    engine::settle(
        test.model, {.operation = performed[0].operation, .result = "1", .meta = "{}"}, test.asker()
    );
    CHECK(test.in("n", "o") == std::vector<std::string>{"2"});
    CHECK(test.case_state(id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("S44: a firing in flight ends under the version that began it, and its case goes on") {
    TestModel test;
    test.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"agent":{"skill":"s"},"out":{"o":1}}},
        "start":"a","end":"o"})");
    const auto id = test.start("n", "1");
    test.run();
    test.deploy(R"({"net":"n","version":"2","places":{"a":{},"o":{},"p":{}},
        "transitions":{"u":{"in":{"x":"o"},"out":{"p":"${x + 1}"}}},"start":"a","end":"p"})");
    test.check_fold();
    const auto hold = engine::claim_work(test.model, {.agent = "ada"}, test.asker());
    REQUIRE(hold);
    REQUIRE(engine::finish_work(test.model, *hold, {.result = "1"}, test.asker()));
    test.run();
    CHECK(test.in("n", "p") == std::vector<std::string>{"2"});
    CHECK(test.case_state(id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("a place that stays does not migrate, and one that never was has nothing to move") {
    CHECK_FALSE(nets::compile(
                    *base::parse_json(R"({"net":"n","places":{"a":{},"b":{}},"migrate":{"a":"b"}})")
    )
                    .has_value());
    TestModel test;
    test.deploy(second("{}"));
    CHECK(test.in("n", "new").empty());
    test.check_fold();
}

TEST_CASE("S43: a place goes only when no firing in flight can put a token there any more") {
    TestModel test;
    test.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{},"bad":{}},
        "transitions":{"t":{"in":{"x":"a"},"agent":{"skill":"s"},"out":{"o":1},"fail":{"bad":2}}},
        "start":"a","end":["o","bad"]})");
    const auto id = test.start("n", "1");
    test.run();
    const std::string next = R"({"net":"n","version":"2","places":{"a":{},"p":{}},
        "transitions":{"u":{"in":{"x":"a"},"out":{"p":1}}},
        "start":"a","end":"p","migrate":{"o":"p"}})";
    const auto refused = test.try_deploy(next);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::conflict);
    REQUIRE(refused.error().details.size() == 2);
    CHECK(refused.error().details[0].pointer == "/places/bad");
    CHECK(refused.error().details[1].pointer == "/places/o");
    const auto hold = engine::claim_work(test.model, {.agent = "ada"}, test.asker());
    REQUIRE(hold);
    REQUIRE(engine::finish_work(test.model, *hold, {.result = "1"}, test.asker()));
    test.deploy(next);
    CHECK(test.in("n", "p") == std::vector<std::string>{"1"});
    CHECK(test.case_state(id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("S43: a place with tokens does not become a shared one, which is another place") {
    TestModel test;
    test.deploy(R"({"net":"n","version":"1","places":{"a":{}}})");
    test.put("n", "a", "1");
    const auto refused =
        test.try_deploy(R"({"net":"n","version":"2","places":{"a":{"shared":true}}})");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().details[0].message.contains("shared in this version"));
    CHECK(test.in("n", "a").size() == 1);
}
