#include "executor/job_runner.hpp"

#include "executor/health.hpp"
#include "executor/probe.hpp"
#include "jobs/routes.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr std::uint64_t job_open_files = 4096;
/// bwrap and init count too.
constexpr std::int64_t own_processes = 4;
constexpr std::string_view sandbox_path = "/usr/local/bin:/usr/bin:/bin";
constexpr std::int64_t work_bytes_min = std::int64_t{1} << 20U;

std::vector<std::string> environment(
    const jobs::Job& job, const std::string& home, const std::string& tmp
) {
    std::vector<std::string> out{
        fmt::format("PATH={}", sandbox_path),
        "HOME=" + home,
        "LANG=C.UTF-8",
        "TMPDIR=" + tmp,
        "NETWRIGHT_JOB_ID=" + base::text(job.attempt.operation),
        "NETWRIGHT_ATTEMPT=" + base::text(job.attempt),
        "NETWRIGHT_IDEMPOTENCY_KEY=" + job.idempotency_key,
    };
    for (const auto& [name, value] : job.env)
        out.push_back(name + "=" + value);
    return out;
}

struct Pipe {
    base::FileDescriptor read;
    base::FileDescriptor write;
};

base::Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail(base::errno_error("pipe"));
    return Pipe{base::FileDescriptor(ends[0]), base::FileDescriptor(ends[1])};
}

// stdin is a sealed file with the input, or nothing: no pipe that a job could leave full.
base::Result<base::FileDescriptor> standard_input(const std::optional<std::string>& input) {
    std::string path = "/dev/null";
    base::FileDescriptor sealed;
    if (input) {
        auto file = sealed_file("stdin", *input);
        if (!file) return file;
        sealed = std::move(*file);
        path = fmt::format("/proc/self/fd/{}", sealed.value());
    }
    base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return base::fail(base::errno_error("open the input"));
    return file;
}

}  // namespace

JobRunner::JobRunner(const RunnerOptions& options, const base::Clock& clock, ScriptCache cache)
    : options_(options), clock_(clock), cache_(std::move(cache)), root_(::geteuid() == 0) {}

std::filesystem::path JobRunner::spool(const jobs::LeaseId& lease, std::string_view stream) const {
    return options_.work / "spool" / fmt::format("{}.{}", lease.text, stream);
}

void JobRunner::remove_spool(const jobs::LeaseId& lease) const {
    for (const auto stream : {jobs::routes::stdout_stream, jobs::routes::stderr_stream})
        ::unlink(spool(lease, stream).c_str());
}

void JobRunner::sweep_spool(const std::set<jobs::LeaseId>& kept) const {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(options_.work / "spool", failed)) {
        if (kept.contains({entry.path().stem().string()})) continue;
        std::error_code ignored;
        std::filesystem::remove(entry.path(), ignored);
    }
}

jobs::Sandbox JobRunner::sandbox_record() const {
    return {
        sandbox_ ? "bwrap" : "none",
        capabilities_.sandbox_version,
        capabilities_.cgroup,
        capabilities_.enforced,
    };
}

jobs::Outcome JobRunner::run_builtin(const jobs::Job& job) {
    jobs::Outcome outcome;
    outcome.standard_output.text = job.args;
    outcome.standard_output.bytes_total = job.args.size();
    outcome.standard_output.bytes_kept = job.args.size();
    outcome.sandbox.backend = "builtin";
    outcome.sandbox.cgroup = "none";
    if (job.args.size() > jobs::output_inline_bytes_max) {
        outcome.outcome_class = jobs::OutcomeClass::rejected;
        outcome.standard_output = {};
        outcome.error = {
            base::ErrorCode::too_large,
            fmt::format("a builtin takes at most {} bytes", jobs::output_inline_bytes_max)
        };
    }
    return outcome;
}

FinishedJob JobRunner::refused(jobs::OutcomeClass outcome_class, base::Error error) const {
    FinishedJob finished;
    finished.outcome.outcome_class = outcome_class;
    finished.outcome.error = jobs::OutcomeError{error.code, std::move(error.message)};
    finished.outcome.sandbox = sandbox_record();
    return finished;
}

