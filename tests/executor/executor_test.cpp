#include "executor/journal.hpp"
#include "tests/executor/master.hpp"
#include "tests/executor/rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

// The whole executor against a master, over HTTP, with real sandboxes.

namespace {

/// A sanitizer keeps freed memory, so that flat memory does not show.
constexpr bool memory_is_telling() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#else
    return true;
#endif
}

jobs::Lease durable(jobs::Lease lease) {
    lease.job.effect = jobs::Effect::once;
    return lease;
}

bool has_running(const std::vector<jobs::SyncRequest>& requests, const std::string& lease) {
    return std::ranges::any_of(requests, [&](const auto& request) {
        return std::ranges::any_of(request.running, [&](const auto& running) {
            return running.ref.lease.text == lease && running.usage.wall_ms > 0;
        });
    });
}

}  // namespace

TEST_CASE("a job is leased, run, reported and acknowledged") {
    const base::TemporaryFolder folder;
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    auto lease = durable(rig::script(jobs::Runtime::sh, "cat; echo done"));
    lease.job.input = "{\"a\":1}\n";
    master.offer(lease);
    const auto outcome = master.outcome(lease.id.text);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
    CHECK(outcome.standard_output.text == "{\"a\":1}\ndone\n");
    CHECK(executor.stop());
    const auto first = master.requests().front();
    REQUIRE(first.introduction);
    CHECK(first.introduction->slots == 2);
    CHECK(first.introduction->capabilities.runtimes.contains("sh"));
    // Acknowledged: nothing is left for the next run.
    const auto left = executor::Journal::open(folder.path() / "journal").value()->left();
    CHECK(left.results.empty());
    CHECK(left.lost.empty());
}

TEST_CASE("an idle executor gets a job in the answer to the poll that is open already") {
    const base::TemporaryFolder folder;
    rig::Master master;
    const rig::RunningExecutor executor(master.url(), folder.path());
    // The first is answered at once; the second stays open.
    master.wait([](const auto& requests) { return requests.size() == 2; });
    const auto lease = rig::lease(jobs::Builtin{"noop"});
    master.offer(lease);
    CHECK(master.outcome(lease.id.text).outcome_class == jobs::OutcomeClass::done);
    const auto requests = master.requests();
    const auto replies = master.replies();
    REQUIRE(replies.size() >= 2);
    CHECK(replies[1].seq == 2);
    REQUIRE(replies[1].leases.size() == 1);
    // The third sync has its result already.
    REQUIRE(requests.size() >= 3);
    CHECK(requests[2].done.size() == 1);
}

TEST_CASE("many builtin jobs go back and forth in few syncs") {
    const base::TemporaryFolder folder;
    rig::Master master;
    const rig::RunningExecutor executor(master.url(), folder.path(), 64);
    constexpr std::size_t count = 1000;
    std::string last;
    for (std::size_t i = 0; i < count; ++i) {
        auto lease = rig::lease(jobs::Builtin{"noop"});
        last = lease.id.text;
        master.offer(std::move(lease));
    }
    (void)master.outcome(last);
    CHECK(master.outcomes() == count);
    CHECK(master.requests().size() < count / 4);
}

TEST_CASE("fifty megabytes of output reach the master whole, in flat memory") {
    const base::TemporaryFolder folder;
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    master.wait([](const auto& requests) { return !requests.empty(); });
    auto lease = durable(rig::bash("head -c 50000000 /dev/zero"));
    lease.job.caps.output_bytes = 64 << 20U;
    lease.job.caps.wall_ms = 120'000;
    lease.job.caps.cpu_ms = 120'000;
    const auto before = rig::resident_bytes();
    master.offer(lease);
    const auto outcome = master.outcome(lease.id.text);
    if (memory_is_telling()) CHECK(rig::resident_bytes() - before < 16 << 20U);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
    base::Sha256 hasher;
    const std::string zeros(1'000'000, '\0');
    for (int i = 0; i < 50; ++i)
        hasher.update(zeros);
    const auto expected = hasher.finish();
    CHECK(outcome.standard_output.sha256 == expected);
    CHECK(outcome.standard_output.bytes_kept == 50'000'000);
    const auto [size, sha256] = master.uploaded("stdout");
    CHECK(size == 50'000'000);
    CHECK(sha256 == expected);
    CHECK(executor.stop());
    CHECK(std::filesystem::is_empty(folder.path() / "spool"));
}

