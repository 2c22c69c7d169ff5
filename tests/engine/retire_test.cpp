// Cases that are over leave memory for the log's index, and nothing is lost by that.
#include "engine/retire.hpp"

#include "base/files.hpp"
#include "engine/chain.hpp"
#include "engine/memory_log.hpp"
#include "engine/open_model.hpp"
#include "engine/refold.hpp"
#include "tests/engine/small_net.hpp"

namespace {

constexpr std::size_t beyond = 20;
constexpr std::size_t many = engine::retirable_kept + beyond;

const char* const pass_net = R"({"net":"pass","version":"1","places":{"a":{},"o":{"shared":true}},
    "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})";

/// A model whose records go to a log.
struct Logged : TestModel {
    engine::MemoryLog log;
    base::TemporaryFolder folder;
    engine::SnapshotStore snapshots{folder.path()};

    Logged() { REQUIRE(log.own("m").value() == 1); }
    /// `index` false: as a netwright wrote that knew no index.
    engine::AppendOutcome append(bool index = true) {
        run();
        auto head = log.head("m").value();
        const auto before = head.seq;
        engine::RecordBatch batch;
        for (const auto& record : std::exchange(records, {})) {
            const auto at = record.find(engine::unchained_prev);
            const auto seq = before + batch.records.size() + 1;
            batch.bytes += record;
            batch.records.push_back(
                {seq, {}, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(record.size())}
            );
        }
        if (index) batch.cases = std::exchange(cases, {});
        const auto chained = engine::chain(std::move(batch), head);
        const engine::Append request{
            .model = "m", .epoch = 1, .expected_seq = before, .batches = {&chained, 1}
        };
        return log.append({&request, 1}).front();
    }
    engine::LogHead commit(bool index = true) {
        REQUIRE(append(index).status == engine::AppendStatus::committed);
        return log.head("m").value();
    }
    std::unique_ptr<engine::Model> folded(engine::CaseIndex index = engine::CaseIndex::as_it_is) {
        auto made = engine::fold(log, snapshots, "m", log.head("m")->seq, index);
        REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
        return std::move(*made);
    }
    void pass(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            start("pass");
        run();
    }
};

}  // namespace

TEST_CASE("cases that are over leave memory, the first to end first, and the log's index has them"
) {
    Logged m;
    m.deploy(pass_net);
    std::vector<base::CaseId> ids;
    for (std::size_t i = 0; i < many; ++i)
        ids.push_back(m.start("pass"));
    m.commit();
    const auto& state = m.model.state();
    CHECK(state.cases.size() == engine::retirable_kept);
    CHECK(state.retired == beyond);
    CHECK(state.find_case(ids[beyond - 1]) == nullptr);
    CHECK(state.find_case(ids[beyond]) != nullptr);
    const auto page = m.log.cases("m", {}, 1000).value();
    REQUIRE(page.size() == beyond);
    for (std::size_t i = 0; i < beyond; ++i) {
        const auto one = engine::retired_case(page[i].text).value();
        CHECK(one.id == ids[i]);
        CHECK(one.net == "pass");
        CHECK(one.owner == "test");
        CHECK(one.state == engine::CaseState::completed);
        CHECK(one.ends == std::vector{*state.place({"", "o"})});
    }
    CHECK(m.log.cases("m", ids[4], 3).value().front().id == ids[5]);
    CHECK(m.in("", "o").size() == many);
    CHECK(TestModel::lines(m.folded()->state()) == TestModel::lines(state));
}

TEST_CASE("what an entry of the index says reads back as it was") {
    TestModel m;
    m.deploy(net("\"x\":{}", R"("t":{"in":{"a":"s"},"call":{"toolId":"tool","args":{}},
        "out":{"o":1}})"));
    const auto id = m.start("n");
    answer(m, invoke(m).front());
    auto over = *m.model.state().find_case(id);
    over.owner = "Zo\xc3\xab \"\\";
    over.parent = {7};
    over.finished.front().error = R"({"code":"timeout"})";
    const auto back = engine::retired_case(engine::retired_text(over)).value();
    CHECK(back.owner == over.owner);
    CHECK(back.parent == over.parent);
    CHECK(back.started == over.started);
    CHECK(back.ended == over.ended);
    REQUIRE(back.finished.size() == 1);
    CHECK(back.finished.front().tool_id == "tool");
    CHECK(back.finished.front().error == R"({"code":"timeout"})");
    auto text = engine::retired_text(over);
    for (std::size_t length = 0; length < text.size(); ++length)
        CHECK_FALSE(engine::retired_case(text.substr(0, length)).has_value());
}

TEST_CASE("a snapshot and what follows it give what the whole log gives, cases that left included"
) {
    Logged m;
    m.deploy(pass_net);
    m.pass(many);
    const auto head = m.commit();
    REQUIRE(engine::write_snapshot(m.snapshots, engine::FrozenState(m.model.state()), "m", head));
    m.pass(7);
    m.commit();
    CHECK(m.model.state().retired == beyond + 7);
    const auto folded = m.folded();
    CHECK(TestModel::lines(folded->state()) == TestModel::lines(m.model.state()));
}

TEST_CASE("a log that was written without the index gets it when its writer opens it") {
    Logged m;
    m.deploy(pass_net);
    m.pass(many);
    m.commit(false);
    CHECK(m.log.cases("m", {}, 1000).value().empty());
    m.folded();
    CHECK(m.log.cases("m", {}, 1000).value().empty());
    m.folded(engine::CaseIndex::mended);
    const auto mended = m.log.cases("m", {}, 1000).value();
    REQUIRE(mended.size() == beyond);
    CHECK(mended.front().text == m.cases.front().text);
}

