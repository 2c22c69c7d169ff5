// What the kinds of arcs, weights, orders and ages mean; each with a second case beside the first.
#include "tests/engine/small_net.hpp"

TEST_CASE("S9: a weight taken from another token waits for that many of the case, also for none") {
    TestModel m;
    m.deploy(net(
        R"("plan":{},"b":{})",
        R"("split":{"in":{"x":"s"},"out":[{"to":"plan","token":{"n":"${size(x)}"}},{"to":"b","each":"x"}]},
           "join":{"in":{"p":"plan","all":{"place":"b","take":"${p.n}"}},"out":{"o":"${all}"}})"
    ));
    m.start("n", "[1,2]");
    m.start("n", "[]");
    m.start("n", "[7,8,9,10,11,12,13]");
    m.run();
    CHECK(m.in("n", "o") == Tokens{"[1,2]", "[]", "[7,8,9,10,11,12,13]"});
    m.check_fold();
}

TEST_CASE("S9: a weight looks past a token that wants too many, and counts whole doubles") {
    TestModel m;
    m.deploy(
        net(R"("plan":{},"b":{})",
            R"("join":{"in":{"p":"plan","bs":{"place":"b","take":"${p.n}"}},"out":{"o":"${bs}"}})")
    );
    m.put("n", "plan", R"({"n":5})");
    for (const char* b : {"1", "2", "3"})
        m.put("n", "b", b);
    CHECK(m.run() == 0);
    CHECK(m.model.scheduler().held(0, 9).at(0).why.needs == 5);
    CHECK(m.model.scheduler().held(0, 9).at(0).why.has == 3);
    m.put("n", "plan", R"({"n":-1})");
    m.put("n", "plan", R"({"m":1})");
    m.put("n", "plan", R"({"n":1.5})");
    CHECK(m.run() == 0);
    m.put("n", "plan", R"({"n":2.0})");
    CHECK(m.run() == 1);
    CHECK(m.in("n", "o") == Tokens{"[1,2]"});
    for (const char* b : {"4", "5", "6", "7"})
        m.put("n", "b", b);
    CHECK(m.run() == 1);
    CHECK(m.in("n", "o") == Tokens{"[1,2]", "[3,4,5,6,7]"});
    m.check_fold();
}

TEST_CASE("S10: all takes every token of the case, at least one; any takes none as well") {
    TestModel m;
    m.deploy(net(
        R"("go":{},"a":{},"b":{})",
        R"("spread":{"in":{"x":"s"},"out":[{"to":"a","each":"x.a"},{"to":"b","each":"x.b"},{"to":"go","token":1}]},
           "join":{"in":{"g":"go","xs":{"place":"a","take":"all"},"bs":{"place":"b","take":"any"}},
                   "out":{"o":{"a":"${xs}","b":"${bs}"}}})"
    ));
    m.start("n", R"({"a":[1,2,3],"b":[]})");
    const auto waits = m.start("n", R"({"a":[],"b":[4]})");
    m.run();
    CHECK(m.in("n", "o") == Tokens{R"({"a":[1,2,3],"b":[]})"});
    CHECK(m.case_state(waits) == engine::CaseState::running);
    m.put("n", "a", "9", waits);
    m.run();
    CHECK(m.in("n", "o").back() == R"({"a":[9],"b":[4]})");
    m.check_fold();
}

TEST_CASE("S10: a range takes what is there between its ends") {
    TestModel m;
    m.deploy(net(
        R"("a":{})", R"("t":{"in":{"x":{"place":"a","take":{"min":2,"max":3}}},"out":{"o":"${x}"}})"
    ));
    m.put("n", "a", "1");
    CHECK(m.run() == 0);
    for (const char* v : {"2", "3", "4", "5", "6"})
        m.put("n", "a", v);
    m.run();
    CHECK(m.in("n", "o") == Tokens{"[1,2,3]", "[4,5,6]"});
    m.put("n", "a", "7");
    CHECK(m.run() == 0);
    m.check_fold();
}

TEST_CASE("S7: two arcs of one place take two tokens, whichever way they fit") {
    TestModel m;
    m.deploy(net(
        R"("a":{})",
        R"("t":{"in":{"x":"a","y":{"place":"a","where":"token.k"}},"out":{"o":["${x.n}","${y.n}"]}})"
    ));
    m.put("n", "a", R"({"k":true,"n":1})");
    CHECK(m.run() == 0);
    m.put("n", "a", R"({"k":false,"n":2})");
    CHECK(m.run() == 1);
    CHECK(m.in("n", "o") == Tokens{"[2,1]"});
    m.check_fold();
}

