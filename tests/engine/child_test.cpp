#include "tests/engine/test_model.hpp"

#include <fmt/format.h>

namespace {

// Runs itself once less, down to zero, and adds one on the way back.
constexpr const char* countdown = R"({"net":"down","version":"1",
    "places":{"in":{},"out":{},"bad":{}},
    "transitions":{
        "bottom":{"in":{"n":"in"},"guard":"n == 0","out":{"out":"bottom"}},
        "deeper":{"in":{"n":"in"},"guard":"n > 0",
                  "net":{"name":"down","input":"${n - 1}"},
                  "out":{"out":"${result} ${n}"},
                  "fail":{"bad":"${error.code} ${n}"}}},
    "start":"in","end":["out","bad"]})";

std::string parent_net(std::string_view more = "") {
    return R"({"net":"p","version":"1","places":{"in":{},"out":{},"bad":{}},
        "transitions":{"run":{"in":{"x":"in"},"net":{"name":"c"})" +
           std::string(more) + R"(,
            "out":{"out":{"got":"${result}","by":"${meta.places}"}},
            "fail":{"bad":{"code":"${error.code}","why":"${error.message}"}}}},
        "start":"in","end":["out","bad"]})";
}

constexpr const char* waiting_child = R"({"net":"c","version":"1",
    "places":{"in":{},"go":{},"done":{}},
    "transitions":{"t":{"in":{"x":"in","go":"go"},"out":{"done":"${x}"}}},
    "start":"in","end":"done"})";

base::CaseId child_of(const TestModel& test, base::CaseId parent) {
    for (const auto& [id, value] : test.model.state().cases) {
        if (!value.parent) continue;
        const auto* operation = test.model.state().find_operation(value.parent);
        if (operation != nullptr && operation->case_id == parent) return id;
    }
    return {};
}

}  // namespace

TEST_CASE("S39: a recursion of depth five unwinds in order") {
    TestModel test;
    test.deploy(countdown);
    const auto id = test.start("down", "5");
    test.run();
    CHECK(test.in("down", "out").back() == R"("bottom 1 2 3 4 5")");
    CHECK(test.case_state(id) == engine::CaseState::completed);
    CHECK(test.model.state().cases.size() == 6);
    // The deepest one ends first.
    std::vector<base::Timestamp> unused;
    std::vector<base::Seq> ended;
    for (const auto& record : test.records) {
        const auto parsed = *base::parse_json(record);
        if (parsed.at("type") == "case.ended")
            ended.push_back(base::case_id(parsed.at("data").at("case").get<std::string>())->seq);
    }
    CHECK(ended.size() == 6);
    CHECK(std::ranges::is_sorted(ended, std::ranges::greater{}));
    test.check_fold();
}

TEST_CASE("S40: a recursion that does not stop ends with limit, sixteen cases deep") {
    TestModel test;
    test.deploy(countdown);
    const auto id = test.start("down", "100");
    test.run();
    CHECK(test.model.state().cases.size() == engine::child_depth_max);
    CHECK(test.in("down", "bad") == std::vector<std::string>{R"("limit 85")"});
    CHECK(test.case_state(id) == engine::CaseState::completed);
    CHECK(test.model.state().operations.empty());
    test.check_fold();
}

TEST_CASE("S39: the parent takes the child's result, and the places it came from") {
    TestModel test;
    test.deploy(R"({"net":"c","version":"1","places":{"in":{},"a":{},"b":{}},
        "transitions":{"t":{"in":{"x":"in"},"out":{"a":"${x.v}","b":2}}},
        "start":"in","end":["a","b"]})");
    test.deploy(parent_net());
    test.start("p", R"({"v":1})");
    test.run();
    CHECK(test.in("p", "out") == std::vector<std::string>{R"({"by":["a","b"],"got":[1,2]})"});
    test.check_fold();
}

TEST_CASE("S41: a child that fails is the parent's error, with its cause") {
    TestModel test;
    test.deploy(R"({"net":"c","version":"1","places":{"in":{},"done":{}},
        "transitions":{"t":{"in":{"x":"in"},"out":{"done":"${x.missing}"}}},
        "start":"in","end":"done"})");
    test.deploy(parent_net());
    test.start("p", "{}");
    test.run();
    const auto bad = test.in("p", "bad");
    REQUIRE(bad.size() == 1);
    const auto said = *base::parse_json(bad[0]);
    CHECK(said.at("code") == "validation");
    CHECK(said.at("why").get<std::string>().contains("of net 'c' failed"));
    test.check_fold();
}

