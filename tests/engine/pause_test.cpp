#include "tests/engine/test_model.hpp"

namespace {

constexpr const char* net = R"({"net":"n","version":"1","places":{"a":{},"b":{},"c":{}},
    "transitions":{"t":{"in":{"x":"a"},"out":{"b":"${x + 1}"}},
                   "call":{"in":{"x":"b"},"call":{"toolId":"tool","args":{"v":"${x}"}},
                           "out":{"c":1}}}})";

}  // namespace

TEST_CASE("S45: what is paused does not fire until it is resumed") {
    for (const auto& [of, transition] :
         {std::pair{"n", "t"}, std::pair{"n", ""}, std::pair{"", ""}}) {
        CAPTURE(of);
        CAPTURE(transition);
        TestModel test;
        test.deploy(net);
        REQUIRE(engine::pause(test.model, of, transition, test.asker("ada")));
        test.put("n", "a", "1");
        CHECK(test.run() == 0);
        const auto& state = test.model.state();
        const auto& entry = state.transitions[*state.find_transition("n", "t")];
        REQUIRE(test.model.state().pause_of(entry) != nullptr);
        CHECK(test.model.state().pause_of(entry)->by == "ada");
        // Another life finds it paused.
        engine::Model later("m");
        for (const auto& record : test.records)
            REQUIRE(later.replay(record));
        later.take_over(2);
        later.go_live(test.now);
        CHECK(later.pump(test.now, 100) == 0);
        REQUIRE(engine::resume(test.model, of, transition, test.asker()));
        CHECK(test.run() > 0);
        CHECK(test.in("n", "a").empty());
        test.check_fold();
    }
}

TEST_CASE("pausing twice writes once, and what does not exist cannot be paused") {
    TestModel test;
    test.deploy(net);
    REQUIRE(engine::pause(test.model, "n", "t", test.asker()));
    const auto seq = test.model.state().seq;
    REQUIRE(engine::pause(test.model, "n", "t", test.asker()));
    CHECK(test.model.state().seq == seq);
    CHECK_FALSE(engine::pause(test.model, "n", "u", test.asker()));
    CHECK_FALSE(engine::pause(test.model, "m", "", test.asker()));
    // A pause of the net holds the transition still.
    REQUIRE(engine::pause(test.model, "n", "", test.asker()));
    REQUIRE(engine::resume(test.model, "n", "t", test.asker()));
    test.put("n", "a", "1");
    CHECK(test.run() == 0);
    test.check_fold();
}

TEST_CASE("S45: firings in flight go on while their transition is paused") {
    TestModel test;
    test.deploy(net);
    test.put("n", "b", "1");
    test.run();
    const auto asked = test.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    REQUIRE(engine::pause(test.model, "", "", test.asker()));
    engine::prepared(
        test.model, asked[0].claim, engine::Prepared{"{}", "once", "tool", "v"}, test.asker()
    );
    const auto performed = test.effects<engine::Perform>();
    REQUIRE(performed.size() == 1);
    CHECK(
        engine::settle(
            test.model,
            {.operation = performed[0].operation, .result = "1", .meta = "{}"},
            test.asker()
        ) == engine::Settled::applied
    );
    CHECK(test.in("n", "c").size() == 1);
    test.check_fold();
}

TEST_CASE("S45: a paused timer passes its turns over, and resumes as onMissed says") {
    for (const bool once : {false, true}) {
        TestModel test;
        test.deploy(
            std::string(R"({"net":"n","version":"1","places":{"p":{}},
            "transitions":{"tick":{"every":"1s","onMissed":")") +
            (once ? "once" : "skip") + R"(","out":{"p":1}}}})"
        );
        test.run();
        REQUIRE(engine::pause(test.model, "n", "tick", test.asker()));
        test.now = test.now + base::seconds(10);
        CHECK(test.run() == 0);
        CHECK_FALSE(test.model.next_due().has_value());
        REQUIRE(engine::resume(test.model, "n", "tick", test.asker()));
        test.run();
        CHECK(test.in("n", "p").size() == (once ? 1 : 0));
        CHECK(test.model.next_due() == test.now + base::seconds(1));
        test.check_fold();
    }
}

TEST_CASE("S46: a paused transition fires once when it is told to") {
    TestModel test;
    test.deploy(net);
    REQUIRE(engine::pause(test.model, "n", "", test.asker()));
    CHECK(
        engine::fire_once(test.model, "n", "t", test.asker()).error().code ==
        base::ErrorCode::conflict
    );
    test.put("n", "a", "1");
    test.put("n", "a", "2");
    REQUIRE(engine::fire_once(test.model, "n", "t", test.asker()));
    test.run();
    CHECK(test.in("n", "b") == std::vector<std::string>{"2"});
    CHECK(test.in("n", "a") == std::vector<std::string>{"2"});
    REQUIRE(engine::fire_once(test.model, "n", "call", test.asker()));
    CHECK(test.effects<engine::Prepare>().size() == 1);
    REQUIRE(engine::resume(test.model, "n", "", test.asker()));
    test.run();
    CHECK(test.in("n", "a").empty());
    test.check_fold();
}

TEST_CASE("S47: a dry run shows the binding and what would come of it, and changes nothing") {
    TestModel test;
    test.deploy(net);
    CHECK_FALSE(engine::dry_run(test.model, "n", "t", test.now).has_value());
    REQUIRE(engine::pause(test.model, "", "", test.asker()));
    test.put("n", "a", "1");
    test.put("n", "b", "5");
    test.put("n", "b", R"("five")");
    test.run();
    const auto before = TestModel::lines(test.model.state());
    const auto map = engine::dry_run(test.model, "n", "t", test.now);
    REQUIRE(map);
    REQUIRE(map->event);
    CHECK(map->binding.arcs[0].size() == 1);
    CHECK(map->event->produced[0].data.view() == "2");
    const auto call = engine::dry_run(test.model, "n", "call", test.now);
    REQUIRE(call);
    CHECK(call->input == R"({"v":5})");
    CHECK(TestModel::lines(test.model.state()) == before);
    CHECK_FALSE(test.model.has_records());
    CHECK(test.effects<engine::Prepare>().empty());
}
