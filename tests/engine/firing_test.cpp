#include "tests/engine/test_model.hpp"

#include <map>

TEST_CASE("a case whose last token comes late to an end place ends when it comes") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":[{"to":"o","token":"${x}","delay":"2s"}]}},
        "start":"a","end":["o"]})");
    const auto id = m.start("n", "1");
    m.run();
    CHECK(m.case_state(id) == engine::CaseState::running);
    m.now = m.now + base::seconds(2);
    m.run();
    CHECK(m.case_state(id) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("a map transition moves a token through and ends the case") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"b":{"twice":"${x.v * 2}","same":"${x}"}}}},
        "start":"a","end":["b"]})");
    const auto id = m.start("n", R"({"v":21})");
    CHECK(m.run() == 1);
    CHECK(m.in("n", "b") == std::vector<std::string>{R"({"same":{"v":21},"twice":42})"});
    CHECK(m.case_state(id) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S2: tokens of two cases never join") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"s":{},"a":{},"b":{},"o":{}},
        "transitions":{"split":{"in":{"x":"s"},"out":{"a":"${x}","b":"${x}"}},
                       "hold":{"in":{"x":"a"},"guard":"x.hold","out":{"s":"${x}"}},
                       "join":{"in":{"p":"a","q":"b"},"guard":"!p.hold","out":{"o":["${p.n}","${q.n}"]}}},
        "start":"s","end":["o"]})");
    m.start("n", R"({"n":1,"hold":false})");
    m.start("n", R"({"n":2,"hold":false})");
    m.run();
    CHECK(m.in("n", "o") == std::vector<std::string>{"[1,1]", "[2,2]"});
    m.check_fold();
}

TEST_CASE("S3 S28: a token without a case goes with any, and a shared mutex is taken in turn") {
    TestModel m;
    std::string document =
        R"({"net":"n","version":"1","places":{"mutex":{"cases":false,"tokens":[null]})";
    std::string transitions;
    for (int i = 0; i < 10; ++i) {
        const auto n = std::to_string(i);
        document += R"(,"idle)" + n + R"(":{"tokens":[{}]},"busy)" + n + R"(":{})";
        if (i != 0) transitions += ",";
        transitions += R"("enter)" + n + R"(":{"in":{"p":"idle)" + n +
                       R"(","m":"mutex"},"out":{"busy)" + n + R"(":"${p}"}},)";
        transitions += R"("leave)" + n + R"(":{"in":{"p":"busy)" + n + R"("},"out":{"idle)" + n +
                       R"(":"${p}","mutex":null}})";
    }
    m.deploy(document + R"(},"transitions":{)" + transitions + "}}");
    m.model.pump(m.now, 2000);
    m.keep();
    std::map<std::string, int> entered;
    for (const auto& t : m.model.state().transitions) {
        if (t.name.starts_with("enter")) entered[t.name] = static_cast<int>(t.fired);
    }
    CHECK(entered.size() == 10);
    for (const auto& [name, count] : entered)
        CHECK_MESSAGE(count == 100, name);
    // Between two turns of one process each other has at most one.
    std::map<std::string, std::size_t> last;
    std::size_t turn = 0;
    for (const auto& record : m.records) {
        const auto at = record.find(R"("transition":"enter)");
        if (at == std::string::npos) continue;
        const auto process = record.substr(at + 19, 1);
        if (last.contains(process)) CHECK(turn - last[process] <= 10);
        last[process] = turn++;
    }
    CHECK(turn == 1000);
    m.check_fold();
}

