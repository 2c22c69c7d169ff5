// The general synchronizing merge: an or-join fires when no further token of its case can arrive.
#include "tests/engine/small_net.hpp"

namespace {

// An or-split into three branches, of which `b` is a call, and the join behind.
std::string split_and_join() {
    return net(
        R"("a":{},"b":{},"c":{},"a1":{},"b1":{},"c1":{})",
        R"("split":{"in":{"x":"s"},"out":[{"to":"a","when":"'a' in x","token":"a"},
               {"to":"b","when":"'b' in x","token":"b"},{"to":"c","when":"'c' in x","token":"c","delay":"5s"}]},
           "A":{"in":{"x":"a"},"out":{"a1":"${x}"}},
           "B":{"in":{"x":"b"},"call":{"toolId":"tool","args":{}},"out":{"b1":"${x}"},"retry":{"attempts":2,"backoff":"10s"}},
           "C":{"in":{"x":"c"},"out":{"c1":"${x}"}},
           "join":{"in":{"x":"a1","y":"b1","z":"c1"},"join":"or","out":{"o":["${x}","${y}","${z}"]}})"
    );
}

// The only call that is prepared; it may run twice.
base::OperationId invoke_pure(TestModel& m) {
    for (const auto& asked : m.effects<engine::Prepare>()) {
        engine::prepared(m.model, asked.claim, engine::Prepared{"{}", "pure", "t", "v"}, m.asker());
    }
    m.run();
    const auto performed = m.effects<engine::Perform>();
    REQUIRE(performed.size() == 1);
    return performed[0].operation;
}

std::vector<engine::Scheduler::Held> held(const TestModel& m) {
    return m.model.scheduler().held(*m.model.state().find_transition("n", "join"), 9);
}

}  // namespace

TEST_CASE("S21: an or-join takes what the chosen branches bring, once, whatever was chosen") {
    TestModel m;
    m.deploy(split_and_join());
    m.start("n", R"(["a"])");
    CHECK(m.run() == 3);
    CHECK(m.in("n", "o") == Tokens{R"(["a",null,null])"});
    const auto both = m.start("n", R"(["a","c"])");
    m.run();
    CHECK(m.in("n", "o").size() == 1);
    REQUIRE(held(m).size() == 1);
    CHECK(held(m)[0].why.reason == engine::Unbound::Reason::arriving);
    CHECK(m.model.state().store.place(held(m)[0].why.place).name == "c1");
    m.now = m.now + base::seconds(5);
    m.run();
    CHECK(m.in("n", "o").back() == R"(["a",null,"c"])");
    CHECK(m.case_state(both) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S23: a running firing and its retry can still bring a token; a failed one cannot") {
    TestModel m;
    m.deploy(split_and_join());
    m.start("n", R"(["a","b"])");
    m.start("n", R"(["a"])");
    m.run();
    CHECK(m.in("n", "o") == Tokens{R"(["a",null,null])"});  // the case beside it does not wait
    const auto operation = invoke_pure(m);
    CHECK(m.in("n", "o").size() == 1);
    const auto fails = [&](std::uint32_t attempt) {
        engine::settle(
            m.model,
            {.operation = operation,
             .attempt = attempt,
             .kind = engine::Outcome::Kind::error,
             .error = {base::ErrorCode::upstream, "no", {}, {}}},
            m.asker()
        );
        m.run();
    };
    fails(1);
    CHECK(m.in("n", "o").size() == 1);
    m.now = m.now + base::seconds(10);
    m.run();
    fails(2);
    CHECK(m.in("n", "o").size() == 2);  // to the dead letters: nothing will come
    m.check_fold();
}

TEST_CASE("S22: an or-join fires at once when all its arcs are served") {
    TestModel m;
    m.deploy(
        net(R"("a":{},"b":{},"more":{})",
            R"("split":{"in":{"x":"s"},"out":{"a":1,"b":2,"more":3}},
           "again":{"in":{"x":{"place":"more","age":"1h"}},"out":{"a":4}},
           "join":{"in":{"x":"a","y":"b"},"join":"or","out":{"o":["${x}","${y}"]}})")
    );
    m.start("n");
    m.run();
    CHECK(m.in("n", "o") == Tokens{"[1,2]"});
    m.now = m.now + base::seconds(3600);
    m.run();
    CHECK(m.in("n", "o") == Tokens{"[1,2]", "[4,null]"});
    m.check_fold();
}

TEST_CASE("S22: an or-join does not fire early in a loop") {
    TestModel m;
    // Two threads; one turns in a loop before it comes to the join.
    m.deploy(
        net(R"("l":{},"turn":{},"a":{},"b":{})",
            R"("split":{"in":{"x":"s"},"out":{"l":"${x}","a":"first"}},
           "again":{"in":{"x":"l"},"guard":"x < 3","out":[{"to":"turn","token":"${x + 1}","delay":"1s"}]},
           "back":{"in":{"x":"turn"},"out":{"l":"${x}"}},
           "leave":{"in":{"x":"l"},"guard":"x == 3","out":{"b":"${x}"}},
           "join":{"in":{"x":"a","y":"b"},"join":"or","out":{"o":["${x}","${y}"]}})")
    );
    const auto one = m.start("n", "0");
    m.start("n", "3");
    for (int turn = 0; turn < 3; ++turn) {
        m.run();
        CHECK(m.in("n", "o") == Tokens{R"(["first",3])"});
        m.now = m.now + base::seconds(1);
    }
    m.run();
    CHECK(m.in("n", "o") == Tokens{R"(["first",3])", R"(["first",3])"});
    CHECK(m.case_state(one) == engine::CaseState::completed);
    m.check_fold();
}

TEST_CASE("S22: an or-join sees that a token can go one way only, and that a reset ends the wait") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"b":{},"c":{},"k":{})",
        R"("split":{"in":{"x":"s"},"out":[{"to":"a","token":1},{"to":"c","token":2},{"to":"k","token":3,"delay":"9s"}]},
           "late":{"in":{"x":{"place":"c","age":"20s"}},"out":{"b":"${x}"}},
           "cancel":{"in":{"x":"k","all":{"place":"c","arc":"reset"}},"out":[]},
           "join":{"in":{"x":"a","y":"b"},"join":"or","out":{"o":["${x}","${y}"]}})"
    ));
    m.start("n");
    m.run();
    CHECK(m.in("n", "o").empty());
    m.now = m.now + base::seconds(9);
    m.run();
    CHECK(m.in("n", "o") == Tokens{"[1,null]"});
    m.check_fold();

    // One token for two transitions that compete: the join holds `a`, so it cannot come to `b`.
    TestModel choice;
    choice.deploy(
        net(R"("a":{},"b":{})",
            R"("to-a":{"in":{"x":"s"},"out":{"a":1}},
           "move":{"in":{"x":{"place":"a","age":"1h"}},"out":{"b":1}},
           "join":{"in":{"x":"a","y":"b"},"join":"or","out":{"o":["${x}","${y}"]}})")
    );
    choice.start("n");
    choice.run();
    CHECK(choice.in("n", "o") == Tokens{"[1,null]"});
}

