// Work packets of `agent` transitions: who may have one, and for how long.
#include "tests/engine/test_model.hpp"

namespace {

std::string agent_net(std::string_view more = "") {
    return R"({"net":"n","version":"1","places":{"in":{},"out":{},"bad":{}},
        "transitions":{"review":{"in":{"x":"in"},
            "agent":{"skill":"review","persona":"strict","budget":{"usd":1},"maxSteps":5})" +
           std::string(more) + R"(,
            "out":{"out":{"said":"${result.text}","by":"${meta.agent}"}},
            "fail":{"bad":"${error.code}"}}},
        "start":"in","end":["out","bad"]})";
}

struct Work : TestModel {
    base::CaseId id;
    explicit Work(std::string_view more = "") {
        deploy(agent_net(more));
        id = start("n", R"({"text":"hello"})");
        run();
    }
    engine::WorkHold claim(std::string agent, base::Duration length = base::seconds(60)) {
        const auto hold =
            engine::claim_work(model, {.agent = std::move(agent), .length = length}, asker());
        REQUIRE_MESSAGE(hold, (hold ? "" : hold.error().message));
        return *hold;
    }
    const engine::Operation& open() const { return model.state().operations.begin()->second; }
};

constexpr const char* answer = R"({"text":"fine"})";

}  // namespace

TEST_CASE("a work packet says what is wanted, and its result becomes a token") {
    Work work;
    CHECK(
        work.open().call ==
        R"({"budget":{"usd":1},"input":{"text":"hello"},"maxSteps":5,"persona":"strict","skill":"review"})"
    );
    CHECK(work.effects<engine::Prepare>().empty());
    CHECK(work.effects<engine::Perform>().empty());
    const auto hold = work.claim("ada");
    REQUIRE(hold.operation);
    CHECK_FALSE(work.claim("bob").operation);
    REQUIRE(engine::finish_work(work.model, hold, {.result = answer}, work.asker()));
    CHECK(work.in("n", "out") == std::vector<std::string>{R"({"by":"ada","said":"fine"})"});
    CHECK(work.case_state(work.id) == engine::CaseState::completed);
    work.check_fold();
}

TEST_CASE("S36: packets go out oldest first, and only to who has the skill") {
    Work work;
    work.start("n", "2");
    work.run();
    const auto wrong =
        engine::claim_work(work.model, {.agent = "ada", .skill = "cooking"}, work.asker());
    REQUIRE(wrong);
    CHECK_FALSE(wrong->operation);
    const auto first = work.claim("ada");
    const auto second = work.claim("ada");
    CHECK(first.operation < second.operation);
    const auto taken = engine::claim_work(
        work.model, {.agent = "bob", .operation = first.operation}, work.asker()
    );
    REQUIRE_FALSE(taken);
    CHECK(taken.error().code == base::ErrorCode::conflict);
    CHECK(taken.error().message.contains("'ada'"));
}

TEST_CASE("S37: a claim that runs out makes its packet available again, and the late one is fenced"
) {
    Work work;
    const auto first = work.claim("ada", base::seconds(10));
    CHECK(work.model.next_due() == work.now + base::seconds(10));
    work.now = work.now + base::seconds(10);
    work.run();
    CHECK(engine::work_available(work.open()));
    CHECK(work.open().state == engine::OperationState::invoking);
    const auto second = work.claim("bob");
    CHECK(second.claim != first.claim);
    const auto late = engine::finish_work(work.model, first, {.result = answer}, work.asker());
    REQUIRE_FALSE(late);
    CHECK(late.error().code == base::ErrorCode::fenced);
    REQUIRE(engine::finish_work(work.model, second, {.result = answer}, work.asker()));
    CHECK(work.in("n", "out") == std::vector<std::string>{R"({"by":"bob","said":"fine"})"});
    work.check_fold();
}

TEST_CASE("S37: heartbeats keep a claim, a release gives it up") {
    Work work;
    const auto hold = work.claim("ada", base::seconds(10));
    for (int i = 0; i < 5; ++i) {
        work.now = work.now + base::seconds(9);
        work.run();
        REQUIRE(engine::extend_work(
            work.model,
            hold,
            {.length = base::seconds(10), .steps = 2, .note = "still at it"},
            work.asker()
        ));
    }
    CHECK(work.open().steps == 2);
    REQUIRE(engine::release_work(work.model, hold, "busy", work.asker()));
    CHECK(engine::work_available(work.open()));
    CHECK_FALSE(engine::extend_work(work.model, hold, {}, work.asker()));
    work.check_fold();
}

TEST_CASE("S38: an agent that fails, or takes too many steps, sends the packet the fail way") {
    Work failed;
    const auto hold = failed.claim("ada");
    engine::WorkResult result;
    result.error = base::Error{base::ErrorCode::upstream, "the model was away", {}, {}};
    REQUIRE(engine::finish_work(failed.model, hold, std::move(result), failed.asker()));
    CHECK(failed.in("n", "bad") == std::vector<std::string>{R"("upstream")"});
    failed.check_fold();

    Work eager;
    const auto held = eager.claim("ada");
    REQUIRE(engine::extend_work(eager.model, held, {.steps = 6}, eager.asker()));
    CHECK(eager.in("n", "bad") == std::vector<std::string>{R"("limit")"});
    eager.check_fold();
}

