#include "tests/executor/rig.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

// Everything that a job may try and that must stay inside.

namespace {

bool hit(const jobs::Outcome& outcome, jobs::LimitKind limit) {
    return std::ranges::find(outcome.limits, limit) != outcome.limits.end();
}

bool cgroups_left(const executor::RunnerOptions& options) {
    std::error_code failed;
    for (const char* controller : {"memory", "pids", "cpu", "cpuacct", "unified"}) {
        const auto parent = options.cgroups.root / controller / options.cgroups.parent;
        for (const auto& entry : std::filesystem::directory_iterator(parent, failed)) {
            if (entry.is_directory()) return true;
        }
    }
    return false;
}

bool memory_by_cgroup(rig::Rig& rig) {
    const auto& enforced = rig.runner().capabilities().enforced;
    const auto found = enforced.find("memory");
    const bool enforced_here = found != enforced.end() && found->second == "cgroup";
    if (!enforced_here) tests::skipped("memory is not capped by a cgroup here");
    return enforced_here;
}

}  // namespace

TEST_CASE("a fork bomb ends with its wall clock, stays below its pids and leaves nobody behind") {
    rig::Rig rig;
    const auto mark = rig::unique_number();
    auto lease = rig::bash("bomb() { bomb | bomb & }; bomb; sleep 9 # " + mark);
    lease.job.caps.wall_ms = 1500;
    lease.job.caps.pids = 32;
    const auto outcome = rig.run(lease).outcome;
    CHECK(hit(outcome, jobs::LimitKind::pids));
    CHECK(rig::processes_with(mark) == 0);
    CHECK_FALSE(cgroups_left(rig.options_used()));
}

TEST_CASE("a memory bomb is killed, and its outcome says so") {
    rig::Rig rig;
    if (!memory_by_cgroup(rig)) return;
    auto lease = rig::bash("x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo ${#x}");
    lease.job.caps.memory_mb = 64;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
    CHECK(hit(outcome, jobs::LimitKind::memory));
    CHECK(outcome.usage.memory_peak_bytes > 32 << 20U);
    CHECK(outcome.usage.memory_peak_bytes <= 64 << 20U);
}

TEST_CASE("a memory bomb in a child is a limit although the shell exits with 0") {
    rig::Rig rig;
    if (!memory_by_cgroup(rig)) return;
    auto lease = rig::bash("(x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo ${#x}); exit 0");
    lease.job.caps.memory_mb = 64;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
    CHECK(outcome.error->code == base::ErrorCode::limit);
    CHECK(hit(outcome, jobs::LimitKind::memory));
}

TEST_CASE("filling the file systems ends with an error inside and touches no disk outside") {
    rig::Rig rig;
    auto lease = rig::bash(R"script(
        for f in /tmp/f /dev/shm/f /job/f; do
            head -c 200000000 /dev/zero > $f 2>/dev/null && echo "no end: $f"
            rm -f $f
        done
    )script");
    lease.job.caps.artifact_bytes = 16 << 20U;
    const auto outcome = rig.run(lease).outcome;
    CHECK_FALSE(outcome.standard_output.text.contains("no end"));
    CHECK(std::filesystem::is_empty(rig.work() / "spool"));
}

TEST_CASE("a sparse file of a terabyte cannot be made") {
    rig::Rig rig;
    const auto outcome = rig.run(rig::bash("truncate -s 1T /job/f; echo $?")).outcome;
    CHECK(outcome.standard_output.text != "0\n");
}

TEST_CASE("a hundred thousand small files stay inside and go with the job") {
    rig::Rig rig;
    auto lease =
        rig::bash("cd /job; for i in {1..100000}; do : > f$i; done 2>/dev/null; echo over");
    lease.job.caps.wall_ms = 60'000;
    lease.job.caps.cpu_ms = 60'000;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
    CHECK_FALSE(cgroups_left(rig.options_used()));
}

TEST_CASE("floods on both streams are drained in flat memory: head and tail kept, the rest counted"
) {
    rig::Rig rig;
    auto lease = rig::bash(
        "(echo first; head -c 100000000 /dev/zero | tr '\\0' a; echo last) &"
        "(echo uno >&2; head -c 50000000 /dev/zero | tr '\\0' b >&2; echo ultimo >&2); wait"
    );
    lease.job.caps.output_bytes = 1 << 20U;
    lease.job.caps.wall_ms = 120'000;
    lease.job.caps.cpu_ms = 120'000;
    const auto before = rig::resident_bytes();
    const auto finished = rig.run(lease);
    CHECK(rig::resident_bytes() - before < 8 << 20U);
    const auto& outcome = finished.outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
    CHECK(hit(outcome, jobs::LimitKind::output));
    const auto& out = outcome.standard_output;
    CHECK(out.bytes_total == 100'000'011);
    CHECK(out.bytes_kept == 1 << 20U);
    CHECK(out.truncated());
    CHECK(out.text.starts_with("first\naaa"));
    CHECK(out.tail.ends_with("aaalast\n"));
    CHECK(outcome.standard_error.bytes_total == 50'000'011);
    CHECK(outcome.standard_error.tail.ends_with("bbbultimo\n"));
    REQUIRE(finished.stdout_spool);
    const auto kept = base::read_file(*finished.stdout_spool, 2 << 20U).value();
    CHECK(kept.size() == out.bytes_kept);
    CHECK(base::sha256(kept) == *out.sha256);
    CHECK(kept.substr(out.bytes_head).ends_with("last\n"));
}