TEST_CASE("S14: an inhibit arc holds its case back while the place holds tokens of it") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"stop":{})",
        R"("begin":{"in":{"x":"s"},"out":[{"to":"a","token":"${x}"},{"to":"stop","when":"x.stop","token":1}]},
           "t":{"in":{"x":"a","no":{"place":"stop","arc":"inhibit"}},"out":{"o":"${x.n}"}},
           "free":{"in":{"x":{"place":"stop","age":"10s"}},"out":{"o":"freed"}})"
    ));
    m.start("n", R"({"stop":true,"n":1})");
    m.start("n", R"({"stop":false,"n":2})");
    m.run();
    CHECK(m.in("n", "o") == Tokens{"2"});
    const auto t = *m.model.state().find_transition("n", "t");
    const auto held = m.model.scheduler().held(t, 9);
    REQUIRE(held.size() == 1);
    CHECK(held[0].why.reason == engine::Unbound::Reason::inhibited);
    CHECK(held[0].why.has == 1);
    m.now = m.now + base::seconds(10);
    m.run();
    CHECK(m.in("n", "o") == Tokens{"2", R"("freed")", "1"});
    m.check_fold();
}

TEST_CASE("S4: an arc that takes any case looks past a case that is inhibited") {
    TestModel m;
    m.deploy(net(
        R"("stop":{})",
        R"("t":{"in":{"x":{"place":"s","anyCase":true},"no":{"place":"stop","arc":"inhibit"}},"out":{"o":"${x}"}},
           "u":{"in":{"x":"stop","y":"o"},"guard":"x > 5","out":[]})"
    ));
    const auto held = m.start("n", "1");
    m.put("n", "stop", "0", held);
    const auto free = m.start("n", "2");
    m.run();
    CHECK(m.in("n", "o") == Tokens{"2"});
    CHECK(m.case_state(free) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S14: an inhibit arc of any case lets all cases go when the last token leaves") {
    TestModel m;
    m.deploy(net(
        R"("stop":{},"go":{})",
        R"("t":{"in":{"x":"s","no":{"place":"stop","arc":"inhibit","anyCase":true}},"out":{"o":"${x}"}},
           "u":{"in":{"x":"stop","y":"go"},"out":[]})"
    ));
    const auto other = m.start("n", "1");
    m.start("n", "2");
    m.put("n", "stop", "0", other);
    CHECK(m.run() == 0);
    m.put("n", "go", "0", other);
    m.run();
    CHECK(m.in("n", "o").size() == 2);
    m.check_fold();
}

TEST_CASE(
    "S14: an inhibit arc sees reserved tokens, tokens without a case, and counts to its weight"
) {
    TestModel m;
    m.deploy(
        net(R"("a":{},"w":{})",
            R"("work":{"in":{"x":"w"},"call":{"toolId":"tool","args":{}},"out":[]},
           "t":{"in":{"x":"a","no":{"place":"w","arc":"inhibit","take":2}},"out":{"o":"${x}"}})")
    );
    m.put("n", "w", "1");
    m.put("n", "w", "2");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 2);
    m.put("n", "a", "1");
    CHECK(m.run() == 0);
    answer(m, begun[0]);
    CHECK(m.in("n", "o") == Tokens{"1"});
    m.check_fold();
}

TEST_CASE("S20: what came while a call was prepared and inhibits it, keeps it from being invoked") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"stop":{},"gone":{})",
        R"("t":{"in":{"x":"a","no":{"place":"stop","arc":"inhibit"}},"call":{"toolId":"tool","args":{}},"out":{"o":"${result.w}"}},
           "open":{"in":{"x":"stop","g":"gone"},"out":[]})"
    ));
    m.put("n", "a", "1");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    m.put("n", "stop", "1");
    engine::prepared(m.model, asked[0].claim, prepared_call(), m.asker());
    m.run();
    CHECK(m.effects<engine::Perform>().empty());
    CHECK(m.effects<engine::Prepare>().empty());
    m.put("n", "gone", "1");
    const auto begun = invoke(m);
    CHECK(begun.size() == 1);
    m.check_fold();
}

