#pragma once

#include "base/clock.hpp"
#include "executor/cgroups.hpp"
#include "executor/ending.hpp"
#include "executor/job_control.hpp"
#include "executor/output_capture.hpp"
#include "executor/spawner.hpp"
#include "jobs/job.hpp"
#include "jobs/outcome.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace executor {

/// The ends of a job's pipes that the executor keeps.
struct PipeEnds {
    base::FileDescriptor standard_output;
    base::FileDescriptor standard_error;
    base::FileDescriptor status;
    base::FileDescriptor report;
};

/// One started job, watched until the last of its processes is gone: wall clock, CPU, memory where
/// no cgroup does it, output, cancellation (TERM, grace, KILL). Used by one thread.
class JobProcess {
public:
    struct Options {
        const jobs::Caps& caps;
        const base::Clock& clock;
        JobControl& control;
        JobGroup* group = nullptr;  ///< null where there are no cgroups
        bool sandboxed = true;
        base::Duration grace;
        std::filesystem::path stdout_spool;
        std::filesystem::path stderr_spool;
    };
    JobProcess(const Options& options, Child child, PipeEnds pipes);

    /// Returns when every process of the job is gone and its pipes are drained.
    Ending watch();
    CapturedOutput finish_stdout(bool durable) { return stdout_.finish(durable); }
    CapturedOutput finish_stderr(bool durable) { return stderr_.finish(durable); }
    [[nodiscard]] jobs::Usage usage() const { return usage_; }

private:
    void poll_once();
    void read_stream(base::FileDescriptor& pipe, OutputCapture& capture, bool progress);
    void read_status();
    void read_report();
    void look_at_clock();
    void look_at_usage(base::Duration now);
    void begin_stop(StopOrder order);
    void terminate();
    void kill();
    void clear_up();
    void update_usage();

    Options options_;
    Child child_;
    PipeEnds pipes_;
    OutputCapture stdout_;
    OutputCapture stderr_;
    ProgressReader progress_;
    base::FileDescriptor init_;  ///< pidfd of init, once its pid is known
    std::string status_text_;
    Ending ending_;
    jobs::Usage usage_;
    base::Duration started_;
    base::Duration next_look_;
    std::optional<base::Duration> kill_at_;
    bool killed_ = false;
    bool gone_ = false;
    bool woken_ = false;
    bool stopping_ = false;
};

}  // namespace executor