TEST_CASE("fifty megabytes of output below the cap are kept whole in flat memory") {
    rig::Rig rig;
    auto lease = rig::bash("head -c 50000000 /dev/zero");
    lease.job.caps.output_bytes = 64 << 20U;
    lease.job.caps.wall_ms = 120'000;
    const auto before = rig::resident_bytes();
    const auto finished = rig.run(lease);
    CHECK(rig::resident_bytes() - before < 8 << 20U);
    const auto& out = finished.outcome.standard_output;
    CHECK(out.bytes_kept == 50'000'000);
    CHECK_FALSE(out.truncated());
    REQUIRE(finished.stdout_spool);
    CHECK(std::filesystem::file_size(*finished.stdout_spool) == 50'000'000);
    base::Sha256 hasher;
    const std::string zeros(1'000'000, '\0');
    for (int i = 0; i < 50; ++i)
        hasher.update(zeros);
    CHECK(*out.sha256 == hasher.finish());
}

TEST_CASE("a daemon that holds stdout open does not hold the job open, and dies with it") {
    rig::Rig rig;
    const auto mark = rig::unique_number();
    auto lease = rig::bash("(setsid sleep " + mark + " &) ; echo started");
    lease.job.caps.wall_ms = 60'000;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
    CHECK(outcome.standard_output.text == "started\n");
    CHECK(outcome.duration_ms < 50'000);
    CHECK(rig::processes_with(mark) == 0);
}

TEST_CASE("a job that ignores TERM is killed after its grace") {
    rig::Rig rig;
    const auto mark = rig::unique_number();
    auto lease = rig::bash("trap '' TERM; echo ready; while :; do sleep " + mark + "; done");
    lease.job.caps.wall_ms = 1000;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
    CHECK(outcome.error->code == base::ErrorCode::timeout);
    CHECK(hit(outcome, jobs::LimitKind::wall));
    CHECK(rig::processes_with(mark) == 0);
}

TEST_CASE("a job that handles TERM has its grace, and its exit status is reported") {
    auto options_folder = base::TemporaryFolder();
    auto options = rig::options(options_folder.path());
    options.grace = base::seconds(60);
    rig::Rig rig(options);
    auto lease =
        rig::bash("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 1000; done");
    lease.job.caps.wall_ms = 1500;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
    CHECK(outcome.exit_code == 7);
    CHECK(outcome.standard_output.text == "ready\nbye\n");
}

TEST_CASE("a cancelled job is told, and its outcome is cancelled") {
    rig::Rig rig;
    executor::JobControl control;
    std::thread canceller([&] {
        while (control.view().phase != jobs::Phase::running || control.view().usage.cpu_ms == 0)
            std::this_thread::yield();
        control.stop({executor::StopReason::requested, base::seconds(60)});
    });
    const auto outcome =
        rig.run(rig::bash("trap 'exit 5' TERM; while :; do :; done"), control).outcome;
    canceller.join();
    CHECK(outcome.outcome_class == jobs::OutcomeClass::cancelled);
    CHECK(outcome.error->code == base::ErrorCode::cancelled);
    CHECK((outcome.exit_code == 5 || outcome.signal == 15));
}

TEST_CASE("a job that is cancelled while its sandbox is being made gets its TERM all the same") {
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.grace = base::seconds(60);
    rig::Rig rig(options);
    executor::JobControl control;
    auto lease = rig::bash("exec sleep 1000");
    lease.job.caps.wall_ms = 600'000;
    const auto outcome =
        rig.runner()
            .run(
                {lease,
                 0,
                 {},
                 [&]() -> base::Result<void> {
                     control.stop({executor::StopReason::requested, base::seconds(60)});
                     return {};
                 }},
                control
            )
            .outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::cancelled);
    CHECK(outcome.signal == SIGTERM);
}

TEST_CASE("a job cancelled before it starts never starts") {
    rig::Rig rig;
    executor::JobControl control;
    control.stop({executor::StopReason::requested, {}});
    const auto outcome = rig.run(rig::bash("echo ran"), control).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::cancelled);
    CHECK(outcome.standard_output.bytes_total == 0);
}

namespace {

/// The parent of the process that was called as `sleep mark`: the pid 1 of its sandbox.
std::optional<std::string> parent_of_sleep(const std::string& mark) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
        const auto line = base::read_file(entry.path() / "cmdline", 65536);
        if (!line || *line != "sleep" + std::string(1, '\0') + mark + '\0') continue;
        const auto status = base::read_file(entry.path() / "status", 65536);
        if (!status) continue;
        const auto at = status->find("PPid:\t") + 6;
        return status->substr(at, status->find('\n', at) - at);
    }
    return std::nullopt;
}

