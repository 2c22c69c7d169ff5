#include "base/log.hpp"
#include "base/random.hpp"
#include "executor/health.hpp"
#include "executor/job_runner.hpp"
#include "executor/probe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <pwd.h>
#include <string_view>
#include <system_error>
#include <utility>

namespace executor {

namespace {

constexpr const char* executor_version = "0.1.0";
constexpr std::size_t version_bytes_max = 100;

namespace files = std::filesystem;

std::string first_line(std::string text) {
    text.resize(std::min(text.size(), text.find('\n')));
    if (text.starts_with("Python ")) text.erase(0, 7);
    return base::preview_head(text, version_bytes_max);
}

}  // namespace

base::Result<std::unique_ptr<JobRunner>> JobRunner::start(
    const RunnerOptions& options, const base::Clock& clock
) {
    auto cache = ScriptCache::open(options.work / "cache");
    if (!cache) return base::fail(cache.error());
    std::unique_ptr<JobRunner> runner(new JobRunner(options, clock, std::move(*cache)));
    if (auto made = runner->prepare_folders(); !made) return base::fail(made.error());
    if (auto good = runner->check_slot_users(); !good) return base::fail(good.error());
    auto& capabilities = runner->capabilities_;
    capabilities.version = executor_version;
    capabilities.builtins = {"noop"};
    capabilities.cpus = machine_cpus();
    capabilities.memory_mb = machine_memory_mb();
    capabilities.networks = {"deny"};
    runner->find_group_support();
    runner->find_sandbox();
    runner->find_runtimes();
    return runner;
}

base::Result<void> JobRunner::prepare_folders() const {
    std::error_code failed;
    const auto spool = options_.work / "spool";
    files::create_directories(spool, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, fmt::format("make {}: {}", spool.string(), failed.message())
        );
    }
    files::permissions(spool, files::perms::owner_all, failed);
    return {};
}

base::Result<void> JobRunner::check_slot_users() const {
    if (!root_) return {};
    if (options_.slot_uid_base == 0) {
        return base::fail(
            base::ErrorCode::validation, "slot users must not begin at 0, which is root"
        );
    }
    for (std::int64_t slot = 0; slot < options_.slots; ++slot) {
        const auto uid = options_.slot_uid_base + static_cast<std::uint32_t>(slot);
        if (::getpwuid(uid) != nullptr) {
            return base::fail(
                base::ErrorCode::validation,
                fmt::format("user {} exists: jobs must not run as somebody", uid),
                "choose another first user for the slots"
            );
        }
    }
    return {};
}

void JobRunner::find_group_support() {
    capabilities_.cgroup = "none";
    capabilities_.enforced = {
        {"wall", "watched"}, {"cpu", "watched"}, {"output", "watched"}, {"disk", "tmpfs"}
    };
    auto cgroups = options_.use_cgroups ? find_cgroups(options_.cgroups)
                                        : base::fail(base::ErrorCode::unsupported, "switched off");
    if (cgroups) {
        cgroups_ = std::move(*cgroups);
        const auto swept = cgroups_->sweep();
        if (swept > 0) base::log_warning(fmt::format("killed {} jobs of an earlier run", swept));
        capabilities_.cgroup = cgroups_->flavour();
        for (const auto& [cap, by] : cgroups_->enforced())
            capabilities_.enforced[cap] = by;
        return;
    }
    base::log_warning("no cgroups: " + cgroups.error().message);
    capabilities_.enforced["memory"] = "watched";
    // RLIMIT_NPROC counts all processes of a user: it caps a job only when the slot has its own.
    if (root_) capabilities_.enforced["pids"] = "rlimit";
}