TEST_CASE(
    "content that is not inline is fetched in parts, and refused when it is not what was pinned"
) {
    const base::TemporaryFolder folder;
    rig::Master master;
    const rig::RunningExecutor executor(master.url(), folder.path());
    const std::string content = "echo fetched\nexit 0\n#" + std::string(350'000, 'x');
    auto lease = rig::script(jobs::Runtime::sh, content);
    std::get<jobs::Script>(lease.job.binding).content.reset();
    master.put_content(content);
    master.offer(lease);
    CHECK(master.outcome(lease.id.text).standard_output.text == "fetched\n");
    auto altered = rig::script(jobs::Runtime::sh, "echo pinned");
    std::get<jobs::Script>(altered.job.binding).content = "echo other!";
    master.offer(altered);
    const auto outcome = master.outcome(altered.id.text);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::rejected);
    CHECK(outcome.error->code == base::ErrorCode::tamper);
}

TEST_CASE("a result that was not acknowledged is sent again by the next run, unchanged") {
    const base::TemporaryFolder folder;
    const auto lease = durable(rig::bash("echo $RANDOM; head -c 200000 /dev/zero"));
    jobs::Outcome before;
    {
        rig::Master master;
        master.acknowledge(false);
        rig::RunningExecutor executor(master.url(), folder.path());
        master.offer(lease);
        before = master.outcome(lease.id.text);
        // The master is gone for good while the executor stops: it must not wait for ever.
        master.refuse(base::Error{base::ErrorCode::fenced, "ended", {}, {}});
        CHECK_FALSE(executor.wait());
    }
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    const auto after = master.outcome(lease.id.text);
    CHECK(jobs::digest(after) == jobs::digest(before));
    CHECK(master.uploaded("stdout").second == after.standard_output.sha256);
    CHECK(executor.stop());
}

TEST_CASE("leases that were started and have no result are told as lost in the first sync") {
    const base::TemporaryFolder folder;
    const auto ref = rig::lease(jobs::Builtin{"noop"}).ref();
    CHECK(executor::Journal::open(folder.path() / "journal").value()->started(ref));
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    master.wait([](const auto& requests) { return !requests.empty(); });
    const auto first = master.requests().front();
    REQUIRE(first.lost.size() == 1);
    CHECK(first.lost[0] == ref);
    CHECK(executor.stop());
}

TEST_CASE("a cancel reaches the running process and the outcome says so") {
    const base::TemporaryFolder folder;
    rig::Master master;
    const rig::RunningExecutor executor(master.url(), folder.path());
    auto lease = rig::bash("sleep 1000");
    lease.ttl = base::seconds(3);
    lease.job.caps.wall_ms = 600'000;
    master.offer(lease);
    master.wait([&](const auto& requests) { return has_running(requests, lease.id.text); });
    master.cancel(lease.id);
    CHECK(master.outcome(lease.id.text).outcome_class == jobs::OutcomeClass::cancelled);
}

TEST_CASE("an executor that cannot renew a lease ends the job before the lease does") {
    const base::TemporaryFolder folder;
    rig::Master master;
    const rig::RunningExecutor executor(master.url(), folder.path());
    const auto mark = rig::unique_number();
    auto lease = rig::bash("exec sleep " + mark);
    lease.ttl = base::seconds(12);
    lease.job.caps.wall_ms = 600'000;
    master.offer(lease);
    master.wait([&](const auto& requests) { return has_running(requests, lease.id.text); });
    const auto cut = base::system_clock().elapsed();
    master.refuse(base::Error{base::ErrorCode::overloaded, "down", {}, {}});
    while (rig::commands_with("sleep", mark) > 0)
        std::this_thread::yield();
    CHECK(base::system_clock().elapsed() - cut < lease.ttl);
    master.refuse({});
    const auto outcome = master.outcome(lease.id.text);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::interrupted);
    CHECK(outcome.error->message.contains("lease"));
}