TEST_CASE("an audit of the state finds an entry of the index that was changed or is missing") {
    Logged m;
    m.deploy(pass_net);
    m.pass(many);
    const auto audit = [&] {
        engine::Refold refold(m.log, m.snapshots, "m", engine::Refold::Derived::compared);
        const engine::AuditOptions options{
            .visit = [&](const engine::StoredRecord& record,
                         const base::Json&) { return refold.visit(record); }
        };
        REQUIRE(engine::verify(m.log, "m", options).value().ok());
        return refold.findings();
    };
    SUBCASE("missing") {
        m.commit(false);
        CHECK(audit().size() == beyond);
    }
    SUBCASE("changed") {
        m.commit();
        CHECK(audit().empty());
        auto entry = m.log.cases("m", {}, 1).value();
        entry.front().text.replace(entry.front().text.find("test"), 4, "evil");
        REQUIRE(m.log.restore_cases("m", entry));
        REQUIRE(audit().size() == 1);
        CHECK(audit().front().message.find(text(entry.front().id)) != std::string::npos);
    }
}

TEST_CASE("a write that is lost takes the index with it") {
    Logged m;
    m.deploy(pass_net);
    m.pass(many);
    m.log.fail_append(1, engine::MemoryLog::Failure::torn);
    CHECK(m.append().status == engine::AppendStatus::unknown);
    m.log.lose_power();
    CHECK(m.log.cases("m", {}, 1000).value().empty());
}

TEST_CASE("what a case left behind goes on in the name of whoever started it, after it left memory"
) {
    TestModel m;
    m.deploy(pass_net);
    const auto first = engine::start_case(m.model, "pass", "{}", m.asker("ann"));
    REQUIRE(first);
    m.run();
    for (std::size_t i = 0; i < many; ++i)
        m.start("pass");
    m.run();
    REQUIRE(m.model.state().find_case({*first}) == nullptr);
    m.deploy(R"({"net":"next","version":"1","places":{"o":{"shared":true},"z":{}},
        "transitions":{"t":{"in":{"x":"o"},"call":{"toolId":"tool","args":{}},"out":{"z":1},
        "concurrency":1}}})");
    m.run();
    const auto asked = m.effects<engine::Prepare>();
    REQUIRE(asked.size() == 1);
    CHECK(asked.front().case_id.seq == *first);
    CHECK(asked.front().principal == "ann");
    engine::prepared(m.model, asked.front().claim, prepared_call(), m.asker());
    m.run();
    const auto performed = m.effects<engine::Perform>();
    REQUIRE(performed.size() == 1);
    m.check_fold();
    SUBCASE("it fails, and is redriven") {
        engine::settle(
            m.model,
            {.operation = performed.front().operation,
             .kind = engine::Outcome::Kind::error,
             .error = {base::ErrorCode::upstream, "no", {}, {}}},
            m.asker()
        );
        m.run();
        CHECK(m.model.state().retired_owners.contains({*first}));
        const auto slot = m.model.state().store.first_in(m.model.state().dead_letter());
        REQUIRE(slot != places::no_slot);
        REQUIRE(engine::redrive(m.model, m.model.state().store.token(slot).id, m.asker()));
        CHECK(*m.model.state().owner_of({*first}) == "ann");
        m.check_fold();
    }
    SUBCASE("its last token goes, and with it what is remembered") {
        answer(m, performed.front().operation);
        CHECK(m.model.state().retired_owners.contains({*first}));
        const auto place = *m.model.state().place({"next", "z"});
        const auto left = m.model.state().store.token(m.model.state().store.first_in(place)).id;
        REQUIRE(engine::remove_token(m.model, left, m.asker()));
        CHECK_FALSE(m.model.state().retired_owners.contains({*first}));
        m.check_fold();
    }
}

TEST_CASE("a case with a dead letter stays in memory until the letter is gone") {
    TestModel m;
    m.deploy(pass_net);
    m.deploy(net("\"x\":{}", R"("t":{"in":{"a":"s"},"out":{"o":"${a.missing}"}})"));
    const auto failed = m.start("n");
    m.run();
    REQUIRE(m.case_state(failed) == engine::CaseState::failed);
    for (std::size_t i = 0; i < many; ++i)
        m.start("pass");
    m.run();
    REQUIRE(m.model.state().find_case(failed) != nullptr);
    const auto slot = m.model.state().store.first_in(m.model.state().dead_letter());
    REQUIRE(engine::drop(m.model, m.model.state().store.token(slot).id, m.asker()));
    for (std::size_t i = 0; i < engine::retirable_kept; ++i)
        m.start("pass");
    m.run();
    CHECK(m.model.state().find_case(failed) == nullptr);
    m.check_fold();
}

TEST_CASE("a child case stays in memory while its parent waits for it") {
    TestModel m;
    m.deploy(pass_net);
    m.deploy(R"({"net":"up","version":"1","places":{"s":{},"o":{}},"transitions":{
        "t":{"in":{"x":"s"},"net":{"name":"n","input":"${x}"},"out":{"o":1}}},
        "start":"s","end":["o"]})");
    m.deploy(net("\"x\":{}", R"("t":{"in":{"a":"s"},"call":{"toolId":"tool","args":{}},
        "out":{"o":1}})"));
    m.start("up");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    for (std::size_t i = 0; i < many; ++i)
        m.start("pass");
    m.run();
    answer(m, begun.front());
    for (std::size_t i = 0; i < many; ++i)
        m.start("pass");
    m.run();
    for (const auto& [id, one] : m.model.state().cases)
        CHECK(one.deployment->net->name == "pass");
    m.check_fold();
}