// By no fault of the job, as far as is known; the next look finds out whether it lasts.
FinishedJob JobRunner::not_begun(base::Error error) {
    if (error.code != base::ErrorCode::tamper) suspect_ = true;
    return refused(jobs::OutcomeClass::rejected, std::move(error));
}

std::optional<std::string> JobRunner::why_refused(const jobs::Job& job) const {
    for (const auto& [name, value] : job.env) {
        if (!jobs::env_name_allowed(name)) {
            return fmt::format("a job may not set '{}' in its environment, only TOOL_*", name);
        }
    }
    if (job.caps.output_bytes > options_.output_bytes_max) {
        return fmt::format(
            "outputBytes = {} is over this executor's own maximum, {}",
            job.caps.output_bytes,
            options_.output_bytes_max
        );
    }
    const auto* script = std::get_if<jobs::Script>(&job.binding);
    if (script != nullptr && script->size > options_.content_bytes_max) {
        return fmt::format(
            "a script of {} bytes is over this executor's own maximum, {}",
            script->size,
            options_.content_bytes_max
        );
    }
    return std::nullopt;
}

base::Result<JobRunner::Plan> JobRunner::plan(const Start& start) {
    const jobs::Job& job = start.lease.job;
    Plan plan;
    if (const auto* command = std::get_if<jobs::Command>(&job.binding)) {
        plan.program.path = find_runtime(jobs::Runtime::bash)->path;
        plan.program.argv = {"bash", "-c", command->script, "bash"};
    } else {
        const auto& script = std::get<jobs::Script>(job.binding);
        auto file = cache_.verified(
            script.sha256,
            script.size,
            script.content ? [&] { return base::Result<std::string>(*script.content); }
                           : start.fetch
        );
        if (!file) return base::fail(file.error());
        plan.script = std::move(*file);
        plan.filename = script.filename;
        plan.program.path = find_runtime(script.runtime)->path;
        plan.program.argv = {
            std::string(jobs::name(script.runtime)),
            fmt::format("{}/{}", sandbox_tool, script.filename),
        };
    }
    plan.program.argv.insert(plan.program.argv.end(), job.argv.begin(), job.argv.end());
    return plan;
}

FinishedJob JobRunner::run(const Start& start, JobControl& control) {
    const jobs::Job& job = start.lease.job;
    if (std::holds_alternative<jobs::Builtin>(job.binding)) return {run_builtin(job), {}, {}};
    if (const auto why = jobs::why_unfit(capabilities_, job)) {
        const auto code =
            spawner_ ? base::ErrorCode::unsupported : base::ErrorCode::sandbox_unavailable;
        return refused(jobs::OutcomeClass::rejected, {code, *why, {}, {}});
    }
    if (auto why = why_refused(job)) {
        return refused(
            jobs::OutcomeClass::rejected, {base::ErrorCode::unsupported, std::move(*why), {}, {}}
        );
    }
    if (auto full = disk_shortage(options_.work); !full.empty()) {
        return not_begun({base::ErrorCode::limit, std::move(full), {}, {}});
    }
    auto ready = plan(start);
    if (!ready) return not_begun(ready.error());
    auto finished = run_process(*ready, start, control);
    if (finished.outcome.outcome_class == jobs::OutcomeClass::infra) suspect_ = true;
    return finished;
}

// Inside the sandbox, or in a folder of its own on the host.
base::Result<PreparedSpawn> JobRunner::prepare(
    Plan& plan, const Start& start, const JobPipes& pipes
) const {
    const jobs::Job& job = start.lease.job;
    Program program = plan.program;
    const std::int64_t work_bytes = std::max(job.caps.artifact_bytes, work_bytes_min);
    base::Result<PreparedSpawn> prepared;
    if (sandbox_) {
        program.folder = sandbox_work;
        program.env = environment(job, sandbox_work, "/tmp");
        prepared = sandbox_->prepare(
            {program, plan.script, plan.filename, job.network, work_bytes}, pipes
        );
    } else {
        auto folder = JobFolder::make(host_jobs_.path(), start.lease.id.text, slot_uid(start.slot));
        if (!folder) return base::fail(folder.error());
        if (plan.script) {
            auto written = folder->write_script(*plan.script, plan.filename);
            if (!written) return base::fail(written.error());
            program.argv.at(1) = written->string();
        }
        program.folder = folder->work().string();
        program.env = environment(job, program.folder, program.folder);
        plan.folder = std::move(*folder);
        prepared = prepare_unsandboxed(options_.helper, program, pipes);
    }
    if (!prepared) return prepared;
    SpawnOrder& order = prepared->order;
    order.uid = slot_uid(start.slot);
    order.limits.cpu_seconds = static_cast<std::uint64_t>(job.caps.cpu_ms / 1000 + 1);
    order.limits.file_bytes = static_cast<std::uint64_t>(work_bytes);
    order.limits.open_files = job_open_files;
    if (root_) {
        // Beside a cgroup only a belt: what it refuses is not counted anywhere.
        const auto processes = cgroups_ ? 2 * job.caps.pids : job.caps.pids;
        order.limits.processes = static_cast<std::uint64_t>(processes + own_processes);
    }
    return prepared;
}