void JobRunner::find_sandbox() {
    capabilities_.sandbox = "none";
    auto spawner = Spawner::start(options_.helper);
    if (!spawner) {
        capabilities_.sandbox_fault = spawner.error().message;
        base::log_error("no process jobs: " + spawner.error().message);
        return;
    }
    spawner_ = std::move(*spawner);
    auto sandbox = Sandbox::open({options_.bwrap, options_.helper, options_.work});
    const auto trial = [&]() -> base::Result<std::string> {
        if (!sandbox) return base::fail(sandbox.error());
        sandbox_ = std::move(*sandbox);
        return try_program({"/usr/bin/bwrap", {"bwrap", "--version"}});
    }();
    if (trial) {
        capabilities_.sandbox = "bwrap";
        capabilities_.sandbox_version = *trial;
        return;
    }
    sandbox_.reset();
    capabilities_.sandbox_fault = trial.error().message;
    base::log_warning("no sandbox: " + trial.error().message);
    if (options_.allow_unsandboxed) allow_unsandboxed();
    if (host_jobs_.path().empty()) spawner_.reset();
}

void JobRunner::allow_unsandboxed() {
    auto folder = PublicFolder::make(files::temp_directory_path(), "jobs", options_.work);
    if (!folder) {
        base::log_error("no process jobs: " + folder.error().message);
        return;
    }
    host_jobs_ = std::move(*folder);
    capabilities_.enforced.erase("disk");
    base::log_warning("process jobs run without a sandbox: --allow-unsandboxed was given");
}

void JobRunner::find_runtimes() {
    if (!spawner_) return;
    for (const auto runtime : options_.runtimes) {
        const auto command = find_runtime(runtime);
        if (!command) continue;
        const auto version = try_program(*command);
        if (version) {
            capabilities_.runtimes.emplace(jobs::name(runtime), *version);
        } else {
            base::log_warning(
                fmt::format("{} does not run here: {}", command->path, version.error().message)
            );
        }
    }
}

jobs::Capabilities JobRunner::look_again() {
    const std::scoped_lock lock(looking_);
    auto now = capabilities_;
    const bool suspect = suspect_.exchange(false);
    now.disk_fault = disk_shortage(options_.work);
    if (now.disk_fault.empty() && suspect) now.disk_fault = disk_refusal(options_.work);
    auto fault = spawner_ && now.disk_fault.empty() ? sandbox_fault(suspect) : std::string{};
    if (!fault.empty()) {
        now.runtimes.clear();
        now.sandbox = "none";
        now.sandbox_fault = std::move(fault);
    }
    // What does not work is tried until it does.
    if (!now.disk_fault.empty() || (now.runtimes.empty() && !capabilities_.runtimes.empty()))
        suspect_ = true;
    return now;
}

// Why no process can be started any more.
std::string JobRunner::sandbox_fault(bool suspect) {
    if (sandbox_) {
        if (auto gone = missing_program(options_.bwrap); !gone.empty()) return gone;
    }
    if (!suspect || capabilities_.runtimes.empty()) return {};
    const auto runtime = *jobs::runtime(capabilities_.runtimes.begin()->first);
    const auto command = find_runtime(runtime);
    if (!command) return fmt::format("{} is gone", jobs::name(runtime));
    const auto tried = try_program(*command);
    return tried ? std::string{} : tried.error().message;
}

// Runs a program as a job would run and gives back its first line of output.
base::Result<std::string> JobRunner::try_program(const RuntimeCommand& command) {
    jobs::Lease lease;
    lease.id = {"trial-" + base::random_hex(8)};
    lease.job.attempt = {{1}, 1};
    lease.job.caps.cpus = static_cast<double>(capabilities_.cpus);
    Plan plan;
    plan.program.path = command.path;
    plan.program.argv = command.version_argv;
    const Start start{lease, 0, {}, {}};
    JobControl control;
    const auto finished = run_process(plan, start, control);
    if (finished.outcome.error) {
        return base::fail(base::ErrorCode::sandbox_unavailable, finished.outcome.error->message);
    }
    return first_line(finished.outcome.standard_output.text);
}

}  // namespace executor
