// Operations whose answer waits for room.
#include "tests/engine/small_net.hpp"

namespace {

// 'many' makes as many tokens as its answer says, for a place that holds three.
constexpr const char* many =
    R"("many":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
        "out":[{"to":"p","each":"result","token":"${each}"}],"fail":{"bad":"${error.code}"}},
       "eat":{"in":{"x":"p","go":"go"},"out":{"o":1}})";

std::string burst(const char* more = "") {
    return net(
        R"("p":{"capacity":3},"bad":{},"go":{},"q":{},"halt":{})",
        (std::string(many) + more).c_str()
    );
}

engine::Settled answer_with(TestModel& m, base::OperationId operation, const char* result) {
    const auto settled = engine::settle(
        m.model, {.operation = operation, .result = result, .meta = "{}"}, m.asker()
    );
    m.run();
    return settled;
}

const engine::Operation& operation(const TestModel& m, base::OperationId id) {
    const auto* found = m.model.state().find_operation(id);
    REQUIRE(found != nullptr);
    return *found;
}

std::string waits_in(const TestModel& m, base::OperationId id) {
    const auto place = engine::waits_for_room(m.model, operation(m, id));
    return place ? m.model.state().store.place(*place).name : "";
}

/// Lets one token leave.
void eat(TestModel& m) {
    m.put("n", "go", "1");
    m.run();
}

/// The first two of three that may come have come; the second operation waits.
struct Waiting : TestModel {
    base::CaseId first;
    base::CaseId second;
    base::OperationId waiting;

    explicit Waiting(const char* more = "") {
        deploy(burst(more));
        first = start("n");
        second = start("n");
        const auto begun = invoke(*this);
        REQUIRE(begun.size() == 2);
        answer_with(*this, begun[0], "[1,2]");
        answer_with(*this, begun[1], "[3,4]");
        waiting = begun[1];
    }
};

}  // namespace

TEST_CASE("S5: an answer that has no room waits as returned, and is not asked for again") {
    Waiting m;
    CHECK(m.in("n", "p") == Tokens{"1", "2"});
    CHECK(operation(m, m.waiting).state == engine::OperationState::returned);
    CHECK(waits_in(m, m.waiting) == "p");
    CHECK(m.case_state(m.second) == engine::CaseState::running);
    CHECK(m.model.state().transitions[operation(m, m.waiting).transition].in_flight == 1);
    m.check_fold();
    // The same answer again is late: it was taken.
    CHECK(answer_with(m, m.waiting, "[9]") == engine::Settled::late);
    eat(m);
    CHECK(m.in("n", "p") == Tokens{"2", "3", "4"});
    CHECK(m.model.state().operations.empty());
    CHECK(m.effects<engine::Perform>().empty());
    m.check_fold();
}

TEST_CASE("S5: an answer waits on after a restart, and is finalized as soon as there is room") {
    Waiting m;
    m.check_snapshot();
    {
        Reopened later(m);
        later.model.pump(m.now, 100);
        CHECK(later.model.state().operations.size() == 1);
        CHECK(later.model.take_effects().empty());
        REQUIRE(engine::put_tokens(later.model, {"n", "go"}, {{"1", {}}}, m.asker()));
        later.model.pump(m.now, 100);
        CHECK(later.model.state().operations.empty());
    }
    // The room came with the last record before the crash.
    const auto slot = m.model.state().store.first_in(*m.model.state().place({"n", "p"}));
    REQUIRE(engine::remove_token(m.model, m.model.state().store.token(slot).id, m.asker()));
    Reopened later(m);
    later.model.pump(m.now, 100);
    CHECK(later.model.state().operations.empty());
    CHECK(later.model.take_effects().empty());
}

TEST_CASE("S5: an answer that waits gets room before a new firing and before what is put") {
    Waiting m(R"(,"new":{"in":{"x":"q"},"out":{"p":9}})");
    // There is room for one, but it waits for two.
    CHECK_FALSE(engine::put_tokens(m.model, {"n", "p"}, {{"8", {}}}, m.asker()).has_value());
    m.put("n", "q", "1");
    CHECK(m.run() == 0);
    eat(m);
    CHECK(m.in("n", "p") == Tokens{"2", "3", "4"});
    eat(m);
    CHECK(m.in("n", "p") == Tokens{"3", "4", "9"});
    m.check_fold();
}

