#include "executor/cgroups.hpp"
#include "executor/public_folder.hpp"
#include "executor/spawner.hpp"
#include "tests/executor/rig.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// Machines that lack something: less is promised, and what is promised is kept.

namespace {

namespace files = std::filesystem;

void put(const files::path& file, const std::string& text = "") {
    files::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << text;
}

std::string text_of(const files::path& file) {
    return base::read_file(file, 4096).value_or("?");
}

executor::RunnerOptions without_bwrap(const files::path& work) {
    auto options = rig::options(work);
    options.bwrap = "/nonexistent/bwrap";
    return options;
}

}  // namespace

TEST_CASE("without cgroups CPU and memory are watched, and a memory bomb is still ended") {
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.use_cgroups = false;
    rig::Rig rig(options);
    CHECK(rig.runner().capabilities().cgroup == "none");
    CHECK(rig.runner().capabilities().enforced.at("memory") == "watched");
    auto bomb = rig::bash("x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 1000");
    bomb.job.caps.memory_mb = 64;
    const auto outcome = rig.run(bomb).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::limit);
    CHECK(outcome.limits == std::vector{jobs::LimitKind::memory});
    auto spin = rig::bash("(while :; do :; done) & while :; do :; done");
    spin.job.caps.cpu_ms = 500;
    CHECK(rig.run(spin).outcome.limits == std::vector{jobs::LimitKind::cpu});
}

TEST_CASE("without cgroups a slot's own user keeps a fork bomb small") {
    if (!rig::root()) return tests::skipped("slot users need an executor that runs as root");
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.use_cgroups = false;
    rig::Rig rig(options);
    CHECK(rig.runner().capabilities().enforced.at("pids") == "rlimit");
    auto lease = rig::script(
        jobs::Runtime::sh, "i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; sleep 1000"
    );
    lease.job.caps.pids = 20;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.standard_error.text.contains("Cannot fork"));
    CHECK(outcome.outcome_class == jobs::OutcomeClass::job);
}

TEST_CASE("without bwrap process jobs are refused with the reason, and builtins still run") {
    const base::TemporaryFolder folder;
    rig::Rig rig(without_bwrap(folder.path()));
    const auto& capabilities = rig.runner().capabilities();
    CHECK(capabilities.sandbox == "none");
    CHECK(capabilities.runtimes.empty());
    CHECK(capabilities.sandbox_fault.contains("No such file"));
    const auto outcome = rig.run(rig::bash("true")).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::rejected);
    CHECK(outcome.error->code == base::ErrorCode::sandbox_unavailable);
    auto noop = rig::lease(jobs::Builtin{"noop"});
    noop.job.args = "{\"a\":1}";
    CHECK(rig.run(noop).outcome.standard_output.text == "{\"a\":1}");
}

TEST_CASE("a missing helper program is a missing sandbox, with the reason") {
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.helper = "/nonexistent/helper";
    rig::Rig rig(options);
    CHECK(rig.runner().capabilities().sandbox_fault.contains("/nonexistent/helper"));
}

TEST_CASE("unsandboxed jobs run only when allowed, say so, and are cleared up all the same") {
    for (const bool cgroups : {true, false}) {
        CAPTURE(cgroups);
        const base::TemporaryFolder folder;
        auto options = without_bwrap(folder.path());
        options.allow_unsandboxed = true;
        options.use_cgroups = cgroups;
        rig::Rig rig(options);
        const auto mark = std::to_string(700'000 + ::getpid() % 100'000) + (cgroups ? "1" : "2");
        const auto outcome =
            rig.run(rig::script(
                        jobs::Runtime::sh,
                        "setsid sleep " + mark + " & echo $HOME; touch x; ls; id -u; exit 4"
                    ))
                .outcome;
        CAPTURE(outcome.standard_error.text);
        CHECK(outcome.exit_code == 4);
        CHECK(outcome.sandbox.backend == "none");
        CHECK(outcome.standard_output.text.contains("x\n"));
        if (rig::root()) CHECK_FALSE(outcome.standard_output.text.ends_with("\n0\n"));
        const auto home =
            outcome.standard_output.text.substr(0, outcome.standard_output.text.find('\n'));
        CHECK(home.contains("netwright-jobs-"));
        CHECK_FALSE(files::exists(home));
        for (const auto& entry : files::directory_iterator("/proc")) {
            const auto line = base::read_file(entry.path() / "cmdline", 4096);
            CHECK_FALSE((line && *line == std::string("sleep\0", 6) + mark + '\0'));
        }
    }
}

