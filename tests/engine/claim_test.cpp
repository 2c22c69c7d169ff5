// What happens to a firing with an effect between its choice and its record.
#include "tests/engine/small_net.hpp"

TEST_CASE("S6 S20: a delayed token that is due is seen by whatever is decided next") {
    const auto document =
        net(R"("i":{},"later":{})",
            R"("wait":{"in":{"x":"later"},"out":[{"to":"i","token":1,"delay":"5s"}],"priority":1},
           "t":{"in":{"x":"s","none":{"place":"i","arc":"inhibit"}},
                "call":{"toolId":"tool","args":{}},"out":{"o":1}})");
    SUBCASE("when a firing has been prepared") {
        TestModel m;
        m.deploy(document);
        const auto of = m.start("n");
        m.put("n", "later", "1", of);
        m.run();
        const auto asked = m.effects<engine::Prepare>();
        REQUIRE(asked.size() == 1);
        m.now = m.now + base::seconds(5);
        engine::prepared(m.model, asked.front().claim, prepared_call(), m.asker());
        CHECK(m.effects<engine::Perform>().empty());
        CHECK(m.model.state().operations.empty());
        m.check_fold();
    }
    SUBCASE("when somebody fires it by hand") {
        TestModel m;
        m.deploy(document);
        REQUIRE(engine::pause(m.model, "n", "t", m.asker()));
        const auto of = m.start("n");
        m.put("n", "later", "1", of);
        m.run();
        m.now = m.now + base::seconds(5);
        CHECK_FALSE(engine::fire_once(m.model, "n", "t", m.asker()).has_value());
        CHECK(m.model.claims().empty());
    }
}

TEST_CASE("S8: a firing whose read token is replaced again and again gets through in the end") {
    TestModel m;
    m.deploy(
        net(R"("rate":{"tokens":[0]},"tick":{})",
            R"("use":{"in":{"x":"s","rate":{"place":"rate","arc":"read"}},
                  "call":{"toolId":"tool","args":{"rate":"${rate}"}},"out":{"o":"${rate}"}},
           "renew":{"in":{"t":"tick","old":"rate"},"out":{"rate":"${old + 1}"},"priority":5})")
    );
    m.start("n");
    int preparations = 0;
    while (m.model.state().operations.empty() && ++preparations < 20) {
        m.run();
        const auto asked = m.effects<engine::Prepare>();
        REQUIRE(asked.size() == 1);
        m.put("n", "tick", "1");  // the rate is new before every answer
        m.run();
        engine::prepared(m.model, asked.front().claim, prepared_call(), m.asker());
    }
    CHECK(preparations == 4);
    m.run();
    // What waited meanwhile goes on, and the firing keeps what it read.
    CHECK(m.in("n", "rate") == Tokens{"4"});
    for (const auto& performed : m.effects<engine::Perform>())
        answer(m, performed.operation);
    CHECK(m.in("n", "o") == Tokens{"3"});
    m.check_fold();
}