TEST_CASE("S5: of answers that wait for the same place the oldest goes first") {
    TestModel m;
    m.deploy(burst());
    for (int i = 0; i < 3; ++i)
        m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 3);
    answer_with(m, begun[2], "[1,2]");
    answer_with(m, begun[0], "[3,4,5]");
    // One more would fit, but an older one waits for room.
    answer_with(m, begun[1], "[6]");
    CHECK(m.in("n", "p") == Tokens{"1", "2"});
    eat(m);
    CHECK(m.in("n", "p") == Tokens{"2"});
    eat(m);
    CHECK(m.in("n", "p") == Tokens{"3", "4", "5"});
    eat(m);
    CHECK(m.in("n", "p") == Tokens{"4", "5", "6"});
    m.check_fold();
}

TEST_CASE("S5: a failure waits for room on the fail way") {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},"out":{"o":1},
                "fail":{"p":"${error.code}"}})")
    );
    m.put("n", "p", "0");
    m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    engine::settle(
        m.model,
        {.operation = begun[0],
         .kind = engine::Outcome::Kind::error,
         .error = {base::ErrorCode::exit_nonzero, "no", {}, {}}},
        m.asker()
    );
    m.run();
    CHECK(operation(m, begun[0]).state == engine::OperationState::returned);
    CHECK(operation(m, begun[0]).error.contains("exit_nonzero"));
    m.check_fold();
    const auto slot = m.model.state().store.first_in(*m.model.state().place({"n", "p"}));
    REQUIRE(engine::remove_token(m.model, m.model.state().store.token(slot).id, m.asker()));
    m.run();
    CHECK(m.in("n", "p") == Tokens{R"("exit_nonzero")"});
    m.check_fold();
}

TEST_CASE("S5: what could not be prepared waits for room on its fail way") {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1},"go":{})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},"out":{"o":1},
                "fail":{"p":"${error.code}"}},"eat":{"in":{"x":"p","go":"go"},"out":{"o":1}})")
    );
    m.put("n", "p", "0");
    const auto started = m.start("n");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    engine::prepared(
        m.model, asked[0].claim, base::fail(base::ErrorCode::not_found, "no"), m.asker()
    );
    m.run();
    CHECK(m.in("n", "p") == Tokens{"0"});
    CHECK(m.model.claims().size() == 1);
    CHECK(m.effects<engine::Prepare>().empty());
    m.check_fold();
    eat(m);
    CHECK(m.in("n", "p") == Tokens{R"("not_found")"});
    CHECK(m.model.claims().empty());
    CHECK(m.case_state(started) == engine::CaseState::running);
    m.check_fold();
}

TEST_CASE("S5: what would never fit fails with limit, by a call and by a map") {
    TestModel m;
    m.deploy(burst(R"(,"map":{"in":{"x":"q"},"out":[{"to":"p","each":"[1,2,3,4]"}],
                       "fail":{"bad":"${error.code}"}})"));
    m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    answer_with(m, begun[0], "[1,2,3,4]");
    CHECK(m.in("n", "bad") == Tokens{R"("limit")"});
    m.put("n", "q", "1");
    m.run();
    CHECK(m.in("n", "bad") == Tokens{R"("limit")", R"("limit")"});
    CHECK(m.in("n", "p").empty());
    m.check_fold();
}

TEST_CASE("S5: no more room than a place can hold is kept before an effect starts") {
    TestModel m;
    m.deploy(
        net(R"("one":{"capacity":1})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
                "out":[{"to":"one","when":"result == 1","token":1},
                       {"to":"one","when":"result != 1","token":2}]})")
    );
    m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    answer_with(m, begun[0], "7");
    CHECK(m.in("n", "one") == Tokens{"2"});
    m.check_fold();
}

TEST_CASE("an operation without a case can be abandoned while it runs: nothing else would end it") {
    TestModel m;
    m.deploy(net(R"("bad":{})", R"("t":{"in":{"x":"s"},"call":{"toolId":"tool"},
        "out":{"o":1},"fail":{"bad":"${error.code}"}})"));
    m.put("n", "s", "1");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    REQUIRE(engine::abandon(m.model, begun[0], "nobody can run it", m.asker("anna")));
    const auto stopped = m.effects<engine::Cancel>();
    REQUIRE(stopped.size() == 1);
    CHECK(stopped[0].operation == begun[0]);
    CHECK(m.in("n", "bad") == Tokens{R"("abandoned")"});
    CHECK(answer(m, begun[0]) == engine::Settled::late);
    CHECK(m.in("n", "o").empty());
    m.check_fold();
}

