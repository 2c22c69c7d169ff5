#include "executor/journal.hpp"
#include "tests/executor/master.hpp"
#include "tests/executor/rig.hpp"
#include "tests/executor/small_disk.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

// An executor whose disk is full, or whose bubblewrap is gone: it begins nothing, says so, and goes
// on when that is over. On a real file system of a few MiB.

namespace {

constexpr const char* no_mounts = "a file system cannot be mounted here";

jobs::Lease once(jobs::Lease lease) {
    lease.job.effect = jobs::Effect::once;
    return lease;
}

/// The fault in the newest introduction.
std::string disk_fault(const std::vector<jobs::SyncRequest>& requests) {
    std::string fault;
    for (const auto& request : requests)
        if (request.introduction) fault = request.introduction->capabilities.disk_fault;
    return fault;
}

jobs::LeaseRef ref(const std::string& id) {
    return {{id}, 5, "default", {{3}, 1}};
}

executor::FinishedJob finished(const std::string& text) {
    executor::FinishedJob finished;
    finished.outcome.standard_output.text = text;
    finished.outcome.standard_output.bytes_total = text.size();
    finished.outcome.standard_output.bytes_kept = text.size();
    finished.outcome.sandbox.backend = "bwrap";
    return finished;
}

}  // namespace

TEST_CASE("on a full disk every job is given back before it begins, and with space the next runs") {
    const rig::SmallDisk disk(4);
    if (!disk.mounted()) return tests::skipped(no_mounts);
    rig::Rig rig(rig::options(disk.work()));
    CHECK(rig.run(rig::bash("echo before")).outcome.outcome_class == jobs::OutcomeClass::done);
    disk.fill();
    for (int i = 0; i < 16; ++i) {
        const auto outcome = rig.run(once(rig::script(jobs::Runtime::sh, "echo ran"))).outcome;
        CHECK(outcome.outcome_class == jobs::OutcomeClass::rejected);
        CHECK(outcome.given_back());
        CHECK(outcome.error->message.contains("is full"));
        CHECK_FALSE(outcome.exit_code);
    }
    const auto now = rig.runner().look_again();
    CHECK(now.disk_fault.contains("is full"));
    CHECK(jobs::why_unfit(now, rig::bash("true").job) == now.disk_fault);
    CHECK_FALSE(jobs::why_unfit(now, rig::lease(jobs::Builtin{"noop"}).job));
    disk.empty();
    CHECK(rig.runner().look_again() == rig.runner().capabilities());
    CHECK(rig.run(rig::script(jobs::Runtime::sh, "echo ran")).outcome.exit_code == 0);
}

TEST_CASE("whatever space is left, a job's output is whole, or its outcome says that it is not") {
    const rig::SmallDisk disk(4);
    if (!disk.mounted()) return tests::skipped(no_mounts);
    rig::Rig rig(rig::options(disk.work()));
    constexpr std::uint64_t bytes = 1'700'000;
    int whole = 0;
    int cut = 0;
    for (std::uint64_t left = 280'000; left < 2'600'000; left += 330'000) {
        disk.fill(left);
        const auto lease = rig::bash("head -c 1700000 /dev/zero | tr '\\0' x");
        const auto outcome = rig.run(lease).outcome;
        CAPTURE(left);
        CHECK(outcome.standard_output.bytes_total == bytes);
        if (outcome.outcome_class == jobs::OutcomeClass::done) {
            ++whole;
            CHECK(outcome.standard_output.bytes_kept == bytes);
        } else {
            ++cut;
            CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
            CHECK(outcome.limits == std::vector{jobs::LimitKind::disk});
            CHECK(outcome.error->message.contains("disk is full"));
            CHECK(outcome.standard_output.truncated());
        }
        rig.runner().remove_spool(lease.id);
        disk.empty();
    }
    CHECK(whole > 0);
    CHECK(cut > 0);
}