TEST_CASE("an unsandboxed job that ignores TERM is killed with all its children") {
    const base::TemporaryFolder folder;
    auto options = without_bwrap(folder.path());
    options.allow_unsandboxed = true;
    options.use_cgroups = false;
    rig::Rig rig(options);
    auto lease =
        rig::bash("trap '' TERM; (setsid bash -c 'trap \"\" TERM; sleep 1000' &); sleep 1000");
    lease.job.caps.wall_ms = 500;
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.limits == std::vector{jobs::LimitKind::wall});
    CHECK(outcome.signal == 9);
}

TEST_CASE("cgroups v2 are set, read and killed by the files of one group") {
    const base::TemporaryFolder root;
    const auto parent = root.path() / "netwright-x";
    put(root.path() / "cgroup.controllers", "cpu memory pids");
    put(root.path() / "cgroup.subtree_control");
    put(parent / "cgroup.subtree_control");
    for (const char* file :
         {"memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.procs", "cgroup.kill"}) {
        put(parent / "job" / file);
    }
    put(parent / "job" / "cpu.stat", "usage_usec 5000\nuser_usec 4000\n");
    put(parent / "job" / "memory.peak", "1000\n");
    put(parent / "job" / "memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
    put(parent / "job" / "pids.peak", "7\n");
    put(parent / "job" / "pids.events", "max 3\n");
    put(parent / "job" / "cgroup.events", "populated 1\nfrozen 0\n");
    auto cgroups = executor::cgroups_v2({root.path(), "netwright-x", "/"}).value();
    CHECK(cgroups->flavour() == "v2");
    CHECK(text_of(root.path() / "cgroup.subtree_control") == "+memory +pids +cpu");
    CHECK(text_of(parent / "cgroup.subtree_control") == "+memory +pids +cpu");
    {
        const auto group = cgroups->make("job", {64 << 20U, 20, 1.5}).value();
        CHECK(text_of(parent / "job" / "memory.max") == "67108864");
        CHECK(text_of(parent / "job" / "memory.swap.max") == "0");
        CHECK(text_of(parent / "job" / "pids.max") == "20");
        CHECK(text_of(parent / "job" / "cpu.max") == "150000 100000");
        const auto usage = group->usage();
        CHECK(usage.cpu_us == 5000);
        CHECK(usage.memory_peak_bytes == 1000);
        CHECK(usage.memory_kills == 1);
        CHECK(usage.pids_peak == 7);
        CHECK(usage.pids_refused == 3);
        CHECK_FALSE(group->empty());
        put(parent / "job" / "cgroup.events", "populated 0\n");
        CHECK(group->empty());
        group->kill();
        CHECK(text_of(parent / "job" / "cgroup.kill") == "1");
        CHECK(group->entries().size() == 1);
    }
}

TEST_CASE("cgroups v2 below a group of one's own move this process into a leaf first") {
    const base::TemporaryFolder root;
    const auto own = root.path() / "system.slice" / "nw.service";
    put(own / "cgroup.subtree_control");
    put(own / "netwright-executor" / "cgroup.procs");
    put(own / "p" / "cgroup.subtree_control");
    REQUIRE(executor::cgroups_v2({root.path(), "p", "/system.slice/nw.service"}));
    CHECK(text_of(own / "netwright-executor" / "cgroup.procs") == "0");
    CHECK(text_of(own / "cgroup.subtree_control") == "+memory +pids +cpu");
}

TEST_CASE("without a delegated group the reason and the way out are told") {
    const base::TemporaryFolder root;
    put(root.path() / "cgroup.controllers", "cpu memory pids");
    const auto cgroups = executor::find_cgroups({root.path(), "p", "/"});
    REQUIRE_FALSE(cgroups);
    CHECK(cgroups.error().next.contains("Delegate=yes"));
}

TEST_CASE("pure v1 without a unified mount freezes, kills and thaws") {
    const base::TemporaryFolder root;
    for (const char* controller : {"memory", "pids", "freezer"})
        put(root.path() / controller / "p" / "job" / "cgroup.procs");
    put(root.path() / "memory" / "p" / "job" / "memory.limit_in_bytes");
    put(root.path() / "pids" / "p" / "job" / "pids.max");
    put(root.path() / "freezer" / "p" / "job" / "freezer.state");
    auto cgroups = executor::cgroups_v1({root.path(), "p", "/"}).value();
    CHECK(cgroups->flavour() == "v1");
    CHECK_FALSE(cgroups->enforced().contains("cpus"));
    const auto group = cgroups->make("job", {1 << 20U, 5, 1}).value();
    CHECK(group->empty());
    CHECK(group->entries().size() == 3);
    // A process that exists, is ours, and may die.
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;)
            ::pause();
    }
    put(root.path() / "pids" / "p" / "job" / "cgroup.procs", std::to_string(child) + "\n");
    CHECK_FALSE(group->empty());
    group->kill();
    CHECK(text_of(root.path() / "freezer" / "p" / "job" / "freezer.state") == "THAWED");
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("a program whose texts hold a zero byte is not started: they would shift") {
    const std::string zero("a\0b", 3);
    const executor::Program good{.path = "/bin/sh", .argv = {"sh"}, .env = {"A=a"}, .folder = "/"};
    CHECK(executor::program_file(good));
    auto argument = good;
    argument.argv.push_back(zero);
    auto setting = good;
    setting.env.push_back(zero);
    for (const auto& program : {argument, setting})
        CHECK_FALSE(executor::program_file(program));
}

