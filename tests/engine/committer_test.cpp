#include "engine/committer.hpp"

#include "engine/chain.hpp"
#include "engine/memory_log.hpp"
#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

using engine::Committer;
using engine::MemoryLog;
using engine::Pressure;
using engine::Seq;
using engine::testing::records;

namespace {

/// Notes what completions say, in their order.
struct Diary {
    std::vector<std::string> lines;
    Committer::Completion note(std::string who) {
        return [this, who = std::move(who)](const base::Result<Seq>& seq) {
            lines.push_back(
                who + " " + (seq ? std::to_string(*seq) : std::string(base::name(seq.error().code)))
            );
        };
    }
};

}  // namespace

TEST_CASE("the queued records of all models are written by one append") {
    MemoryLog log;
    Committer committer(log);
    Diary diary;
    const auto a = committer.open("a").value();
    const auto b = committer.open("b").value();
    CHECK_FALSE(committer.step());
    CHECK(committer.submit(a.lane, records(1, 2, a.epoch), diary.note("a")) == Pressure::clear);
    CHECK(committer.submit(b.lane, records(1, 1, b.epoch), diary.note("b")) == Pressure::clear);
    CHECK(committer.submit(a.lane, records(3, 3, a.epoch), diary.note("a")) == Pressure::clear);
    CHECK(diary.lines.empty());
    CHECK(committer.durable(a.lane).seq == 0);
    CHECK(committer.step());
    CHECK_FALSE(committer.step());
    CHECK(diary.lines == std::vector<std::string>{"a 2", "a 5", "b 1"});
    CHECK(committer.totals().groups == 1);
    CHECK(committer.totals().records == 6);
    CHECK(committer.durable(a.lane) == log.head("a").value());
    CHECK(engine::testing::chained_up_to(log, "a", 5));
    CHECK(engine::testing::chained_up_to(log, "b", 1));
}

TEST_CASE("a model goes on where its log ends when it is opened") {
    MemoryLog log;
    engine::testing::append_records(log, "m", log.own("m").value(), 4);
    Committer committer(log);
    Diary diary;
    const auto opened = committer.open("m").value();
    CHECK(opened.head == log.head("m").value());
    CHECK(opened.epoch == 2);
    CHECK(committer.durable(opened.lane).seq == 4);
    CHECK(committer.submit(opened.lane, records(5, 1, 2), diary.note("m")));
    committer.step();
    CHECK(engine::testing::chained_up_to(log, "m", 5));
}

TEST_CASE("a failed write fails everything that its models had queued, and stops them") {
    MemoryLog log;
    Committer committer(log, {.group_records_max = 2});
    Diary diary;
    const auto a = committer.open("a").value();
    const auto b = committer.open("b").value();
    log.fail_append(2, MemoryLog::Failure::lost);
    for (Seq seq = 1; seq <= 4; ++seq) {
        CHECK(committer.submit(a.lane, records(seq, 1, a.epoch), diary.note("a")));
    }
    committer.step();
    CHECK(diary.lines == std::vector<std::string>{"a 1", "a 2"});
    CHECK(committer.submit(a.lane, records(5, 1, a.epoch), diary.note("a")));
    while (committer.step()) {
    }
    CHECK(
        diary.lines ==
        std::vector<std::string>{"a 1", "a 2", "a overloaded", "a overloaded", "a overloaded"}
    );
    CHECK(committer.durable(a.lane).seq == 2);
    CHECK_FALSE(committer.health(a.lane));
    CHECK_FALSE(committer.submit(a.lane, records(6, 1, a.epoch), diary.note("a")));
    // Another model was not in the failed group: it lives.
    CHECK(committer.health(b.lane));
    // Reopened, the model goes on from what the log holds.
    log.lose_power();
    const auto again = committer.open("a").value();
    CHECK(again.head.seq == 2);
    CHECK(committer.submit(again.lane, records(3, 1, again.epoch), diary.note("again")));
    committer.step();
    CHECK(diary.lines.back() == "again 3");
    CHECK(engine::testing::chained_up_to(log, "a", 3));
}

