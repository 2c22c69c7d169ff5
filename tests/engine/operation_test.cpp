#include "tests/engine/test_model.hpp"

namespace {

constexpr const char* calling_net = R"({"net":"n","version":"1","places":{"a":{},"o":{},"bad":{}},
    "transitions":{"t":{"in":{"x":"a"},"call":{"toolId":"tool","args":{"v":"${x.v}"}},
                        "out":{"o":"${result.w}"},"fail":{"bad":"${error.code}"},
                        "retry":{"attempts":2,"backoff":"1s"}}},"start":"a","end":["o","bad"]})";

engine::Prepared prepared_call(std::string effect = "once") {
    return {
        .call = R"({"what":"it runs"})",
        .effect = std::move(effect),
        .tool_id = "tool",
        .version_hash = "abc"
    };
}

struct Called : TestModel {
    base::CaseId id;
    base::OperationId operation;
    explicit Called(const std::string& effect, const char* net = calling_net) {
        deploy(net);
        id = start("n", R"({"v":1})");
        run();
        const auto asked = effects<engine::Prepare>();
        REQUIRE(asked.size() == 1);
        CHECK(asked[0].input == R"({"v":1})");
        engine::prepared(model, asked[0].claim, prepared_call(effect), asker());
        const auto performed = effects<engine::Perform>();
        REQUIRE(performed.size() == 1);
        operation = performed[0].operation;
    }
    engine::Settled answer(
        engine::Outcome::Kind kind,
        base::ErrorCode code = base::ErrorCode::upstream,
        std::uint32_t attempt = 1
    ) {
        return engine::settle(
            model,
            {.operation = operation,
             .attempt = attempt,
             .kind = kind,
             .result = R"({"w":2})",
             .meta = "{}",
             .error = {code, "it went wrong", {}, {}}},
            asker()
        );
    }
    const engine::Operation* open() const { return model.state().find_operation(operation); }
};

using Kind = engine::Outcome::Kind;
using engine::Settled;

}  // namespace

TEST_CASE("a call costs two records and its result becomes a token") {
    Called m("once");
    const auto before = m.model.state().seq;
    CHECK(m.answer(Kind::returned) == engine::Settled::applied);
    CHECK(m.model.state().seq == before + 2);  // finalized, case.ended
    CHECK(m.in("n", "o") == std::vector<std::string>{"2"});
    CHECK(m.case_state(m.id) == engine::CaseState::completed);
    CHECK(m.model.state().find_case(m.id)->finished.front().tool_id == "tool");
    m.check_fold();
}

TEST_CASE("an answer given twice counts once and is kept as evidence") {
    Called m("once");
    m.answer(Kind::returned);
    CHECK(m.answer(Kind::returned) == engine::Settled::late);
    CHECK(m.in("n", "o").size() == 1);
    m.check_fold();
}

TEST_CASE("what could not be prepared goes the fail way and leaves no started call") {
    TestModel m;
    m.deploy(calling_net);
    const auto id = m.start("n", R"({"v":1})");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    engine::prepared(
        m.model,
        asked.at(0).claim,
        base::fail(base::ErrorCode::not_found, "no such tool"),
        m.asker()
    );
    m.run();
    CHECK(m.in("n", "bad") == std::vector<std::string>{R"("not_found")"});
    CHECK(m.case_state(id) == engine::CaseState::completed);
    CHECK(m.model.claims().empty());
    m.check_fold();
}

TEST_CASE("arguments that cannot be made go the fail way") {
    TestModel m;
    m.deploy(calling_net);
    m.start("n", "{}");
    m.run();
    CHECK(m.effects<engine::Prepare>().empty());
    CHECK(m.in("n", "bad") == std::vector<std::string>{R"("validation")"});
    m.check_fold();
}