TEST_CASE("an operation that waits for room can be abandoned") {
    Waiting m;
    const auto seq = engine::abandon(m.model, m.waiting, "no more", m.asker());
    REQUIRE_MESSAGE(seq, (seq ? "" : seq.error().message));
    m.run();
    CHECK(m.in("n", "bad") == Tokens{R"("abandoned")"});
    CHECK(m.in("n", "p") == Tokens{"1", "2"});
    CHECK(engine::put_tokens(m.model, {"n", "p"}, {{"8", {}}}, m.asker()).has_value());
    m.check_fold();
}

TEST_CASE("an abandoned operation without room on its fail way becomes a dead letter") {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
                "out":[{"to":"p","each":"[1]"}],"fail":{"p":2}})")
    );
    m.put("n", "p", "0");
    m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    answer_with(m, begun[0], "1");
    REQUIRE(engine::abandon(m.model, begun[0], "no more", m.asker()));
    CHECK(m.model.state().dead_letters == 1);
    CHECK(m.in("n", "p") == Tokens{"0"});
    m.check_fold();
}

TEST_CASE("a case that is cancelled, and a reset, end what waits for room, and let others have it"
) {
    for (const bool reset : {false, true}) {
        Waiting m(R"(,"new":{"in":{"x":"q"},"out":{"p":9}},
                      "stop":{"in":{"x":"halt","s":{"place":"s","arc":"reset"}},"out":{"o":1}})");
        m.put("n", "q", "1");
        if (reset) {
            m.put("n", "halt", "1", m.second);
        } else {
            REQUIRE(engine::cancel_case(m.model, m.second, m.asker()));
        }
        m.run();
        CHECK(m.model.state().operations.empty());
        CHECK(m.in("n", "p") == Tokens{"1", "2", "9"});
        CHECK(m.effects<engine::Cancel>().empty());
        m.check_fold();
    }
}

TEST_CASE("S5: an agent's answer and a child's result wait for room as a call's does") {
    TestModel m;
    m.deploy(
        R"({"net":"child","version":"1","places":{"i":{},"e":{}},
            "transitions":{"t":{"in":{"x":"i"},"out":{"e":[5,6]}}},"start":"i","end":["e"]})"
    );
    m.deploy(
        net(R"("p":{"capacity":2},"a":{},"c":{})",
            R"("split":{"in":{"x":"s"},"out":{"a":1,"c":1}},
               "work":{"in":{"x":"a"},"agent":{"skill":"any"},
                "out":[{"to":"p","each":"result","token":"${each}"}]},
               "run":{"in":{"x":"c"},"net":{"name":"child"},
                "out":[{"to":"p","each":"result","token":"${each}"}]})")
    );
    m.put("n", "p", "0");
    m.start("n");
    m.run();
    const auto hold = engine::claim_work(m.model, {.agent = "ada"}, m.asker());
    REQUIRE(hold);
    REQUIRE(engine::finish_work(m.model, *hold, {.result = "[7,8]"}, m.asker()));
    m.run();
    REQUIRE(m.model.state().operations.size() == 2);
    for (const auto& [id, waiting] : m.model.state().operations)
        CHECK(waiting.state == engine::OperationState::returned);
    CHECK(
        engine::extend_work(m.model, *hold, {}, m.asker()).error().code == base::ErrorCode::fenced
    );
    m.check_fold();
    const auto take = [&](std::size_t tokens) {
        const auto place = *m.model.state().place({"n", "p"});
        for (std::size_t i = 0; i < tokens; ++i) {
            const auto slot = m.model.state().store.first_in(place);
            REQUIRE(engine::remove_token(m.model, m.model.state().store.token(slot).id, m.asker()));
        }
        m.run();
    };
    take(1);
    take(2);
    CHECK(m.model.state().operations.empty());
    CHECK(m.in("n", "p").size() == 2);
    m.check_fold();
}
