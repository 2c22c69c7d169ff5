#pragma once

#include "jobs/job.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace executor {

/// How a runtime is called: the same path on the host and inside a sandbox (all are below /usr).
struct RuntimeCommand {
    std::string path;
    std::vector<std::string> version_argv;  ///< prints the version, or `posix` for sh
};

/// Nothing when it is not installed.
std::optional<RuntimeCommand> find_runtime(jobs::Runtime runtime);

inline constexpr jobs::Runtime all_runtimes[] = {
    jobs::Runtime::node, jobs::Runtime::sh, jobs::Runtime::bash, jobs::Runtime::python3
};

std::int64_t machine_cpus();
std::int64_t machine_memory_mb();

}  // namespace executor
