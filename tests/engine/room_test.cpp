// Room in places with a capacity, for firings that take time.
#include "tests/engine/small_net.hpp"

namespace {

std::size_t finish_all(TestModel& m) {
    std::vector<base::OperationId> open;
    for (const auto& [id, operation] : m.model.state().operations)
        open.push_back(id);
    for (const auto id : open)
        engine::settle(m.model, {.operation = id, .result = "1", .meta = "{}"}, m.asker());
    return open.size();
}

}  // namespace

TEST_CASE("S5: a call that takes a token from a full place may put one back") {
    TestModel m;
    m.deploy(
        net(R"("seat":{"capacity":1,"tokens":[7]})",
            R"("t":{"in":{"x":"s","seat":"seat"},"call":{"toolId":"tool","args":{}},
                "out":{"seat":"${seat}","o":"${x}"}})")
    );
    m.start("n");
    CHECK(invoke(m).size() == 1);
    CHECK(finish_all(m) == 1);
    m.check_fold();
    CHECK(m.in("n", "seat") == std::vector<std::string>{"7"});
    CHECK(m.in("n", "o").size() == 1);
}

TEST_CASE("S5: what several rules put into one place is counted together") {
    TestModel m;
    m.deploy(
        net(R"("two":{"capacity":3})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
                "out":[{"to":"two","token":1},{"to":"two","token":2}]})")
    );
    m.start("n");
    m.start("n");
    CHECK(invoke(m).size() == 1);
    CHECK(finish_all(m) == 1);
    CHECK(invoke(m).size() == 0);
    CHECK(m.in("n", "two").size() == 2);
    m.check_fold();
}

TEST_CASE("S5: rules that exclude each other need room for one") {
    TestModel m;
    m.deploy(
        net(R"("one":{"capacity":1})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
                "choose":"first",
                "out":[{"to":"one","when":"result == 1","token":1},
                       {"to":"one","token":2}]})")
    );
    m.start("n");
    CHECK(invoke(m).size() == 1);
}

TEST_CASE("S5: a firing that is being prepared keeps its room") {
    TestModel m;
    m.deploy(
        net(R"("one":{"capacity":1})",
            R"("t":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},"out":{"one":1}})")
    );
    m.start("n");
    m.start("n");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    CHECK_FALSE(engine::put_tokens(m.model, {"n", "one"}, {{"1", {}}}, m.asker()).has_value());
    // One that cannot be prepared gives it back: the other goes on.
    engine::prepared(
        m.model, asked.front().claim, base::fail(base::ErrorCode::not_found, "no"), m.asker()
    );
    m.run();
    CHECK(m.effects<engine::Prepare>().size() == 1);
    m.check_fold();
}

TEST_CASE("S5: a dead letter is not redriven into a full place") {
    TestModel m;
    m.deploy(
        net(R"("one":{"capacity":1})",
            R"("t":{"in":{"x":"one"},"call":{"toolId":"tool","args":{}},"out":{"o":1}})")
    );
    const auto seq = m.put("n", "one", "1");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    engine::prepared(
        m.model, asked.front().claim, base::fail(base::ErrorCode::not_found, "no"), m.asker()
    );
    m.run();
    CHECK(seq != 0);
    const auto letters = m.model.state().store.first_in(m.model.state().dead_letter());
    REQUIRE(letters != places::no_slot);
    const auto letter = m.model.state().store.token(letters).id;
    REQUIRE(engine::pause(m.model, "n", "t", m.asker()));
    m.put("n", "one", "2");
    const auto refused = engine::redrive(m.model, letter, m.asker());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == base::ErrorCode::conflict);
}

TEST_CASE("S5: a case that waits for room holds back no case whose tokens go elsewhere") {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1},"q":{},"go":{})",
            R"("t":{"in":{"x":"s"},"out":[{"to":"p","when":"x == 1","token":"${x}"},
                                          {"to":"q","otherwise":true,"token":"${x}"}]},
               "eat":{"in":{"x":"p","go":"go"},"out":{"o":1}})")
    );
    m.put("n", "p", "0");
    m.start("n", "1");
    m.start("n", "2");
    m.start("n", "1");
    m.start("n", "3");
    m.run();
    CHECK(m.in("n", "q") == Tokens{"2", "3"});
    CHECK(m.in("n", "s") == Tokens{"1", "1"});
    CHECK(m.run() == 0);
    for (const std::size_t left : {1U, 0U}) {
        m.put("n", "go", "1");
        m.run();
        CHECK(m.in("n", "p") == Tokens{"1"});
        CHECK(m.in("n", "s").size() == left);
    }
    m.check_fold();
}

TEST_CASE("S5 S29: a firing that waits for room is looked at again when what it would take changes"
) {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1},"q":{},"go":{})",
            R"("t":{"in":{"x":{"place":"s","order":"lifo"}},
                    "out":[{"to":"p","when":"x == 1","token":"${x}"},
                           {"to":"q","otherwise":true,"token":"${x}"}]},
               "take":{"in":{"x":{"place":"s","where":"token == 1"},"go":"go"},"out":{"o":1}})")
    );
    m.put("n", "p", "0");
    const auto of = m.start("n", "1");
    m.run();
    CHECK(m.in("n", "s") == Tokens{"1"});
    // One came that is taken first, and goes elsewhere.
    m.put("n", "s", "2", of);
    m.run();
    CHECK(m.in("n", "q") == Tokens{"2"});
    // The first leaves by another way: the one behind it can go.
    m.put("n", "s", "3", of);
    m.put("n", "s", "1", of);
    m.run();
    CHECK(m.in("n", "s") == Tokens{"1", "3", "1"});
    m.put("n", "go", "1", of);
    m.put("n", "go", "1", of);
    m.run();
    CHECK(m.in("n", "s").empty());
    CHECK(m.in("n", "q") == Tokens{"2", "3"});
    m.check_fold();
}