TEST_CASE("S17: a reset arc empties its place of the case, and what the firing puts there survives"
) {
    TestModel m;
    m.deploy(
        net(R"("a":{},"go":{})",
            R"("spread":{"in":{"x":"s"},"out":[{"to":"a","each":"x"}]},
           "t":{"in":{"g":"go","all":{"place":"a","arc":"reset"}},"out":{"a":"new","o":1}})")
    );
    const auto one = m.start("n", "[1,2,3]");
    m.start("n", "[4,5]");
    m.run();
    m.put("n", "go", "1", one);
    m.run();
    CHECK(m.in("n", "a") == Tokens{"4", "5", R"("new")"});
    m.keep();
    CHECK(m.records.back().contains(R"("reset":["t)"));
    m.check_fold();
}

TEST_CASE("S15: a reset arc takes delayed tokens too, and only those of its filter and key") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"go":{})",
        R"("spread":{"in":{"x":"s"},"out":[{"to":"a","each":"x","delay":"1h"}]},
           "t":{"in":{"g":{"place":"go","key":"token.k"},"all":{"place":"a","arc":"reset","key":"token.k","where":"token.n < 5"}},"out":{"o":1}})"
    ));
    const auto one = m.start("n", R"([{"k":1,"n":1},{"k":1,"n":7},{"k":2,"n":1}])");
    m.run();
    m.put("n", "go", R"({"k":1})", one);
    m.run();
    CHECK(m.in("n", "a") == Tokens{R"({"k":1,"n":7})", R"({"k":2,"n":1})"});
    m.now = m.now + base::seconds(3600);
    m.run();
    m.check_fold();
}

TEST_CASE("S16: a reset arc cancels the firings that hold tokens of its place, down to what runs") {
    TestModel m;
    m.deploy(net(
        R"("ready":{},"other":{},"stop":{})",
        R"("begin":{"in":{"x":"s"},"out":{"ready":1,"other":2}},
           "work":{"in":{"x":"ready","y":"other"},"call":{"toolId":"tool","args":{}},"out":{"o":"${result.w}"}},
           "cancel":{"in":{"x":"stop","all":{"place":"ready","arc":"reset"}},"out":{"o":"stopped"}})"
    ));
    const auto one = m.start("n");
    const auto two = m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 2);
    m.put("n", "stop", "1", one);
    m.run();
    const auto cancelled = m.effects<engine::Cancel>();
    REQUIRE(cancelled.size() == 1);
    CHECK(cancelled[0].operation == begun[0]);
    CHECK(m.model.state().find_operation(begun[0]) == nullptr);
    CHECK(m.model.state().find_case(one)->finished.back().state == "cancelled");
    CHECK(m.in("n", "other").size() == 2);  // freed, not lost
    CHECK(answer(m, begun[0]) == engine::Settled::late);
    m.keep();
    CHECK(m.records.back().contains("operation.late_result"));
    CHECK(m.in("n", "o") == Tokens{R"("stopped")"});
    CHECK(answer(m, begun[1]) == engine::Settled::applied);
    CHECK(m.case_state(two) == engine::CaseState::completed);
    CHECK(m.case_state(one) == engine::CaseState::running);
    m.check_fold();
}

TEST_CASE("S16: a reset drops what is only being prepared, and a case with nothing left ends") {
    TestModel m;
    m.deploy(net(
        R"("ready":{},"stop":{})",
        R"("begin":{"in":{"x":"s"},"out":{"ready":1}},
           "work":{"in":{"x":"ready"},"call":{"toolId":"tool","args":{}},"out":{"o":"${result.w}"}},
           "cancel":{"in":{"x":"stop","all":{"place":"ready","arc":"reset"}},"out":{"o":"stopped"}})"
    ));
    const auto one = m.start("n");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    m.put("n", "stop", "1", one);
    m.run();
    CHECK(m.model.claims().empty());
    CHECK(m.case_state(one) == engine::CaseState::completed);
    engine::prepared(m.model, asked[0].claim, prepared_call(), m.asker());
    CHECK(m.effects<engine::Perform>().empty());
    m.check_fold();
}

TEST_CASE("S18: a call resets when it finalizes, and a firing that fails resets nothing") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"go":{},"bad":{})",
        R"("t":{"in":{"g":"go","all":{"place":"a","arc":"reset"}},"call":{"toolId":"tool","args":{}},
                "out":{"o":"${result.w}"},"fail":{"bad":1}})"
    ));
    m.put("n", "go", "1");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    m.put("n", "a", "came during the call");
    CHECK(m.in("n", "a").size() == 1);
    CHECK(answer(m, begun[0]) == engine::Settled::applied);
    CHECK(m.in("n", "a").empty());
    m.put("n", "a", "stays");
    m.put("n", "go", "1");
    const auto again = invoke(m);
    engine::settle(
        m.model,
        {.operation = again.at(0),
         .kind = engine::Outcome::Kind::error,
         .error = {base::ErrorCode::upstream, "no", {}, {}}},
        m.asker()
    );
    CHECK(m.in("n", "a").size() == 1);
    CHECK(m.in("n", "bad").size() == 1);
    m.check_fold();
}

