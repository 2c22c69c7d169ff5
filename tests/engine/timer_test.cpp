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

TEST_CASE("S35: a link never fires and holds nothing up") {
    TestModel test;
    test.deploy(R"({"net": "n", "version": "1", "places": {"a": {"tokens": [1]}, "b": {}},
        "transitions": {"documents": {"link": {"type": "documents", "from": "a", "to": "b"}}}})");
    CHECK(test.run() == 0);
    CHECK(test.in("n", "a").size() == 1);
    test.check_fold();
}