TEST_CASE("S38: with attempts left a failed packet is offered again after its backoff") {
    Work work(R"(,"retry":{"attempts":2,"backoff":"5s"})");
    engine::WorkResult result;
    result.error = base::Error{base::ErrorCode::upstream, "away", {}, {}};
    REQUIRE(engine::finish_work(work.model, work.claim("ada"), std::move(result), work.asker()));
    CHECK_FALSE(work.claim("bob").operation);
    work.now = work.now + base::seconds(5);
    work.run();
    const auto hold = work.claim("bob");
    REQUIRE(hold.operation);
    CHECK(work.open().attempt == 2);
    REQUIRE(engine::finish_work(work.model, hold, {.result = answer}, work.asker()));
    CHECK(work.in("n", "out").size() == 1);
    work.check_fold();
}

TEST_CASE("a packet waits as long as its transition says") {
    Work work(R"(,"timeout":"1m")");
    const auto hold = work.claim("ada", base::seconds(600));
    work.now = work.now + base::seconds(60);
    work.run();
    CHECK(work.in("n", "bad") == std::vector<std::string>{R"("timeout")"});
    CHECK_FALSE(engine::extend_work(work.model, hold, {}, work.asker()));
    work.check_fold();
}

TEST_CASE("S37: a claim and its end survive another life of the master") {
    Work work;
    const auto hold = work.claim("ada", base::seconds(10));
    work.keep();
    engine::Model later("m");
    for (const auto& record : work.records)
        REQUIRE(later.replay(record));
    later.take_over(2);
    later.go_live(work.now);
    CHECK(later.state().operations.begin()->second.state == engine::OperationState::invoking);
    CHECK(later.next_due() == work.now + base::seconds(10));
    CHECK(TestModel::lines(later.state()) == TestModel::lines(work.model.state()));
    REQUIRE(engine::finish_work(later, hold, {.result = answer}, work.asker()));
    CHECK(later.state().operations.empty());
    later.pump(work.now + base::seconds(10), 100);
}

TEST_CASE("a packet whose input cannot be made goes the fail way, and a cancelled one is gone") {
    TestModel test;
    test.deploy(R"({"net":"n","version":"1","places":{"in":{},"bad":{}},
        "transitions":{"t":{"in":{"x":"in"},"agent":{"skill":"s","input":{"v":"${x.v}"}},
                            "fail":{"bad":"${error.code}"}}},"start":"in","end":"bad"})");
    test.start("n", "{}");
    const auto id = test.start("n", R"({"v":1})");
    test.run();
    CHECK(test.in("n", "bad") == std::vector<std::string>{R"("validation")"});
    REQUIRE(engine::cancel_case(test.model, id, test.asker()));
    CHECK(test.model.state().operations.empty());
    const auto none = engine::claim_work(test.model, {.agent = "a"}, test.asker());
    REQUIRE(none);
    CHECK_FALSE(none->operation);
    test.check_fold();
}

TEST_CASE("the index of open packets is what the operations say, also after a snapshot") {
    Work work(R"(,"retry":{"attempts":2,"backoff":"1s"})");
    work.start("n", "2");
    work.run();
    const auto& index = work.model.state().work;
    const auto first = *index.open().begin();
    CHECK(index.open().size() == 2);
    CHECK(index.oldest("") == first);
    CHECK(index.oldest("review") == first);
    CHECK_FALSE(index.oldest("cooking").has_value());
    const auto hold = work.claim("ada");
    CHECK(hold.operation == first);
    const auto second = index.oldest("review");
    REQUIRE(second.has_value());
    CHECK(*second != first);
    work.keep();
    Reopened later(work);
    CHECK(later.model.state().work.open() == index.open());
    CHECK(later.model.state().work.oldest("") == second);
    // Given up it is the oldest again; failed, it waits for its next attempt.
    REQUIRE(engine::release_work(work.model, hold, "tired", work.asker()));
    CHECK(index.oldest("") == first);
    const auto again = work.claim("bob");
    const base::Error error{base::ErrorCode::upstream, "no", {}, {}};
    REQUIRE(engine::finish_work(work.model, again, {.error = error}, work.asker()));
    CHECK(index.open().size() == 2);
    CHECK(index.oldest("") == second);
    work.now = work.now + base::seconds(2);
    work.run();
    CHECK(index.oldest("") == first);
    const auto last = work.claim("ada");
    REQUIRE(engine::finish_work(work.model, last, {.result = answer}, work.asker()));
    CHECK(index.open() == std::set{*second});
    REQUIRE(engine::cancel_case(
        work.model, work.model.state().find_operation(*second)->case_id, work.asker()
    ));
    CHECK(index.open().empty());
    CHECK_FALSE(index.oldest("").has_value());
    work.check_fold();
}