TEST_CASE("whatever backoff and factor are, the next attempt is due within the longest backoff") {
    struct Rules {
        const char* retry;
        base::Duration most;
    };
    for (const auto& [retry, most] :
         {Rules{R"("backoff":"0s","factor":1000)", {}},
          Rules{R"("backoff":"0s","maxBackoff":"0s","factor":1)", {}},
          Rules{
              R"("backoff":"1ms","factor":1000,"maxBackoff":"366d")", base::seconds(366 * 86'400)
          },
          Rules{
              R"("backoff":"366d","factor":1000,"maxBackoff":"366d")", base::seconds(366 * 86'400)
          },
          Rules{R"("backoff":"3ms","factor":1.1,"maxBackoff":"7s")", base::seconds(7)}}) {
        CAPTURE(retry);
        std::string net = calling_net;
        const std::string_view before = R"("attempts":2,"backoff":"1s")";
        net.replace(net.find(before), before.size(), R"("attempts":1000,)" + std::string(retry));
        Called m("pure", net.c_str());
        base::Duration last;
        for (std::uint32_t attempt = 1; attempt <= 200; ++attempt) {
            CAPTURE(attempt);
            REQUIRE(m.answer(Kind::error, base::ErrorCode::upstream, attempt) == Settled::applied);
            last = m.open()->next - m.now;
            REQUIRE(last >= base::Duration{});
            REQUIRE(last <= most);
            m.now = m.open()->next;
            m.run();
            REQUIRE(m.open()->attempt == attempt + 1);
        }
        CHECK(last.us >= most.us / 5 * 4);
        m.check_fold();
    }
}

TEST_CASE("a pure tool is tried again after an error, with backoff, and then fails for good") {
    Called m("pure");
    CHECK(m.answer(Kind::error) == engine::Settled::applied);
    CHECK(m.open()->state == engine::OperationState::retrying);
    CHECK(m.run() == 0);
    m.now = m.now + base::seconds(1);
    CHECK(m.run() == 1);
    CHECK(m.effects<engine::Perform>().at(0).attempt == 2);
    CHECK(m.answer(Kind::error) == engine::Settled::late);  // of the first attempt
    CHECK(m.answer(Kind::error, base::ErrorCode::upstream, 2) == engine::Settled::applied);
    CHECK(m.in("n", "bad") == std::vector<std::string>{R"("upstream")"});
    m.check_fold();
}

TEST_CASE("a once tool is not tried again after an error, unless nothing started") {
    Called failed("once");
    failed.answer(Kind::error);
    CHECK(failed.in("n", "bad").size() == 1);
    Called unstarted("once");
    unstarted.answer(Kind::never_started, base::ErrorCode::sandbox_unavailable);
    CHECK(unstarted.open()->state == engine::OperationState::retrying);
    unstarted.check_fold();
}

TEST_CASE("a lost attempt of a once tool is uncertain until somebody says what is to become of it"
) {
    Called m("once");
    m.answer(Kind::lost);
    CHECK(m.open()->state == engine::OperationState::uncertain);
    CHECK(m.case_state(m.id) == engine::CaseState::running);
    CHECK(m.answer(Kind::returned) == engine::Settled::late);
    CHECK(m.in("n", "o").empty());
    REQUIRE(engine::abandon(m.model, m.operation, "checked by hand", m.asker("anna")));
    CHECK(m.in("n", "bad") == std::vector<std::string>{R"("abandoned")"});
    m.check_fold();
}

TEST_CASE("an operation that runs or will run again cannot be abandoned") {
    Called m("idempotent");
    const auto refused = [&] {
        const auto answer = engine::abandon(m.model, m.operation, "tired", m.asker("anna"));
        return !answer && answer.error().code == base::ErrorCode::conflict;
    };
    CHECK(m.open()->state == engine::OperationState::invoking);
    CHECK(refused());
    m.answer(Kind::error);
    CHECK(m.open()->state == engine::OperationState::retrying);
    CHECK(refused());
    m.check_fold();
}

TEST_CASE("a lost attempt of an idempotent tool is tried again at once and does not count") {
    Called m("idempotent");
    for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
        CHECK(
            m.answer(Kind::lost, base::ErrorCode::uncertain, attempt) == engine::Settled::applied
        );
        CHECK(m.run() == 1);
        CHECK(m.effects<engine::Perform>().at(0).attempt == attempt + 1);
    }
    CHECK(m.answer(Kind::returned, base::ErrorCode::internal, 4) == engine::Settled::applied);
    CHECK(m.in("n", "o").size() == 1);
    m.check_fold();
}

TEST_CASE("cancelling a case cancels its operation and refuses the late result") {
    Called m("once");
    REQUIRE(engine::cancel_case(m.model, m.id, m.asker()));
    CHECK(m.effects<engine::Cancel>().size() == 1);
    CHECK(m.answer(Kind::returned) == engine::Settled::late);
    CHECK(m.in("n", "o").empty());
    CHECK(m.model.state().store.size() == 0);
    m.check_fold();
}

TEST_CASE("cancelling a case while a call is prepared leaves nothing reserved") {
    TestModel m;
    m.deploy(calling_net);
    const auto id = m.start("n", R"({"v":1})");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(engine::cancel_case(m.model, id, m.asker()));
    engine::prepared(m.model, asked.at(0).claim, prepared_call(), m.asker());
    CHECK(m.model.state().operations.empty());
    CHECK(m.model.state().store.size() == 0);
    m.check_fold();
}

TEST_CASE("concurrency bounds the firings in flight and the next goes when one ends") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"call":{"toolId":"tool","args":{}},"out":{"o":1},"concurrency":2}}})"
    );
    for (int i = 0; i < 5; ++i)
        m.put("n", "a", "1");
    m.run();
    auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 2);
    for (const auto& one : asked)
        engine::prepared(m.model, one.claim, prepared_call(), m.asker());
    m.run();
    CHECK(m.effects<engine::Prepare>().empty());
    const auto first = m.model.state().operations.begin()->first;
    engine::settle(m.model, {.operation = first, .result = "{}", .meta = "{}"}, m.asker());
    m.run();
    CHECK(m.effects<engine::Prepare>().size() == 1);
    m.check_fold();
}

