#include "tests/engine/test_model.hpp"

namespace {

base::Timestamp at(std::string_view text) {
    return *base::timestamp(text);
}

std::string cron_net(std::string_view missed, std::string_view out = R"({"p": "${now}"})") {
    return R"({"net": "n", "version": "1", "places": {"p": {}}, "transitions": {"tick": {
        "cron": {"expression": "30 2 * * *", "zone": "Europe/Berlin"}, "onMissed": ")" +
           std::string(missed) + R"(", "out": )" + std::string(out) + "}}}";
}

}  // namespace

TEST_CASE("S33: a cron timer fires by the wall clock of its zone, over the change to summer time") {
    TestModel test;
    test.now = at("2026-03-28T00:00:00Z");
    test.deploy(cron_net("skip"));
    test.run();
    CHECK(test.model.next_due() == at("2026-03-28T01:30:00Z"));
    for (const char* due :
         {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}) {
        CHECK(test.model.next_due() == at(due));
        test.now = at(due);
        test.run();
    }
    CHECK(test.in("n", "p").size() == 3);
    test.check_fold();
}

TEST_CASE("S34: turns that nobody was there to see are skipped, or made up for once") {
    for (const bool once : {false, true}) {
        CAPTURE(once);
        TestModel test;
        test.now = at("2026-06-01T12:00:00Z");
        test.deploy(cron_net(once ? "once" : "skip"));
        test.run();
        test.keep();
        // The master is gone for three days; another life opens the log.
        engine::Model later("m");
        for (const auto& record : test.records)
            REQUIRE(later.replay(record));
        later.take_over(2);
        later.go_live(at("2026-06-04T12:00:00Z"));
        later.pump(at("2026-06-04T12:00:00Z"), 100);
        const auto place = *later.state().place({"n", "p"});
        CHECK(later.state().store.place(place).count == (once ? 1 : 0));
        CHECK(later.next_due() == at("2026-06-05T00:30:00Z"));
    }
}

TEST_CASE("S34: a turn whose output fails is a dead letter, and the timer goes on") {
    TestModel test;
    test.now = at("2026-06-01T12:00:00Z");
    test.deploy(cron_net("skip", R"({"p": "${1 / (firing.id.size() - firing.id.size())}"})"));
    test.run();
    test.now = at("2026-06-02T00:30:00Z");
    test.run();
    CHECK(test.in("", "p-dead-letter").size() == 1);
    CHECK(test.model.next_due() == at("2026-06-03T00:30:00Z"));
    test.check_fold();
}

TEST_CASE("S34: a timer that cannot fire writes nothing, and fires at its turn once it can") {
    TestModel test;
    test.deploy(
        R"({"net": "n", "version": "1", "places": {"full": {"capacity": 1}, "in": {}, "o": {}},
        "transitions": {
            "fill": {"every": "50ms", "out": {"full": 1}},
            "move": {"every": "50ms", "in": {"x": "in"}, "out": {"o": "${x}"}}}})"
    );
    test.now = test.now + base::milliseconds(50);
    test.run();
    CHECK(test.in("n", "full").size() == 1);
    const auto records = test.records.size();
    for (int turn = 0; turn < 1000; ++turn) {
        test.now = *test.model.next_due();
        test.run();
    }
    CHECK(test.records.size() == records);
    const auto due = test.model.next_due();
    CHECK(*due == test.now + base::milliseconds(50));
    test.now = test.now + base::milliseconds(20);
    test.put("n", "in", "7");
    test.run();
    CHECK(test.in("n", "o").empty());
    CHECK(test.model.next_due() == due);
    // A version of another net, a pause elsewhere: the turns stay as they are.
    test.deploy(R"({"net": "other", "version": "1", "places": {"p": {}}})");
    test.run();
    CHECK(test.model.next_due() == due);
    test.now = *due;
    test.run();
    CHECK(test.in("n", "o").size() == 1);
    test.check_fold();
}

TEST_CASE("S34: turns in which a timer could not fire are not made up for after a restart") {
    for (const bool once : {false, true}) {
        CAPTURE(once);
        TestModel test;
        test.deploy(
            std::string(R"({"net": "n", "version": "1", "places": {"in": {}, "o": {}},
            "transitions": {"move": {"every": "1d", "in": {"x": "in"}, "out": {"o": "${x}"},
                                     "onMissed": ")") +
            (once ? "once" : "skip") + R"("}}})"
        );
        test.run();
        const auto first = *test.model.next_due();
        test.now = first + base::seconds(3600);
        test.run();
        test.put("n", "in", "1");
        Reopened later(test);
        later.model.pump(test.now, 100);
        CHECK(later.model.state().store.place(*later.model.state().place({"n", "o"})).count == 0);
        CHECK(later.model.next_due() == first + base::seconds(86'400));
    }
}

TEST_CASE("S33: cron follows the wall clock when it is set, and every does not") {
    const std::string net = R"({"net": "n", "version": "1", "places": {"p": {}, "q": {}},
        "transitions": {"hourly": {"cron": "0 * * * *", "out": {"p": 1}},
                        "daily": {"cron": "0 12 * * *", "out": {"p": 2}},
                        "steady": {"every": "10m", "out": {"q": 3}}}})";
    struct Step {
        base::Duration wall;     ///< how far the clock was set
        base::Duration turn_in;  ///< the next turn of the hourly one, from then on
    };
    for (const auto& step : {
             Step{base::seconds(-10 * 60), base::seconds(5 * 60)},   // 11:55, again
             Step{base::seconds(-30), base::seconds(55 * 60 + 30)},  // 12:04:30, still waits
             Step{base::seconds(86'400), base::seconds(55 * 60)},    // the turns between are over
             Step{base::seconds(50 * 60), base::seconds(5 * 60)},    // 12:55
             Step{base::seconds(-3650 * 86'400), base::seconds(55 * 60)},
         }) {
        CAPTURE(step.wall.us);
        TestModel test;
        test.now = at("2026-06-01T11:55:00Z");
        test.deploy(net);
        test.now = at("2026-06-01T12:00:00Z");
        test.run();
        CHECK(test.in("n", "p").size() == 2);
        test.now = at("2026-06-01T12:05:00Z");
        test.run();
        REQUIRE(test.in("n", "q").size() == 1);
        const auto hourly = *test.model.state().find_transition("n", "hourly");
        test.model.follow_wall(step.wall);
        test.run();
        CHECK(test.in("n", "q").size() == 1);
        CHECK(test.model.next_due() == test.now + std::min(step.turn_in, base::seconds(10 * 60)));
        CHECK(test.model.next_turn(hourly) - (test.now + step.wall) == step.turn_in);
        const auto before = test.in("n", "p").size();
        for (const auto end = test.now + base::seconds(3599); *test.model.next_due() <= end;) {
            test.now = *test.model.next_due();
            test.run();
        }
        CHECK(test.in("n", "q").size() == 6);
        CHECK(test.in("n", "p").size() == before + 1);
        test.check_fold();
    }
}

TEST_CASE("S35: a link never fires and holds nothing up") {
    TestModel test;
    test.deploy(R"({"net": "n", "version": "1", "places": {"a": {"tokens": [1]}, "b": {}},
        "transitions": {"documents": {"link": {"type": "documents", "from": "a", "to": "b"}}}})");
    CHECK(test.run() == 0);
    CHECK(test.in("n", "a").size() == 1);
    test.check_fold();
}