TEST_CASE("S11: a join on a key pairs equal keys only, oldest first") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{},"o":{}},
        "transitions":{"join":{"in":{"l":{"place":"a","key":"token.id"},"r":{"place":"b","key":"token.order"}},
        "out":{"o":["${l.n}","${r.n}"]}}}})");
    m.put("n", "a", R"({"id":"x","n":1})");
    m.put("n", "a", R"({"id":"y","n":2})");
    m.put("n", "a", R"({"id":"x","n":3})");
    CHECK(m.run() == 0);
    m.put("n", "b", R"({"order":"x","n":10})");
    m.put("n", "b", R"({"order":"z","n":11})");
    m.put("n", "b", R"({"order":"y","n":12})");
    m.put("n", "b", R"({"order":"x","n":13})");
    CHECK(m.run() == 3);
    CHECK(m.in("n", "o") == std::vector<std::string>{"[1,10]", "[2,12]", "[3,13]"});
    CHECK(m.in("n", "b") == std::vector<std::string>{R"({"n":11,"order":"z"})"});
    m.check_fold();
}

TEST_CASE("S2: with keys and a guard, too, a firing takes tokens of one case only") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{},"o":{}},
        "transitions":{"t":{"in":{"l":{"place":"a","key":"token.k"},"r":"b"},"guard":"r.go",
        "out":{"o":"${r.n}"}}},"start":"a","end":["o"]})");
    const auto one = m.start("n", R"({"k":1})");
    const auto two = m.start("n", R"({"k":2})");
    m.put("n", "b", R"({"go":false,"n":0})", one);
    m.run();
    m.put("n", "b", R"({"go":true,"n":2})", two);
    m.run();
    CHECK(m.in("n", "o") == std::vector<std::string>{"2"});
    CHECK(m.case_state(one) == engine::CaseState::running);
    CHECK(m.case_state(two) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S11: a filter takes what it describes and leaves the rest") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"big":{}},
        "transitions":{"t":{"in":{"x":{"place":"a","where":"token.v > 5"}},"out":{"big":"${x.v}"}}}})"
    );
    m.put("n", "a", R"({"v":1})");
    m.put("n", "a", R"({"v":9})");
    m.put("n", "a", R"({"w":9})");
    CHECK(m.run() == 1);
    CHECK(m.in("n", "a").size() == 2);
    m.check_fold();
}

TEST_CASE(
    "S19: a guard looks past tokens for which it does not hold, and again when a read token changes"
) {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"limit":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a","l":{"place":"limit","arc":"read"}},"guard":"x > l","out":{"o":"${x}"}}}})"
    );
    m.put("n", "limit", "5");
    for (const char* v : {"1", "7", "3", "9"})
        m.put("n", "a", v);
    CHECK(m.run() == 2);
    CHECK(m.in("n", "o") == std::vector<std::string>{"7", "9"});
    m.put("n", "limit", "2");
    CHECK(m.run() == 1);
    CHECK(m.in("n", "o") == std::vector<std::string>{"7", "9", "3"});
    CHECK(m.in("n", "limit").size() == 2);
    m.check_fold();
}

TEST_CASE("S9: a weight takes that many tokens of one case, as a list") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"s":{},"a":{},"o":{}},
        "transitions":{"spread":{"in":{"x":"s"},"out":[{"to":"a","each":"[1,2,3]","token":"${each}"}]},
                       "gather":{"in":{"xs":{"place":"a","take":3}},"out":{"o":"${xs}"}}},
        "start":"s","end":["o"]})");
    const auto one = m.start("n");
    const auto two = m.start("n");
    m.run();
    CHECK(m.in("n", "o") == std::vector<std::string>{"[1,2,3]", "[1,2,3]"});
    CHECK(m.case_state(one) == engine::CaseState::completed);
    CHECK(m.case_state(two) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S5: a full place holds its producers back until there is room, in order") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{"capacity":1},"o":{},"go":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"b":"${x}"}},
                       "u":{"in":{"x":"b","g":"go"},"out":{"o":"${x}"}}}})");
    for (const char* v : {"1", "2", "3"})
        m.put("n", "a", v);
    CHECK(m.run() == 1);
    m.put("n", "go", "0");
    CHECK(m.run() == 2);
    m.put("n", "go", "0");
    m.put("n", "go", "0");
    m.run();
    CHECK(m.in("n", "o") == std::vector<std::string>{"1", "2", "3"});
    m.check_fold();
}