TEST_CASE("S22: an or-join that takes all of a place waits for all that may come there") {
    TestModel m;
    m.deploy(
        net(R"("b":{},"m":{})",
            R"("split":{"in":{"x":"s"},"out":[{"to":"b","each":"x"}]},
           "work":{"in":{"x":"b"},"call":{"toolId":"tool","args":{}},"out":{"m":"${x}"},"concurrency":1},
           "join":{"in":{"all":{"place":"m","take":"all"}},"join":"or","out":{"o":"${all}"}})")
    );
    m.start("n", "[1,2,3]");
    for (int i = 0; i < 3; ++i) {
        m.run();
        CHECK(m.in("n", "o").empty());
        engine::settle(
            m.model, {.operation = invoke_pure(m), .result = "{}", .meta = "{}"}, m.asker()
        );
    }
    m.run();
    CHECK(m.in("n", "o") == Tokens{"[1,2,3]"});
    m.check_fold();
}

TEST_CASE("S25: what cannot be decided within the limit waits and says so") {
    TestModel m;
    // `last` wants three tokens on each of twelve places, and each can come in two ways.
    std::string places = R"("a":{},"b":{},"seed":{})";
    std::string transitions =
        R"("split":{"in":{"x":"s"},"out":{"a":1,"seed":1}},
           "join":{"in":{"x":"a","y":"b"},"join":"or","out":{"o":1}})";
    std::string wanted;
    const auto transition = [&](const std::string& name, const std::string& from, const char* out) {
        transitions +=
            ",\"" + name + R"(":{"guard":"false","in":{"x":")" + from + R"("},"out":)" + out + "}";
    };
    for (int i = 0; i < 12; ++i) {
        const auto n = std::to_string(i);
        places += ",\"p" + n + "\":{},\"q" + n + "\":{},\"r" + n + "\":{}";
        const auto to_p = R"({"p)" + n + R"(":1})";
        const auto fill = R"({"q)" + n + R"(":1,"r)" + n + R"(":1,"seed":1})";
        transition("q" + n, "q" + n, to_p.c_str());
        transition("r" + n, "r" + n, to_p.c_str());
        transition("fill" + n, "seed", fill.c_str());
        wanted += (i == 0 ? "\"x" : ",\"x") + n + R"(":{"place":"p)" + n + R"(","take":3})";
    }
    const auto last = R"(,"last":{"in":{)" + wanted + R"(},"out":{"b":1}})";
    m.deploy(net(places.c_str(), (transitions + last).c_str()));
    m.start("n");
    m.run();
    CHECK(m.in("n", "o").empty());
    REQUIRE(held(m).size() == 1);
    CHECK(held(m)[0].why.reason == engine::Unbound::Reason::undecided);
}

TEST_CASE("S23: a delayed token that turns out not to be for the join ends the wait for it") {
    TestModel m;
    m.deploy(net(
        R"("a":{},"b":{})",
        R"("split":{"in":{"x":"s"},"out":[{"to":"a","token":1},{"to":"b","token":{"for":"others"},"delay":"5s"}]},
           "join":{"in":{"x":"a","y":{"place":"b","where":"token.for == 'us'"}},"join":"or","out":{"o":"${x}"}})"
    ));
    m.start("n");
    m.run();
    CHECK(m.in("n", "o").empty());
    m.now = m.now + base::seconds(5);
    m.run();
    CHECK(m.in("n", "o") == Tokens{"1"});
    m.check_fold();
}

TEST_CASE("S24: two or-joins that wait for each other wait, and say for what") {
    TestModel m;
    m.deploy(
        net(R"("a":{},"b":{},"c":{},"d":{})",
            R"("split":{"in":{"x":"s"},"out":{"a":1,"b":2}},
           "join":{"in":{"x":"a","y":"d"},"join":"or","out":{"c":1}},
           "twin":{"in":{"x":"b","y":"c"},"join":"or","out":{"d":1,"o":1}})")
    );
    m.start("n");
    CHECK(m.run() == 1);
    REQUIRE(held(m).size() == 1);
    CHECK(m.model.state().store.place(held(m)[0].why.place).name == "d");
}
