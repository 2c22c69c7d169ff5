#pragma once

#include "executor/cgroups.hpp"
#include "executor/job_control.hpp"
#include "jobs/job.hpp"
#include "jobs/outcome.hpp"

#include <optional>
#include <string>

namespace executor {

/// All that was seen of a job's processes when they had ended.
struct Ending {
    bool started = false;     ///< init said that the job's program runs
    std::string start_error;  ///< why it does not
    std::optional<int> exit_code;
    std::optional<int> signal;
    std::optional<StopReason> stop;  ///< none when the exit came before the order
    GroupUsage group;
    bool output_over_cap = false;
    bool disk_failed = false;  ///< the executor's disk took not all of what it printed
    bool output_lost = false;  ///< ... on stdout
};

/// Class, exit, limits and error of the outcome; streams, times and sandbox are the caller's.
jobs::Outcome classify(const Ending& ending, const jobs::Caps& caps);

/// The outcome of a job whose order to stop came before anything of it was started.
jobs::Outcome classify_stop_before_start(StopReason reason);

}  // namespace executor
