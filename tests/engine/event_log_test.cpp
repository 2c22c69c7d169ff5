// What every event log promises, run on all of them.
#include "base/files.hpp"
#include "engine/chain.hpp"
#include "engine/memory_log.hpp"
#include "engine/rocks_log.hpp"
#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using engine::AppendStatus;
using engine::EventLog;
using engine::testing::all_records;
using engine::testing::append_records;

namespace {

/// A log of each kind; `reopen` gives what the next process finds.
struct LogKind {
    std::string name;
    std::function<void()> reopen;
    std::function<EventLog&()> log;
};

void on_every_log(const std::function<void(LogKind&)>& check) {
    SUBCASE("in memory") {
        engine::MemoryLog log;
        LogKind kind{"memory", [&] { log.lose_power(); }, [&]() -> EventLog& { return log; }};
        check(kind);
    }
    SUBCASE("in RocksDB") {
        const base::TemporaryFolder folder;
        std::unique_ptr<EventLog> log;
        const auto open = [&] {
            log.reset();
            auto opened = engine::open_rocks_log(folder.path() / "log");
            REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
            log = std::move(*opened);
        };
        open();
        LogKind kind{"rocks", open, [&]() -> EventLog& { return *log; }};
        check(kind);
    }
}

}  // namespace

TEST_CASE("a model that nobody wrote to has an empty log and does not exist") {
    on_every_log([](LogKind& kind) {
        EventLog& log = kind.log();
        CHECK(log.head("nobody").value() == engine::empty_head("nobody"));
        CHECK(log.read("nobody", 1, {}).value().records.empty());
        CHECK(log.own("nobody").value() == 1);
        CHECK(log.models().value().empty());
        CHECK(log.next_readable("nobody", 1).value() == 0);
        kind.reopen();
        CHECK(kind.log().own("nobody").value() == 1);
        CHECK(kind.log().models().value().empty());
    });
}

TEST_CASE("records are read back byte for byte, from any seq, after reopening too") {
    on_every_log([](LogKind& kind) {
        const auto epoch = kind.log().own("orders").value();
        std::vector<std::string> written;
        for (const std::size_t count : {1U, 1U, 700U, 3U, 1U, 2000U}) {
            const auto batch = engine::testing::records(written.size() + 1, count, epoch);
            const auto outcome = append_records(kind.log(), "orders", epoch, count);
            CHECK(outcome.status == AppendStatus::committed);
            CHECK(outcome.seq == written.size() + count);
            std::size_t at = 0;
            for (const auto& record : batch.records) {
                written.push_back(batch.bytes.substr(at, record.size));
                at += record.size;
            }
        }
        for (int round = 0; round < 2; ++round) {
            auto found = all_records(kind.log(), "orders");
            REQUIRE(found.size() == written.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                // They differ in nothing but `prev`.
                const auto tail = engine::record_tail(found[i]);
                REQUIRE(tail);
                CHECK(tail->seq == i + 1);
                const auto at = static_cast<std::size_t>(tail->prev.data() - found[i].data());
                found[i].replace(at, 64, engine::unchained_prev);
            }
            CHECK(found == written);
            CHECK(engine::testing::chained_up_to(kind.log(), "orders", written.size()));
            for (const engine::Seq from : {2U, 3U, 500U, 702U, 703U, 2000U, 2706U}) {
                const auto page = kind.log().read("orders", from, {.records_max = 3}).value();
                REQUIRE(!page.records.empty());
                CHECK(page.records.front().seq == from);
                CHECK(page.records.size() == std::min<std::size_t>(3, 2707 - from));
            }
            CHECK(kind.log().read("orders", 2707, {}).value().records.empty());
            kind.reopen();
        }
    });
}

TEST_CASE("a page ends with the record that reaches its limit of bytes") {
    on_every_log([](LogKind& kind) {
        const auto epoch = kind.log().own("m").value();
        append_records(kind.log(), "m", epoch, 100, 1000);
        const auto page = kind.log().read("m", 5, {.records_max = 50, .bytes_max = 3000}).value();
        std::size_t bytes = 0;
        for (const auto& record : page.records)
            bytes += record.bytes.size();
        CHECK(bytes >= 3000);
        CHECK(bytes - page.records.back().bytes.size() < 3000);
        CHECK(
            kind.log().read("m", 5, {.records_max = 50, .bytes_max = 1}).value().records.size() == 1
        );
    });
}

TEST_CASE("an append that expects another end is a conflict and writes nothing") {
    on_every_log([](LogKind& kind) {
        const auto epoch = kind.log().own("m").value();
        append_records(kind.log(), "m", epoch, 5);
        auto head = kind.log().head("m").value();
        for (const engine::Seq wrong : {3U, 7U}) {
            engine::LogHead end{.seq = wrong, .hash = head.hash};
            const auto batch = engine::chain(engine::testing::records(wrong + 1, 2, epoch), end);
            const engine::Append request{
                .model = "m", .epoch = epoch, .expected_seq = wrong, .batches = {&batch, 1}
            };
            const auto outcome = kind.log().append({&request, 1}).front();
            CHECK(outcome.status == AppendStatus::conflict);
            CHECK(outcome.seq == 5);
        }
        CHECK(kind.log().head("m").value() == head);
    });
}