bool has_ended(const std::string& pid) {
    const auto status = base::read_file("/proc/" + pid + "/status", 65536);
    return !status || status->contains("State:\tZ");
}

/// Stands still, when it is told to, until the job that was just started has ended; then orders it
/// to stop.
class LateOrder final : public base::Clock {
public:
    [[nodiscard]] base::Timestamp now() const override { return base::system_clock().now(); }
    [[nodiscard]] base::Duration elapsed() const override {
        if (const auto init = armed_ ? parent_of_sleep(mark) : std::nullopt) {
            // It reports the exit before it ends itself.
            while (!has_ended(*init))
                std::this_thread::yield();
            armed_ = false;
            control.stop({reason, {}});
        }
        return base::system_clock().elapsed();
    }
    void arm() { armed_ = true; }
    [[nodiscard]] bool given() const { return control.stop_order().has_value(); }

    std::string mark = "0." + rig::unique_number();
    mutable executor::JobControl control;
    executor::StopReason reason = executor::StopReason::lease;

private:
    mutable bool armed_ = false;
};

}  // namespace

TEST_CASE("an exit that came before the order to stop is the job's outcome") {
    for (const auto reason :
         {executor::StopReason::lease,
          executor::StopReason::shutdown,
          executor::StopReason::requested}) {
        const base::TemporaryFolder folder;
        LateOrder clock;
        clock.reason = reason;
        auto runner = executor::JobRunner::start(rig::options(folder.path()), clock);
        REQUIRE(runner);
        auto lease = rig::bash("exec sleep " + clock.mark);
        clock.arm();
        const auto outcome = (*runner)->run({lease, 0, {}, {}}, clock.control).outcome;
        REQUIRE(clock.given());
        CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
        CHECK(outcome.exit_code == 0);
    }
}

TEST_CASE("CPU time of threads and forks together is capped") {
    rig::Rig rig;
    auto lease = rig::bash("for i in 1 2 3; do (while :; do :; done) & done; wait");
    lease.job.caps.cpu_ms = 600;
    lease.job.caps.wall_ms = 60'000;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
    CHECK(hit(outcome, jobs::LimitKind::cpu));
    CHECK(outcome.duration_ms < 60'000);
    CHECK(outcome.usage.cpu_ms >= 600);
}

TEST_CASE("zombies are buried by pid 1 and do not outlive the job") {
    rig::Rig rig;
    // Orphans that end: without somebody who reaps they would fill the pids.
    auto lease = rig::bash(
        "for i in {1..60}; do (true & ) ; done; sleep 0.3; grep -l '^State:.Z' /proc/[0-9]*/status "
        "| wc -l"
    );
    lease.job.caps.pids = 100;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.standard_output.text == "0\n");
}

TEST_CASE("invalid UTF-8 in the output comes back byte by byte") {
    rig::Rig rig;
    const auto outcome = rig.run(rig::bash("printf '\\xff\\xfea\\x00b'")).outcome;
    CHECK(
        outcome.standard_output.text == std::string(
                                            "\xff\xfe"
                                            "a\0b",
                                            5
                                        )
    );
    CHECK(jobs::outcome_from_json(jobs::to_json(outcome)) == outcome);
}

TEST_CASE("a sandbox that is killed from outside is not taken for a failure of the set-up") {
    rig::Rig rig;
    executor::JobControl control;
    const auto mark = rig::unique_number();
    std::thread killer([&] {
        // Its pid 1, which is the parent of the job: the job itself is ended by the kernel then.
        while (rig::commands_with("sleep", mark) == 0)
            std::this_thread::yield();
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto line = base::read_file(entry.path() / "cmdline", 65536);
            if (!line || *line != std::string("sleep\0", 6) + mark + '\0') continue;
            const auto stat = base::read_file(entry.path() / "stat", 4096).value();
            const auto parent = std::stoi(stat.substr(stat.rfind(')') + 4));
            ::kill(parent, SIGKILL);
        }
    });
    const auto outcome = rig.run(rig::bash("exec sleep " + mark), control).outcome;
    killer.join();
    CHECK(outcome.outcome_class == jobs::OutcomeClass::job);
    CHECK(outcome.error->message.contains("killed from outside"));
}

TEST_CASE("when the fork server dies, everything in its sandboxes dies") {
    const auto mark = rig::unique_number();
    {
        const base::TemporaryFolder folder;
        auto spawner = executor::Spawner::start(rig::helper()).value();
        auto sandbox =
            executor::Sandbox::open({"/usr/bin/bwrap", rig::helper(), folder.path()}).value();
        const base::FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        const int n = null.value();
        auto prepared = sandbox.prepare(
            {{"/usr/bin/sleep", {"sleep", mark}, {}, "/job"}, {}, {}, {}, 1 << 20U}, {n, n, n, n, n}
        );
        REQUIRE(prepared);
        if (rig::root()) prepared->order.uid = rig::options(folder.path()).slot_uid_base;
        REQUIRE(spawner->spawn(prepared->order));
        while (rig::commands_with("sleep", mark) == 0)
            std::this_thread::yield();
    }
    for (int i = 0; i < 1000 && rig::processes_with(mark) > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(rig::processes_with(mark) == 0);
}