TEST_CASE("a model that another writer took over stops as fenced") {
    MemoryLog log;
    Committer committer(log);
    Diary diary;
    const auto opened = committer.open("m").value();
    log.own("m").value();
    CHECK(committer.submit(opened.lane, records(1, 1, opened.epoch), diary.note("m")));
    committer.step();
    CHECK(diary.lines == std::vector<std::string>{"m fenced"});
}

TEST_CASE("a queue over its mark says so, calls when it has drained, and is full at its end") {
    MemoryLog log;
    Committer committer(
        log, {.queue_records_mark = 10, .queue_overrun_max = 2, .group_records_max = 4}
    );
    Diary diary;
    const auto m = committer.open("m").value();
    bool drained = false;
    Seq next = 1;
    const auto submit = [&] {
        auto taken = committer.submit(m.lane, records(next, 1, m.epoch), diary.note("m"));
        if (taken) ++next;
        return taken;
    };
    while (next <= 10)
        CHECK(submit() == Pressure::clear);
    CHECK(submit() == Pressure::over_mark);
    CHECK(committer.pressure(m.lane) == Pressure::over_mark);
    committer.when_drained(m.lane, [&] { drained = true; });
    while (next <= 21)
        CHECK(submit() == Pressure::over_mark);
    const auto refused = submit();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::overloaded);
    for (std::size_t left = 21; left > 5; left -= 4) {
        CHECK_FALSE(drained);
        committer.step();
    }
    CHECK(drained);
    CHECK(committer.pressure(m.lane) == Pressure::clear);
    drained = false;
    committer.when_drained(m.lane, [&] { drained = true; });
    committer.step();
    CHECK(drained);
}

TEST_CASE("what a closed model had queued is cancelled, behind what was before it") {
    MemoryLog log;
    Committer committer(log, {.group_records_max = 1});
    Diary diary;
    const auto m = committer.open("m").value();
    CHECK(committer.submit(m.lane, records(1, 1, m.epoch), diary.note("m")));
    CHECK(committer.submit(m.lane, records(2, 1, m.epoch), diary.note("m")));
    committer.step();
    committer.close(m.lane);
    while (committer.step()) {
    }
    CHECK(diary.lines == std::vector<std::string>{"m 1", "m cancelled"});
    CHECK_FALSE(committer.submit(m.lane, records(2, 1, m.epoch), diary.note("m")));
    CHECK(log.head("m").value().seq == 1);
}

TEST_CASE("a busy model does not keep the others from being written") {
    MemoryLog log;
    Committer committer(log, {.group_records_max = 10});
    Diary diary;
    const auto busy = committer.open("busy").value();
    const auto quiet = committer.open("quiet").value();
    Seq next = 1;
    for (; next <= 50; ++next) {
        CHECK(committer.submit(busy.lane, records(next, 1, busy.epoch), {}));
    }
    CHECK(committer.submit(quiet.lane, records(1, 1, quiet.epoch), diary.note("quiet")));
    for (int i = 0; i < 2; ++i)
        committer.step();
    CHECK(diary.lines == std::vector<std::string>{"quiet 1"});
}

TEST_CASE("threads submit to many models while one thread commits") {
    MemoryLog log;
    Committer committer(log);
    constexpr Seq rounds = 300;
    std::vector<std::promise<void>> finished(4);
    {
        const engine::CommitThread thread(committer);
        std::vector<std::jthread> writers;
        for (std::size_t i = 0; i < finished.size(); ++i) {
            writers.emplace_back([&, i] {
                const auto m = committer.open("m" + std::to_string(i)).value();
                for (Seq seq = 1; seq <= rounds; ++seq) {
                    auto done = [&, i](const base::Result<Seq>& at) {
                        if (at && *at == rounds) finished[i].set_value();
                    };
                    CHECK(committer.submit(m.lane, records(seq, 1, m.epoch), std::move(done)));
                }
            });
        }
        for (auto& promise : finished)
            promise.get_future().wait();
    }
    for (std::size_t i = 0; i < finished.size(); ++i) {
        CHECK(engine::testing::chained_up_to(log, "m" + std::to_string(i), rounds));
    }
    CHECK(committer.totals().records == rounds * finished.size());
}
