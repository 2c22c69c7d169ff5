#include "executor/ending.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <utility>

namespace executor {

namespace {

using jobs::LimitKind;
using jobs::OutcomeClass;

void hit(jobs::Outcome& outcome, LimitKind limit) {
    if (std::ranges::find(outcome.limits, limit) == outcome.limits.end()) {
        outcome.limits.push_back(limit);
    }
}

void end_with(
    jobs::Outcome& outcome, OutcomeClass outcome_class, base::ErrorCode code, std::string message
) {
    outcome.outcome_class = outcome_class;
    outcome.error = jobs::OutcomeError{code, std::move(message)};
}

void end_with_limit(jobs::Outcome& outcome, LimitKind limit, std::string message) {
    hit(outcome, limit);
    const auto code = limit == LimitKind::wall ? base::ErrorCode::timeout : base::ErrorCode::limit;
    end_with(outcome, OutcomeClass::limit, code, std::move(message));
}

// Not the job's doing: another attempt is due, unless this one may have had an effect.
void end_interrupted(jobs::Outcome& outcome, bool started, std::string message) {
    if (started) {
        return end_with(
            outcome, OutcomeClass::interrupted, base::ErrorCode::uncertain, std::move(message)
        );
    }
    outcome = jobs::given_back(std::move(message) + " before it was started");
}

void end_stopped(jobs::Outcome& outcome, StopReason reason, bool started, const jobs::Caps& caps) {
    constexpr auto cancelled = base::ErrorCode::cancelled;
    switch (reason) {
        case StopReason::wall:
            // The tool's own cap or, where that is less, the timeout of who calls it.
            return end_with_limit(
                outcome,
                LimitKind::wall,
                fmt::format(
                    "ran longer than {} ms, the smaller of the tool's 'wallMs' and the caller's "
                    "timeout",
                    caps.wall_ms
                )
            );
        case StopReason::cpu:
            return end_with_limit(
                outcome, LimitKind::cpu, fmt::format("used more CPU than cpuMs = {}", caps.cpu_ms)
            );
        case StopReason::memory:
            return end_with_limit(
                outcome,
                LimitKind::memory,
                fmt::format("used more memory than memoryMb = {}", caps.memory_mb)
            );
        case StopReason::requested:
            return end_with(outcome, OutcomeClass::cancelled, cancelled, "cancelled on request");
        case StopReason::lease:
            return end_interrupted(outcome, started, "stopped: its lease ran out or was fenced");
        case StopReason::shutdown:
            return end_interrupted(outcome, started, "stopped: the executor was shut down");
    }
    std::unreachable();
}

// Caps that leave a mark but do not stop a job by themselves.
void end_by_itself(jobs::Outcome& outcome, const Ending& ending, const jobs::Caps& caps) {
    const bool failed = ending.signal || ending.exit_code.value_or(1) != 0;
    if (ending.group.memory_kills > 0) {
        return end_with_limit(
            outcome,
            LimitKind::memory,
            fmt::format(
                "{} of its processes killed: memoryMb = {} reached",
                ending.group.memory_kills,
                caps.memory_mb
            )
        );
    }
    if (ending.signal == SIGXCPU ||
        (ending.signal == SIGKILL && ending.group.cpu_us >= caps.cpu_ms * 1000)) {
        return end_with_limit(
            outcome, LimitKind::cpu, fmt::format("used more CPU than cpuMs = {}", caps.cpu_ms)
        );
    }
    if (ending.signal == SIGXFSZ) {
        return end_with_limit(
            outcome, LimitKind::disk, "wrote a file larger than its file system may be"
        );
    }
    if (failed && ending.group.pids_refused > 0) {
        return end_with_limit(
            outcome,
            LimitKind::pids,
            fmt::format("could not start a process: pids = {} reached", caps.pids)
        );
    }
    if (ending.signal) {
        return end_with(
            outcome,
            OutcomeClass::job,
            base::ErrorCode::exit_nonzero,
            fmt::format("ended by signal {}", *ending.signal)
        );
    }
    if (failed) {
        return end_with(
            outcome,
            OutcomeClass::job,
            base::ErrorCode::exit_nonzero,
            fmt::format("exit status {}", ending.exit_code.value_or(-1))
        );
    }
    // The job's answer is gone, by no fault of its own.
    if (ending.output_lost) {
        end_with_limit(
            outcome, LimitKind::disk, "the executor's disk is full: not all it printed was kept"
        );
    }
}

}  // namespace

jobs::Outcome classify_stop_before_start(StopReason reason) {
    jobs::Outcome outcome;
    end_stopped(outcome, reason, false, {});
    return outcome;
}

jobs::Outcome classify(const Ending& ending, const jobs::Caps& caps) {
    jobs::Outcome outcome;
    outcome.exit_code = ending.exit_code;
    outcome.signal = ending.signal;
    if (ending.output_over_cap) hit(outcome, LimitKind::output);
    if (ending.disk_failed) hit(outcome, LimitKind::disk);
    if (ending.group.pids_refused > 0) hit(outcome, LimitKind::pids);
    if (ending.stop) {
        end_stopped(outcome, *ending.stop, ending.started, caps);
    } else if (ending.group.memory_kills > 0 || ending.exit_code || ending.signal) {
        end_by_itself(outcome, ending, caps);
    } else if (!ending.started) {
        end_with(
            outcome,
            OutcomeClass::infra,
            base::ErrorCode::sandbox_unavailable,
            "the job was not started: " + ending.start_error
        );
    } else {
        // Something may have been done: no infrastructure failure, which would be tried again.
        end_with(
            outcome,
            OutcomeClass::job,
            base::ErrorCode::exit_nonzero,
            "its sandbox was killed from outside: how far it got is not known"
        );
    }
    return outcome;
}

}  // namespace executor