TEST_CASE("a child that cannot start is an error before anything ran") {
    TestModel test;
    test.deploy(parent_net());
    test.start("p", "{}");
    test.run();
    CHECK(base::parse_json(test.in("p", "bad").at(0))->at("code") == "not_found");
    test.deploy(R"({"net":"c","version":"1","places":{"in":{"schema":{"type":"integer"}}},
        "start":"in","end":"in"})");
    test.start("p", "{}");
    test.start("p", "7");
    test.run();
    CHECK(base::parse_json(test.in("p", "bad").at(1))->at("code") == "validation");
    CHECK(test.in("p", "out") == std::vector<std::string>{R"({"by":["in"],"got":7})"});
    test.check_fold();
}

TEST_CASE("S41: cancelling the parent cancels the child, and cancelling the child fails the parent"
) {
    TestModel test;
    test.deploy(waiting_child);
    test.deploy(parent_net());
    const auto first = test.start("p", "1");
    const auto second = test.start("p", "2");
    test.run();
    const auto child = child_of(test, first);
    const auto other = child_of(test, second);
    REQUIRE(engine::cancel_case(test.model, first, test.asker()).has_value());
    CHECK(test.case_state(child) == engine::CaseState::cancelled);
    REQUIRE(engine::cancel_case(test.model, other, test.asker()).has_value());
    CHECK(base::parse_json(test.in("p", "bad").at(0))->at("code") == "cancelled");
    CHECK(test.case_state(second) == engine::CaseState::completed);
    CHECK(test.in("c", "in").empty());
    CHECK(test.model.state().operations.empty());
    test.check_fold();
}

TEST_CASE("S41: when the time of the firing that waits is up, its child is cancelled") {
    TestModel test;
    test.deploy(waiting_child);
    test.deploy(parent_net(R"(,"timeout":"10s")"));
    const auto id = test.start("p", "2");
    test.run();
    const auto slow = child_of(test, id);
    test.now = test.now + base::seconds(9);
    test.run();
    CHECK(test.case_state(slow) == engine::CaseState::running);
    test.now = test.now + base::seconds(1);
    test.run();
    CHECK(test.case_state(slow) == engine::CaseState::cancelled);
    CHECK(base::parse_json(test.in("p", "bad").at(0))->at("code") == "timeout");
    test.check_fold();
}

TEST_CASE("a retry starts another child, when the author names the code") {
    TestModel test;
    test.deploy(waiting_child);
    test.deploy(
        parent_net(R"(,"timeout":"1s","retry":{"attempts":2,"backoff":"1s","on":["timeout"]})")
    );
    const auto id = test.start("p", "1");
    test.run();
    const auto first = child_of(test, id);
    test.now = test.now + base::seconds(1);
    test.run();
    CHECK(test.case_state(first) == engine::CaseState::cancelled);
    test.now = test.now + base::seconds(1);
    test.run();
    CHECK(test.model.state().cases.size() == 3);
    test.put("c", "go", "1");
    test.run();
    CHECK(test.in("p", "out").size() == 1);
    CHECK(test.case_state(id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("S42: a wait for a child goes on in another life, wherever the log was cut off") {
    TestModel test;
    test.deploy(waiting_child);
    test.deploy(parent_net());
    const auto id = test.start("p", R"("x")");
    test.run();
    test.put("c", "go", "1");
    test.run();
    CHECK(test.case_state(id) == engine::CaseState::completed);
    // Cut after every record that followed the start: the case comes to the same end.
    for (std::size_t kept = 3; kept <= test.records.size(); ++kept) {
        CAPTURE(kept);
        engine::Model model("m");
        for (std::size_t i = 0; i < kept; ++i)
            REQUIRE(model.replay(test.records[i]));
        model.take_over(2);
        model.go_live(test.now);
        const engine::Asker asker{.actor = "test", .now = test.now};
        model.pump(test.now, 1000);
        const auto& states = model.state();
        const auto going = states.find_case(id)->state == engine::CaseState::running;
        if (going && states.store.place(*states.place({"c", "go"})).count == 0) {
            REQUIRE(engine::put_tokens(model, {"c", "go"}, {{"1", {}}}, asker));
            model.pump(test.now, 1000);
        }
        CHECK(states.find_case(id)->state == engine::CaseState::completed);
        CHECK(states.cases.size() == 2);
        CHECK(states.operations.empty());
    }
}

TEST_CASE("the depth and the wait survive a snapshot") {
    TestModel test;
    test.deploy(waiting_child);
    test.deploy(parent_net(R"(,"timeout":"1h")"));
    test.start("p", R"("x")");
    test.run();
    test.check_fold();
    Reopened later(test);
    CHECK(later.model.next_due() == test.now + base::seconds(3600));
    CHECK(TestModel::lines(later.model.state()) == TestModel::lines(test.model.state()));
}
