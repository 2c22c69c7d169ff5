#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "executor/cgroups.hpp"
#include "executor/job_control.hpp"
#include "executor/job_folder.hpp"
#include "executor/job_process.hpp"
#include "executor/probe.hpp"
#include "executor/public_folder.hpp"
#include "executor/sandbox.hpp"
#include "executor/script_cache.hpp"
#include "executor/spawner.hpp"
#include "jobs/capabilities.hpp"
#include "jobs/lease.hpp"
#include "jobs/outcome.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace executor {

struct RunnerOptions {
    std::filesystem::path work;  ///< cache, spool and the like go below; made when absent
    std::filesystem::path helper = helper_path();
    std::filesystem::path bwrap = "/usr/bin/bwrap";
    std::int64_t slots = 1;
    /// A root executor runs the job of slot n as this user + n. Users of these numbers must not
    /// exist.
    std::uint32_t slot_uid_base = 58000;
    /// Without a working sandbox, run process jobs all the same. Recorded in every outcome.
    bool allow_unsandboxed = false;
    CgroupPlace cgroups;
    bool use_cgroups = true;                  ///< false: as on a machine without any
    base::Duration grace = base::seconds(2);  ///< between TERM and KILL
    /// Against a master that asks for too much of this machine: more is `rejected`.
    std::int64_t output_bytes_max = std::int64_t{1} << 30U;  ///< of each stream
    std::uint64_t content_bytes_max = std::uint64_t{64} << 20U;
    /// Looked for when it starts.
    std::vector<jobs::Runtime> runtimes{std::begin(all_runtimes), std::end(all_runtimes)};
};

/// A job's outcome and the files that are still to be uploaded.
struct FinishedJob {
    jobs::Outcome outcome;
    std::optional<std::filesystem::path> stdout_spool;
    std::optional<std::filesystem::path> stderr_spool;
};

/// Runs jobs on this machine: everything between a lease and an outcome. Knows nothing of masters.
/// Thread-safe once started; each slot is used by one job at a time.
class JobRunner {
public:
    /// Finds out what works here by trying it; see `capabilities`. Fails only when the executor
    /// cannot work at all (work folder, users); a missing sandbox is a capability that is absent.
    static base::Result<std::unique_ptr<JobRunner>> start(
        const RunnerOptions& options, const base::Clock& clock
    );

    /// As found at the start.
    [[nodiscard]] const jobs::Capabilities& capabilities() const { return capabilities_; }
    /// As they are now: without what is gone since, with what came back. After a job that could not
    /// be begun it tries a write and a sandbox; else it is quick.
    [[nodiscard]] jobs::Capabilities look_again();

    struct Start {
        const jobs::Lease& lease;
        std::int64_t slot = 0;
        ScriptCache::Content fetch;  ///< content of a script that did not come inline
        /// Called just before the job's first process is started; an error keeps it from starting
        /// (class `rejected`).
        std::function<base::Result<void>()> before_start;
    };
    /// Blocks until the job is over.
    FinishedJob run(const Start& start, JobControl& control);

    /// What `run` left in files for this lease.
    void remove_spool(const jobs::LeaseId& lease) const;
    /// Removes every spool file but those of `kept`.
    void sweep_spool(const std::set<jobs::LeaseId>& kept) const;

    /// The outcome of a builtin, at once.
    static jobs::Outcome run_builtin(const jobs::Job& job);

private:
    JobRunner(const RunnerOptions& options, const base::Clock& clock, ScriptCache cache);
    base::Result<void> prepare_folders() const;
    base::Result<void> check_slot_users() const;
    void find_sandbox();
    void find_group_support();
    void allow_unsandboxed();
    void find_runtimes();
    base::Result<std::string> try_program(const RuntimeCommand& command);

    /// What is ready before the first process of a job is started.
    struct Plan {
        std::unique_ptr<JobGroup> group;
        Program program;
        std::optional<std::string> script;  ///< verified content
        std::string filename;
        std::optional<JobFolder> folder;  ///< without a sandbox
    };
    [[nodiscard]] std::optional<std::string> why_refused(const jobs::Job& job) const;
    base::Result<Plan> plan(const Start& start);
    [[nodiscard]] base::Result<PreparedSpawn> prepare(
        Plan& plan, const Start& start, const JobPipes& pipes
    ) const;
    [[nodiscard]] std::optional<std::uint32_t> slot_uid(std::int64_t slot) const;
    base::Result<std::unique_ptr<JobProcess>> launch(
        Plan& plan, const Start& start, JobControl& control
    );
    FinishedJob run_process(Plan& plan, const Start& start, JobControl& control);
    [[nodiscard]] std::filesystem::path spool(const jobs::LeaseId& lease, std::string_view stream)
        const;
    [[nodiscard]] jobs::Sandbox sandbox_record() const;
    [[nodiscard]] FinishedJob refused(jobs::OutcomeClass outcome_class, base::Error error) const;
    FinishedJob not_begun(base::Error error);
    [[nodiscard]] std::string sandbox_fault(bool suspect);

    RunnerOptions options_;
    const base::Clock& clock_;
    ScriptCache cache_;
    std::unique_ptr<Spawner> spawner_;
    std::optional<Sandbox> sandbox_;
    std::unique_ptr<Cgroups> cgroups_;
    jobs::Capabilities capabilities_;
    /// Unsandboxed jobs have their folders here; none = they are refused.
    PublicFolder host_jobs_;
    bool root_ = false;
    std::atomic<bool> suspect_ = false;  ///< a job could not be begun: something may be broken
    std::mutex looking_;                 ///< one looks at a time
};

}  // namespace executor
