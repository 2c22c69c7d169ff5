#pragma once

#include "base/result.hpp"
#include "jobs/job.hpp"

#include <string>

namespace executor {

/// The system-call filter of a sandbox as BPF bytes, which bwrap's --seccomp takes. Everything that
/// no job needs and that widens the way to the kernel is refused: mounts, namespaces, keys,
/// tracing, bpf, perf, io_uring, terminals' input queues, all sockets but AF_UNIX (and INET when
/// the network is granted); calls of another architecture kill the process.
base::Result<std::string> seccomp_filter(jobs::Network network);

}  // namespace executor