TEST_CASE("an executor whose name was taken over stops its jobs and says why") {
    const base::TemporaryFolder folder;
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    auto lease = rig::bash("sleep 1000");
    lease.ttl = base::seconds(3);
    master.offer(lease);
    master.wait([&](const auto& requests) { return has_running(requests, lease.id.text); });
    master.refuse(base::Error{base::ErrorCode::fenced, "a newer session of this executor", {}, {}});
    const auto result = executor.wait();
    REQUIRE_FALSE(result);
    CHECK(result.error().code == base::ErrorCode::fenced);
}

TEST_CASE("a stopped executor finishes what runs and takes nothing new") {
    const base::TemporaryFolder folder;
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    const auto lease = durable(rig::bash("sleep 1; echo finished"));
    master.offer(lease);
    master.wait([&](const auto& requests) {
        return std::ranges::any_of(requests, [](const auto& request) {
            return !request.running.empty();
        });
    });
    CHECK(executor.stop());
    CHECK(master.outcome(lease.id.text).standard_output.text == "finished\n");
    const auto requests = master.requests();
    CHECK(requests.back().draining);
    CHECK(requests.back().capacity == 0);
}

TEST_CASE("an executor that the master does not take for anybody ends, and says what to do") {
    const base::TemporaryFolder folder;
    rig::Master master;
    master.refuse_identity(
        {base::ErrorCode::unauthenticated, "the one-time token was used", "get another one", {}}
    );
    rig::RunningExecutor executor(master.url(), folder.path());
    const auto result = executor.wait();
    REQUIRE_FALSE(result);
    CHECK(result.error().code == base::ErrorCode::unauthenticated);
    CHECK(result.error().message == "the one-time token was used");
    CHECK(
        (std::filesystem::status(folder.path() / "executor.key").permissions() &
         std::filesystem::perms::all) == std::filesystem::perms(0600)
    );
}

TEST_CASE("an executor that is to drain finishes what runs and ends by itself") {
    const base::TemporaryFolder folder;
    rig::Master master;
    rig::RunningExecutor executor(master.url(), folder.path());
    const auto lease = durable(rig::bash("sleep 1; echo finished"));
    master.offer(lease);
    master.wait([&](const auto& requests) { return has_running(requests, lease.id.text); });
    master.drain();
    CHECK(executor.wait());
    CHECK(master.outcome(lease.id.text).standard_output.text == "finished\n");
}

TEST_CASE("an idle executor stops within a second, also when its master is gone") {
    for (const bool gone : {false, true}) {
        const base::TemporaryFolder folder;
        auto master = std::make_unique<rig::Master>();
        rig::RunningExecutor executor(master->url(), folder.path());
        master->wait([](const auto& requests) { return requests.size() >= 2; });
        if (gone) master.reset();
        const auto before = base::system_clock().elapsed();
        CHECK(executor.stop());
        CHECK(base::system_clock().elapsed() - before < base::seconds(1));
    }
}

TEST_CASE("two executors do not work in one folder") {
    const base::TemporaryFolder folder;
    rig::Master master;
    const rig::RunningExecutor first(master.url(), folder.path());
    master.wait([](const auto& requests) { return !requests.empty(); });
    const auto second = executor::run(first.options(), {});
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::ErrorCode::conflict);
}

TEST_CASE("what an executor cannot start with is told at once") {
    const base::TemporaryFolder folder;
    executor::Options options;
    options.master = "http://127.0.0.1:1";
    options.work = folder.path() / "work";
    options.enrolment.token_file = folder.path() / "absent";
    CHECK(executor::run(options, {}).error().code == base::ErrorCode::not_found);
    options.slots = 0;
    CHECK(executor::run(options, {}).error().message.contains("0 slots"));
}