TEST_CASE("S15: a token without a case that another case's firing holds is not reset") {
    TestModel m;
    m.deploy(net(
        R"("mutex":{"cases":false,"tokens":[1]},"go":{},"stop":{})",
        R"("work":{"in":{"x":"s","m":"mutex"},"call":{"toolId":"tool","args":{}},"out":{"o":"${result.w}","mutex":1}},
           "cancel":{"in":{"x":"stop","all":{"place":"mutex","arc":"reset"}},"out":{"o":"stopped"}})"
    ));
    m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    const auto two = m.start("n");
    m.put("n", "stop", "1", two);
    m.run();
    CHECK(m.in("n", "mutex").size() == 1);
    CHECK(answer(m, begun[0]) == engine::Settled::applied);
    m.check_fold();
}

TEST_CASE("S12: lifo takes the newest first, an order expression the lowest, equals by age") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"b":{},"go":{},"p":{})",
        R"("last":{"in":{"g":{"place":"go","where":"token == 'a'"},"x":{"place":"a","order":"lifo"}},"out":{"o":"${x}"}},
           "low":{"in":{"g":{"place":"go","where":"token == 'b'"},"x":{"place":"b","order":"token.r"}},"out":{"p":"${x.n}"}})"
    ));
    for (const char* v : {"1", "2", "3"})
        m.put("n", "a", v);
    for (const char* v :
         {R"({"r":2,"n":1})",
          R"({"r":"text","n":2})",
          R"({"r":-1.5,"n":3})",
          R"({"r":2.0,"n":4})",
          R"({"n":5})",
          R"({"r":10,"n":6})"})
        m.put("n", "b", v);
    for (int i = 0; i < 3; ++i)
        m.put("n", "go", R"("a")");
    for (int i = 0; i < 9; ++i)
        m.put("n", "go", R"("b")");
    m.run();
    CHECK(m.in("n", "o") == Tokens{"3", "2", "1"});
    CHECK(m.in("n", "p") == Tokens{"3", "1", "4", "6", "2"});
    CHECK(m.in("n", "b") == Tokens{R"({"n":5})"});
    m.check_fold();
}

TEST_CASE("S12: an order holds over several tokens, and with a guard that looks past some") {
    TestModel m;
    m.deploy(net(
        R"("a":{})",
        R"("t":{"in":{"x":{"place":"a","order":"-token"}},"guard":"x % 2 == 0","out":{"o":"${x}"}},
           "u":{"in":{"x":{"place":"a","order":"lifo","take":2,"where":"token > 100"}},"out":{"o":"${x}"}})"
    ));
    for (const char* v : {"2", "7", "8", "4", "5"})
        m.put("n", "a", v);
    m.run();
    CHECK(m.in("n", "o") == Tokens{"8", "4", "2"});
    for (const char* v : {"101", "103"})
        m.put("n", "a", v);
    m.run();
    CHECK(m.in("n", "o").back() == "[103,101]");
    m.check_fold();
}

TEST_CASE("S13: a token counts for an arc with an age only when it has been there so long") {
    TestModel m;
    m.deploy(
        net(R"("a":{})",
            R"("late":{"in":{"x":{"place":"a","age":"10s","take":"all"}},"out":{"o":"${x}"}})")
    );
    m.put("n", "a", "1");
    m.now = m.now + base::seconds(4);
    m.put("n", "a", "2");
    CHECK(m.run() == 0);
    CHECK(m.model.scheduler().held(0, 9).empty());
    CHECK(m.model.next_due() == m.now + base::seconds(6));
    m.now = m.now + base::seconds(6);
    CHECK(m.run() == 1);
    CHECK(m.in("n", "o") == Tokens{"[1]"});
    CHECK(m.model.next_due() == m.now + base::seconds(4));
    m.now = m.now + base::seconds(4);
    CHECK(m.run() == 1);
    CHECK(m.in("n", "o") == Tokens{"[1]", "[2]"});
    CHECK_FALSE(m.model.next_due().has_value());
    m.check_fold();
}

TEST_CASE("S13: a deadline fires for what nobody took in time, and a restart keeps the clock") {
    TestModel m;
    m.deploy(
        net(R"("a":{},"go":{})",
            R"("late":{"in":{"x":{"place":"a","age":"10s"}},"out":{"o":"late"}},
           "take":{"in":{"x":"a","g":"go"},"out":{"o":"in time"}})")
    );
    m.put("n", "a", "1");
    m.put("n", "a", "2");
    m.put("n", "go", "1");
    m.run();
    m.now = m.now + base::seconds(5);
    engine::Model again("m");
    for (const auto& record : m.records)
        REQUIRE(again.replay(record));
    again.take_over(2);
    again.go_live(m.now);
    CHECK(again.next_due() == m.now + base::seconds(5));
    CHECK(again.pump(m.now + base::seconds(5), 100) == 1);
    m.now = m.now + base::seconds(5);
    m.run();
    CHECK(m.in("n", "o") == Tokens{R"("in time")", R"("late")"});
    m.check_fold();
}