TEST_CASE("an older epoch can no longer append") {
    on_every_log([](LogKind& kind) {
        const auto old_epoch = kind.log().own("m").value();
        append_records(kind.log(), "m", old_epoch, 2);
        const auto new_epoch = kind.log().own("m").value();
        CHECK(new_epoch > old_epoch);
        CHECK(append_records(kind.log(), "m", old_epoch, 1).status == AppendStatus::fenced);
        CHECK(append_records(kind.log(), "m", new_epoch, 1).status == AppendStatus::committed);
        kind.reopen();
        CHECK(append_records(kind.log(), "m", old_epoch, 1).status == AppendStatus::fenced);
        const auto next = kind.log().own("m").value();
        CHECK(next > new_epoch);
        CHECK(append_records(kind.log(), "m", new_epoch, 1).status == AppendStatus::fenced);
        CHECK(append_records(kind.log(), "m", next, 1).seq == 4);
    });
}

TEST_CASE("an epoch that was taken is never given again, even if nothing was appended under it") {
    on_every_log([](LogKind& kind) {
        append_records(kind.log(), "m", kind.log().own("m").value(), 1);
        const auto idle = kind.log().own("m").value();
        kind.reopen();
        CHECK(kind.log().own("m").value() > idle);
    });
}

TEST_CASE("the same append sent twice is committed once") {
    on_every_log([](LogKind& kind) {
        const auto epoch = kind.log().own("m").value();
        append_records(kind.log(), "m", epoch, 3);
        engine::LogHead end = kind.log().head("m").value();
        const auto batch = engine::chain(engine::testing::records(4, 2, epoch), end);
        const engine::Append request{
            .model = "m", .epoch = epoch, .expected_seq = 3, .batches = {&batch, 1}
        };
        for (int time = 0; time < 2; ++time) {
            const auto outcome = kind.log().append({&request, 1}).front();
            CHECK(outcome.status == AppendStatus::committed);
            CHECK(outcome.seq == 5);
        }
        CHECK(all_records(kind.log(), "m").size() == 5);
    });
}

TEST_CASE("one model's refusal does not hold back the others of its group") {
    on_every_log([](LogKind& kind) {
        EventLog& log = kind.log();
        const std::vector<std::string> names{"a", "b", "c", "a-b"};
        std::vector<engine::ChainedBatch> batches;
        std::vector<engine::Append> requests;
        for (const auto& name : names) {
            const auto epoch = log.own(name).value();
            engine::LogHead end = engine::empty_head(name);
            batches.push_back(engine::chain(engine::testing::records(1, 300, epoch), end));
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            requests.push_back(
                {.model = names[i], .epoch = 1, .expected_seq = 0, .batches = {&batches[i], 1}}
            );
        }
        requests[1].epoch = 7;
        requests[2].expected_seq = 1;
        const auto outcomes = log.append(requests);
        REQUIRE(outcomes.size() == 4);
        CHECK(outcomes[0].status == AppendStatus::committed);
        CHECK(outcomes[1].status == AppendStatus::fenced);
        CHECK(outcomes[2].status == AppendStatus::conflict);
        CHECK(outcomes[3].status == AppendStatus::committed);
        CHECK(log.models().value() == std::vector<std::string>{"a", "a-b"});
        CHECK(engine::testing::chained_up_to(log, "a", 300));
        CHECK(engine::testing::chained_up_to(log, "a-b", 300));
        CHECK(log.head("b").value().seq == 0);
    });
}

TEST_CASE("a record larger than a chunk is kept whole") {
    on_every_log([](LogKind& kind) {
        const auto epoch = kind.log().own("m").value();
        append_records(kind.log(), "m", epoch, 3, 300'000);
        append_records(kind.log(), "m", epoch, 1);
        kind.reopen();
        CHECK(engine::testing::chained_up_to(kind.log(), "m", 4));
        CHECK(all_records(kind.log(), "m").at(1).size() > 300'000);
    });
}

TEST_CASE("the head kept apart follows what was committed") {
    on_every_log([](LogKind& kind) {
        const auto epoch = kind.log().own("m").value();
        append_records(kind.log(), "m", epoch, 3);
        CHECK(kind.log().head_kept_apart("m").value() == kind.log().head("m").value());
        CHECK(kind.log().head_kept_apart("other").value().seq == 0);
        kind.reopen();
        CHECK(kind.log().head_kept_apart("m").value().seq == 3);
        CHECK(kind.log().storage_faults().value().empty());
    });
}

TEST_CASE("seq_at is the last record at or before a moment") {
    on_every_log([](LogKind& kind) {
        EventLog& log = kind.log();
        const auto epoch = log.own("m").value();
        CHECK(engine::seq_at(log, "m", {5000}).value() == 0);
        append_records(log, "m", epoch, 1000);
        CHECK(engine::seq_at(log, "m", {999}).value() == 0);
        CHECK(engine::seq_at(log, "m", {1000}).value() == 1);
        CHECK(engine::seq_at(log, "m", {499'999}).value() == 499);
        CHECK(engine::seq_at(log, "m", {500'000}).value() == 500);
        CHECK(engine::seq_at(log, "m", {9'000'000}).value() == 1000);
    });
}