TEST_CASE(
    "an executor tells its master that its disk is full, runs nothing, and tells the end of it"
) {
    const rig::SmallDisk disk(4);
    if (!disk.mounted()) return tests::skipped(no_mounts);
    std::filesystem::create_directories(disk.work());
    rig::Master master;
    rig::RunningExecutor executor(master.url(), disk.work());
    const auto first = once(rig::bash("echo one"));
    master.offer(first);
    CHECK(master.outcome(first.id.text).exit_code == 0);
    disk.fill();
    master.wait([](const auto& requests) { return !disk_fault(requests).empty(); });
    // A master that offers jobs all the same gets every one of them back.
    for (int i = 0; i < 16; ++i) {
        const auto lease = once(rig::bash("echo never"));
        master.offer(lease);
        CHECK(master.outcome(lease.id.text).given_back());
    }
    disk.empty();
    master.wait([](const auto& requests) { return disk_fault(requests).empty(); });
    const auto last = once(rig::bash("echo last"));
    master.offer(last);
    CHECK(master.outcome(last.id.text).standard_output.text == "last\n");
    CHECK(executor.stop());
    const auto left = executor::Journal::open(disk.work() / "journal").value()->left();
    CHECK(left.results.empty());
    CHECK(left.lost.empty());
}

TEST_CASE("a journal whose writes fail for a while works again with the disk, and says what is so"
) {
    const rig::SmallDisk disk(1);
    if (!disk.mounted()) return tests::skipped(no_mounts);
    std::filesystem::create_directories(disk.work());
    const auto path = disk.work() / "journal";
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::minstd_rand random(seed);
        std::filesystem::remove(path);
        auto journal = executor::Journal::open(path).value();
        std::map<std::string, std::string> expected;  // lease -> result; "" = lost
        int refused = 0;
        for (int i = 0; i < 60; ++i) {
            if (random() % 5 == 0) disk.fill(random() % 3 * 4096);
            if (random() % 5 == 0) disk.empty();
            const auto id = "L" + std::to_string(i);
            if (!journal->started(ref(id))) {
                ++refused;
                continue;
            }
            expected[id] = "";
            if (random() % 3 == 0) continue;
            const std::string text(random() % 3000, 'x');
            // Kept in memory, and written with what is written next, when it fails now.
            refused += journal->finished(ref(id), finished(text)) ? 0 : 1;
            expected[id] = text;
            if (random() % 3 != 0) continue;
            (void)journal->forgotten({id});
            expected.erase(id);
        }
        disk.empty();
        REQUIRE(journal->started(ref("LAST")));
        expected["LAST"] = "";
        journal.reset();
        const auto left = executor::Journal::open(path).value()->left();
        std::map<std::string, std::string> found;
        for (const auto& lost : left.lost)
            found[lost.lease.text] = "";
        for (const auto& kept : left.results)
            found[kept.ref.lease.text] = kept.finished.outcome.standard_output.text;
        CHECK(found == expected);
        CHECK(refused > 0);
    }
}

TEST_CASE(
    "an executor whose bubblewrap is gone says so, gives jobs back, and heals when it is there"
) {
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path() / "work");
    const auto bwrap = folder.path() / "bwrap";
    std::filesystem::copy_file("/usr/bin/bwrap", bwrap);
    // A slot's user must reach it.
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    options.bwrap = bwrap;
    rig::Rig rig(options);
    if (rig.runner().capabilities().sandbox != "bwrap")
        return tests::skipped("a copy of bubblewrap does not run here");
    std::filesystem::rename(bwrap, folder.path() / "away");
    const auto outcome = rig.run(rig::bash("true")).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::rejected);
    CHECK(outcome.given_back());
    const auto now = rig.runner().look_again();
    CHECK(now.sandbox_fault.contains("bwrap"));
    CHECK(now.runtimes.empty());
    CHECK(jobs::why_unfit(now, rig::bash("true").job).value_or("").contains("no sandbox"));
    std::filesystem::rename(folder.path() / "away", bwrap);
    CHECK(rig.runner().look_again() == rig.runner().capabilities());
    CHECK(rig.run(rig::bash("true")).outcome.exit_code == 0);
}
