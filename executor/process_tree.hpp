#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace executor {

/// What a process and all below it use now, read from /proc: for machines without cgroups.
struct TreeUsage {
    std::int64_t cpu_us = 0;  ///< of the living and of those they have waited for
    std::int64_t rss_bytes = 0;
    std::int64_t processes = 0;
};

/// Zero when the process is gone.
TreeUsage process_tree_usage(pid_t root);

}  // namespace executor
