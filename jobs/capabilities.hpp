#pragma once

#include "base/json.hpp"
#include "jobs/job.hpp"
#include "jobs/wire.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace jobs {

/// What an executor can do: found out by trying, when it starts and again and again, never assumed.
struct Capabilities {
    /// Runtime name (`node`) -> version. Empty when no process can be run at all.
    std::map<std::string, std::string> runtimes;
    std::vector<std::string> builtins;
    std::string sandbox;  ///< `bwrap`, or `none` (process jobs run only if the operator allowed it)
    std::string sandbox_version;
    /// Why there is no sandbox; empty when there is one.
    std::string sandbox_fault;
    /// Why no process job can be begun now (a full disk); empty when one can. It may pass.
    std::string disk_fault;
    std::string cgroup;  ///< `v1`, `hybrid`, `v2` or `none`
    /// Caps really enforced, and by what: as in `Sandbox::enforced`.
    std::map<std::string, std::string> enforced;
    std::vector<std::string> networks;  ///< network modes of jobs it can take: `deny`, `allow`
    std::int64_t cpus = 1;
    std::int64_t memory_mb = 0;
    std::string version;  ///< of the executor
    bool operator==(const Capabilities&) const = default;
};

base::Json to_json(const Capabilities& capabilities);
Capabilities read_capabilities(
    const base::Json& json, const std::string& pointer, wire::Faults& faults
);

/// Why an executor with these capabilities must not be given the job; nothing when it may. The
/// master asks before it leases, the executor before it runs.
std::optional<std::string> why_unfit(const Capabilities& capabilities, const Job& job);

}  // namespace jobs