TEST_CASE("a public folder that nobody holds any more is removed by the next executor") {
    const base::TemporaryFolder parent;
    put(parent.path() / "netwright-etc-0123456789abcdef" / "passwd");
    put(parent.path() / "netwright-jobs-0123456789abcdef" / "kept");
    auto first = executor::PublicFolder::make(parent.path(), "etc", "/work/a").value();
    CHECK_FALSE(files::exists(parent.path() / "netwright-etc-0123456789abcdef"));
    CHECK(files::exists(parent.path() / "netwright-jobs-0123456789abcdef"));
    {
        const auto second = executor::PublicFolder::make(parent.path(), "etc", "/work/b").value();
        CHECK(files::is_directory(first.path()));
        CHECK(files::is_directory(second.path()));
        // In use, by an executor of another container with the same work folder: not taken over.
        const auto third = executor::PublicFolder::make(parent.path(), "etc", "/work/a").value();
        CHECK(files::is_directory(first.path()));
        CHECK(third.path() != first.path());
    }
    CHECK(std::distance(files::directory_iterator(parent.path()), {}) == 2);
}

TEST_CASE("what a killed executor left in its cgroups is killed and removed at the next start") {
    const base::TemporaryFolder folder;
    const auto options = rig::options(folder.path());
    auto cgroups = executor::find_cgroups(options.cgroups);
    if (!cgroups) {
        tests::skipped("no cgroups here: " + cgroups.error().message);
        return;
    }
    auto group = (*cgroups)->make("left", {64 << 20U, 10, 1}).value();
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;)
            ::pause();
    }
    for (const int entry : group->entries())
        CHECK(base::write_all(entry, std::to_string(child)));
    CHECK_FALSE(group->empty());
    // The group object of a killed executor never ends. It is held for good, so it is no leak.
    static const void* const left = group.release();
    CHECK(left != nullptr);
    CHECK(executor::find_cgroups(options.cgroups).value()->sweep() == 1);
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(WTERMSIG(status) == SIGKILL);
}
