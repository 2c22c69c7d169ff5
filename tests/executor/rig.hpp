#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "executor/job_runner.hpp"
#include "jobs/job.hpp"
#include "jobs/lease.hpp"
#include "tests/skip.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

/// A real runner in a folder of its own, and jobs for it. What is not said is harmless.
namespace rig {

inline std::filesystem::path helper() {
    if (const char* given = std::getenv("NETWRIGHT_SANDBOX_INIT"); given != nullptr) return given;
    return NETWRIGHT_SANDBOX_INIT_BUILT;
}

inline bool root() {
    return ::geteuid() == 0;
}

/// Test programs run side by side: their cgroups and users must not meet.
inline executor::RunnerOptions options(const std::filesystem::path& work) {
    static std::atomic<int> count{0};
    executor::RunnerOptions options;
    options.work = work;
    options.helper = helper();
    options.cgroups.parent =
        "netwright-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
    options.slot_uid_base = 30000 + static_cast<std::uint32_t>(::getpid() % 20000);
    options.grace = base::milliseconds(500);
    // Those that start quickly; a test of the others asks for them.
    options.runtimes = {jobs::Runtime::sh, jobs::Runtime::bash};
    return options;
}

inline jobs::Lease lease(jobs::Binding binding) {
    static std::atomic<int> count{0};
    jobs::Lease lease;
    lease.id = {"L" + std::to_string(++count)};
    lease.fencing = 1;
    lease.ttl = base::seconds(30);
    lease.job.model = "default";
    lease.job.attempt = {{7}, 1};
    lease.job.effect = jobs::Effect::pure;
    lease.job.binding = std::move(binding);
    lease.job.idempotency_key = "key-7";
    return lease;
}

inline jobs::Lease script(
    jobs::Runtime runtime, std::string content, std::string filename = "tool"
) {
    jobs::Script script;
    script.runtime = runtime;
    script.filename = std::move(filename);
    script.sha256 = base::sha256(content);
    script.size = content.size();
    script.content = std::move(content);
    return lease(std::move(script));
}

inline jobs::Lease bash(std::string text) {
    return lease(jobs::Command{std::move(text)});
}

/// Processes on this machine with `mark` on their command line.
inline int processes_with(const std::string& mark) {
    int count = 0;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
        const auto line = base::read_file(entry.path() / "cmdline", 65536);
        if (line && line->contains(mark)) ++count;
    }
    return count;
}

/// Processes that were called as `name argument`.
inline int commands_with(const std::string& name, const std::string& argument) {
    return processes_with(name + '\0' + argument + '\0');
}

/// For finding one's own processes: an argument that nobody else has.
inline std::string unique_number() {
    static std::atomic<int> count{0};
    return std::to_string(1'000'000 + ::getpid()) + std::to_string(count++);
}

inline std::int64_t resident_bytes() {
    const auto text = base::read_file("/proc/self/statm", 4096).value();
    return std::stoll(text.substr(text.find(' ') + 1)) * ::sysconf(_SC_PAGESIZE);
}

class Rig {
public:
    explicit Rig(executor::RunnerOptions given) : options_(std::move(given)) { start(); }
    Rig() : options_(options(folder_.path())) { start(); }
    explicit Rig(jobs::Runtime runtime) : options_(options(folder_.path())) {
        options_.runtimes = {runtime};
        start();
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    executor::FinishedJob run(const jobs::Lease& lease) {
        executor::JobControl control;
        return run(lease, control);
    }
    executor::FinishedJob run(const jobs::Lease& lease, executor::JobControl& control) {
        return runner_->run({lease, 0, {}, {}}, control);
    }
    executor::JobRunner& runner() { return *runner_; }
    [[nodiscard]] const executor::RunnerOptions& options_used() const { return options_; }
    [[nodiscard]] const std::filesystem::path& work() const { return options_.work; }

private:
    void start() {
        auto runner = executor::JobRunner::start(options_, base::system_clock());
        base::check(runner.has_value(), "the runner does not start");
        runner_ = std::move(*runner);
    }

    base::TemporaryFolder folder_;
    executor::RunnerOptions options_;
    std::unique_ptr<executor::JobRunner> runner_;
};

}  // namespace rig