TEST_CASE("S27: an expression that fails goes the fail way, and without one to the dead letters") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{},"bad":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x.missing}"},"fail":{"bad":"${error.code}"}},
                       "u":{"in":{"x":"b"},"out":{"o":"${x.missing}"}}},
        "start":"b","end":["o"]})");
    m.put("n", "a", "{}");
    const auto id = m.start("n");
    m.run();
    CHECK(m.in("n", "bad") == std::vector<std::string>{R"("validation")"});
    CHECK(m.in("", "p-dead-letter").size() == 1);
    CHECK(m.case_state(id) == engine::CaseState::failed);
    CHECK(m.model.state().dead_letters == 1);
    m.check_fold();
}

TEST_CASE("a dead letter redriven runs again, and dropped is gone") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x.v}"}}},"start":"a","end":["o"]})");
    const auto id = m.start("n");
    m.run();
    REQUIRE(m.in("", "p-dead-letter").size() == 1);
    const auto place = *m.model.state().place({"", "p-dead-letter"});
    const auto letter = m.model.state().store.token(m.model.state().store.first_in(place)).id;
    REQUIRE(engine::redrive(m.model, letter, m.asker()));
    CHECK(m.case_state(id) == engine::CaseState::running);
    m.run();
    CHECK(m.case_state(id) == engine::CaseState::failed);
    const auto again = m.model.state().store.token(m.model.state().store.first_in(place)).id;
    CHECK_FALSE(engine::drop(m.model, letter, m.asker()));
    REQUIRE(engine::drop(m.model, again, m.asker()));
    CHECK(m.in("", "p-dead-letter").empty());
    m.check_fold();
}

TEST_CASE("a hand does not reach into the places of the system") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x.v}"}}},"start":"a","end":["o"]})");
    m.start("n");
    m.run();
    const auto place = *m.model.state().place({"", "p-dead-letter"});
    const auto letter = m.model.state().store.token(m.model.state().store.first_in(place)).id;
    const auto removed = engine::remove_token(m.model, letter, m.asker());
    REQUIRE_FALSE(removed);
    CHECK(removed.error().code == base::ErrorCode::not_permitted);
    for (const char* name : {"p-dead-letter", "p-tool-catalog"}) {
        const auto put = engine::put_tokens(m.model, {"", name}, {{"{}", {}}}, m.asker());
        REQUIRE_FALSE(put);
        CHECK(put.error().code == base::ErrorCode::not_permitted);
    }
}

TEST_CASE("a dead letter that was put by hand, in days when that could be, cannot be redriven") {
    TestModel m;
    const auto seq = engine::write(m.model, {.produced = {{"p-dead-letter", "{}"}}}, m.asker());
    const base::TokenId letter{seq, 0};
    const auto again = engine::redrive(m.model, letter, m.asker());
    REQUIRE_FALSE(again);
    CHECK(again.error().code == base::ErrorCode::conflict);
    CHECK(engine::drop(m.model, letter, m.asker()));
}

TEST_CASE("nothing is put or redriven into a place that no version in force has") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{"shared":true},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x.v}"}}},"start":"a","end":["o"]})");
    m.start("n");
    m.run();
    const auto place = *m.model.state().place({"", "p-dead-letter"});
    const auto letter = m.model.state().store.token(m.model.state().store.first_in(place)).id;
    m.deploy(R"({"net":"n","version":"2","places":{"o":{}}})");
    for (const engine::PlaceName& name :
         {engine::PlaceName{"n", "a"}, engine::PlaceName{"", "b"}}) {
        const auto put = engine::put_tokens(m.model, name, {{"1", {}}}, m.asker());
        REQUIRE_FALSE(put);
        CHECK(put.error().code == base::ErrorCode::not_found);
    }
    const auto again = engine::redrive(m.model, letter, m.asker());
    REQUIRE_FALSE(again);
    CHECK(again.error().code == base::ErrorCode::conflict);
    CHECK(m.in("n", "a").empty());
}