TEST_CASE("a command token is the command") {
    TestModel m;
    m.deploy(R"({"net":"n","version":"1","places":{"cmds":{},"o":{}},
        "transitions":{"t":{"in":{"c":"cmds"},"command":{"from":"c"},"out":{"o":"${result.exitCode}"}}}})"
    );
    m.put("n", "cmds", R"({"executor":"script","command":"invoke","args":{"toolId":"x"}})");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].tool_id.empty());
    CHECK(asked[0].input == R"({"args":{"toolId":"x"},"command":"invoke","executor":"script"})");
}

TEST_CASE("S8: what a read arc saw at the start is what the output sees at the end") {
    Called m(
        "once",
        R"({"net":"n","version":"1","places":{"a":{},"rate":{"tokens":[3]},"o":{},"swap":{}},
        "transitions":{"t":{"in":{"x":"a","r":{"place":"rate","arc":"read"}},"call":{"toolId":"tool","args":{"v":"${x.v}"}},
                            "out":{"o":"${r}"}},
                       "s":{"in":{"go":"swap","r":"rate"},"out":{"rate":4}}},"start":"a","end":["o"]})"
    );
    m.put("n", "swap", "1");
    m.run();
    CHECK(m.in("n", "rate") == std::vector<std::string>{"4"});
    m.answer(Kind::returned);
    CHECK(m.in("n", "o") == std::vector<std::string>{"3"});
    m.check_fold();
}

TEST_CASE("a late result is kept whole, and the newest are found by their operation") {
    for (const bool failed : {false, true}) {
        Called m("once");
        m.answer(Kind::returned);
        engine::Outcome late{.operation = m.operation, .kind = Kind::returned};
        late.result = R"({"w":3})";
        late.output = R"({"exitCode":0,"stdout":"three"})";
        late.usage = R"({"cpuMs":5})";
        if (failed) {
            late.kind = Kind::error;
            late.error = {base::ErrorCode::exit_nonzero, "exit status 4", {}, {}};
            late.output = R"({"exitCode":4,"stdout":"three"})";
        }
        CHECK(engine::settle(m.model, late, m.asker("worker")) == engine::Settled::late);
        m.keep();
        const auto data = base::parse_json(m.records.back())->at("data");
        CHECK(data.at("executor") == "worker");
        CHECK(data.at("info").at("output").at("stdout") == "three");
        CHECK(data.at("info").at("output").at("exitCode") == (failed ? 4 : 0));
        CHECK(data.contains("error") == failed);
        if (failed) CHECK(data.at("error").at("message") == "exit status 4");
        if (failed) CHECK(data.at("error").at("usage").at("cpuMs") == 5);
        REQUIRE(m.model.state().late_results.size() == 1);
        CHECK(m.model.state().late_results.front().first == m.operation);
        CHECK(m.model.state().late_results.front().second == m.model.state().seq);
        m.check_fold();
        m.check_snapshot();
    }
}

TEST_CASE("a record of a late result from before results were kept in it still folds") {
    Called m("once");
    m.answer(Kind::returned);
    m.answer(Kind::returned);
    m.keep();
    auto old = *base::parse_json(m.records.back());
    old["data"].erase("executor");
    engine::Model folded("m");
    for (std::size_t i = 0; i + 1 < m.records.size(); ++i)
        REQUIRE(folded.replay(m.records[i]));
    CHECK(folded.replay(base::canonical(old)));
    CHECK(folded.state().late_results.empty());
}

TEST_CASE("what a run printed and used is in the record of its end, beside meta") {
    Called m("once");
    engine::Outcome outcome{.operation = m.operation, .kind = Kind::returned};
    outcome.result = R"({"w":2})";
    outcome.meta = R"({"zeta":1})";
    outcome.output = R"({"stdout":"printed"})";
    CHECK(engine::settle(m.model, outcome, m.asker()) == engine::Settled::applied);
    m.keep();
    const auto finalized = std::ranges::find_if(m.records, [](const std::string& record) {
        return record.contains("operation.finalized");
    });
    REQUIRE(finalized != m.records.end());
    const auto info = base::parse_json(*finalized)->at("data").at("info");
    CHECK(info.at("output").at("stdout") == "printed");
    CHECK(info.at("zeta") == 1);
    m.check_fold();
}

TEST_CASE("what an attempt says of its progress is recorded once, while it is the one under way") {
    Called m("once");
    const engine::ProgressNote note{m.operation, 1, "worker", 40, "half"};
    const auto before = m.model.state().seq;
    engine::progressed(m.model, note, m.asker());
    engine::progressed(m.model, note, m.asker());
    CHECK(m.model.state().seq == before + 1);
    CHECK(m.open()->progress == R"({"message":"half","percent":40})");
    auto other = note;
    other.attempt = 2;
    engine::progressed(m.model, other, m.asker());
    CHECK(m.model.state().seq == before + 1);
    m.check_fold();
    m.check_snapshot();
    m.answer(Kind::returned);
    const auto over = m.model.state().seq;
    engine::progressed(m.model, {m.operation, 1, "worker", 90, "more"}, m.asker());
    CHECK(m.model.state().seq == over);
}