std::optional<std::uint32_t> JobRunner::slot_uid(std::int64_t slot) const {
    if (!root_) return std::nullopt;
    return options_.slot_uid_base + static_cast<std::uint32_t>(slot);
}

base::Result<std::unique_ptr<JobProcess>> JobRunner::launch(
    Plan& plan, const Start& start, JobControl& control
) {
    const jobs::Caps& caps = start.lease.job.caps;
    if (cgroups_) {
        auto group = cgroups_->make(
            start.lease.id.text, {caps.memory_mb << 20U, caps.pids + own_processes, caps.cpus}
        );
        if (!group) return base::fail(group.error());
        plan.group = std::move(*group);
    }
    auto input = standard_input(start.lease.job.input);
    auto out = make_pipe();
    auto err = make_pipe();
    auto status = make_pipe();
    auto report = make_pipe();
    if (!input) return base::fail(input.error());
    for (const auto* pipe : {&out, &err, &status, &report}) {
        if (!*pipe) return base::fail(pipe->error());
    }
    auto prepared = prepare(
        plan,
        start,
        {input->value(),
         out->write.value(),
         err->write.value(),
         status->write.value(),
         report->write.value()}
    );
    if (!prepared) return base::fail(prepared.error());
    if (plan.group) prepared->order.cgroup_entries = plan.group->entries();
    if (start.before_start) {
        if (auto good = start.before_start(); !good) return base::fail(good.error());
    }
    auto child = spawner_->spawn(prepared->order);
    if (!child) return base::fail(child.error());
    return std::make_unique<JobProcess>(
        JobProcess::Options{
            .caps = caps,
            .clock = clock_,
            .control = control,
            .group = plan.group.get(),
            .sandboxed = sandbox_.has_value(),
            .grace = options_.grace,
            .stdout_spool = spool(start.lease.id, jobs::routes::stdout_stream),
            .stderr_spool = spool(start.lease.id, jobs::routes::stderr_stream),
        },
        std::move(*child),
        PipeEnds{
            std::move(out->read),
            std::move(err->read),
            std::move(status->read),
            std::move(report->read),
        }
    );
}

FinishedJob JobRunner::run_process(Plan& plan, const Start& start, JobControl& control) {
    const jobs::Job& job = start.lease.job;
    if (const auto order = control.stop_order()) {
        FinishedJob finished{classify_stop_before_start(order->reason), {}, {}};
        finished.outcome.sandbox = sandbox_record();
        return finished;
    }
    auto process = launch(plan, start, control);
    if (!process) return not_begun(process.error());
    auto ending = (*process)->watch();
    const bool durable = job.effect != jobs::Effect::pure;
    auto out = (*process)->finish_stdout(durable);
    auto err = (*process)->finish_stderr(durable);
    ending.disk_failed = out.disk_failed || err.disk_failed;
    ending.output_lost = out.disk_failed;
    if (ending.disk_failed) suspect_ = true;
    FinishedJob finished{classify(ending, job.caps), std::move(out.spool), std::move(err.spool)};
    finished.outcome.standard_output = std::move(out.output);
    finished.outcome.standard_error = std::move(err.output);
    finished.outcome.usage = (*process)->usage();
    finished.outcome.duration_ms = finished.outcome.usage.wall_ms;
    finished.outcome.sandbox = sandbox_record();
    finished.outcome.progress = control.view().progress;
    return finished;
}

}  // namespace executor