TEST_CASE("a case whose redriven tokens lie on what is an end place by now is over") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x.v}"}}},"start":"a","end":["o"]})");
    const auto id = m.start("n");
    m.run();
    const auto place = *m.model.state().place({"", "p-dead-letter"});
    const auto letter = m.model.state().store.token(m.model.state().store.first_in(place)).id;
    m.deploy(R"({"net":"n","version":"2","places":{"a":{},"o":{}},"start":"o","end":["a"]})");
    REQUIRE(engine::redrive(m.model, letter, m.asker()));
    CHECK(m.case_state(id) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S6: a delayed token waits for its time and keeps its case open") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":[{"to":"b","token":"${x}","delay":"10s"}]},
                       "u":{"in":{"x":"b"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})");
    const auto id = m.start("n");
    CHECK(m.run() == 1);
    CHECK(m.case_state(id) == engine::CaseState::running);
    CHECK(m.model.next_due() == m.now + base::seconds(10));
    m.now = m.now + base::seconds(10);
    CHECK(m.run() == 1);
    CHECK(m.case_state(id) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("a timer fires every interval and does not make up for turns nobody saw") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"o":{}},
        "transitions":{"tick":{"every":"10s","out":{"o":"tick"}}}})");
    m.now = m.now + base::seconds(10);
    m.run();
    CHECK(m.in("n", "o").size() == 1);
    m.now = m.now + base::seconds(35);
    m.run();
    CHECK(m.in("n", "o").size() == 1);
    m.now = m.now + base::seconds(5);
    m.run();
    CHECK(m.in("n", "o").size() == 2);
    m.check_fold();
}

TEST_CASE("cancelling a case takes its tokens and leaves those of others") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"go":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a","g":"go"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})"
    );
    const auto one = m.start("n", R"({"n":1})");
    const auto two = m.start("n", R"({"n":2})");
    m.run();
    REQUIRE(engine::cancel_case(m.model, one, m.asker()));
    CHECK_FALSE(engine::cancel_case(m.model, one, m.asker()));
    m.put("n", "go", "1");
    m.run();
    CHECK(m.in("n", "o") == std::vector<std::string>{R"({"n":2})"});
    CHECK(m.case_state(one) == engine::CaseState::cancelled);
    CHECK(m.case_state(two) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE(
    "a new version takes over the places of the same name; one that would lose tokens is refused"
) {
    TestModel m;
    const auto document = [](const char* version, const char* places, const char* from) {
        return std::string(R"({"net":"n","version":")") + version + R"(","places":{)" + places +
               R"(,"o":{}},"transitions":{"t":{"in":{"x":")" + from +
               R"("},"guard":"x > 100","out":{"o":"${x}"}}}})";
    };
    m.deploy(document("1", R"("a":{"tokens":[1]})", "a"));
    CHECK(
        m.try_deploy(document("1", R"("a":{"tokens":[2]})", "a")).error().code ==
        base::ErrorCode::conflict
    );
    CHECK_FALSE(m.try_deploy(document("1", R"("a":{"tokens":[1]})", "a"))->changed);
    const auto lost = m.try_deploy(document("2", R"("b":{})", "b"));
    REQUIRE_FALSE(lost);
    CHECK(lost.error().details.front().pointer == "/places/a");
    m.deploy(document("3", R"("a":{"tokens":[7]})", "a"));
    CHECK(m.in("n", "a") == std::vector<std::string>{"1"});
    CHECK_FALSE(engine::undeploy(m.model, "n", m.asker()));
    m.check_fold();
}

TEST_CASE("a request asked twice under one key is answered once") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})");
    auto asker = m.asker();
    asker.request_key = "k\"1";
    asker.request_digest = base::sha256("body");
    CHECK_FALSE(engine::answered(m.model, asker)->has_value());
    const auto seq = engine::start_case(m.model, "n", "{}", asker);
    CHECK(engine::answered(m.model, asker).value().value() == *seq);
    asker.request_digest = base::sha256("another");
    CHECK(engine::answered(m.model, asker).error().code == base::ErrorCode::conflict);
    m.check_fold();
}
