#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace executor {

struct GroupLimits {
    std::int64_t memory_bytes = 0;
    std::int64_t pids = 0;
    double cpus = 0;
};

struct GroupUsage {
    std::int64_t cpu_us = 0;
    std::int64_t memory_peak_bytes = 0;
    std::int64_t pids_peak = 0;
    std::uint64_t memory_kills = 0;  ///< processes killed because the memory limit was reached
    std::uint64_t pids_refused = 0;  ///< forks refused because the pids limit was reached
};

/// The processes of one job, held together by the kernel. Destroying it removes the cgroups, which
/// must be empty.
class JobGroup {
public:
    virtual ~JobGroup() = default;
    /// Open `cgroup.procs` files: a process that writes "0" to all of them is in. Borrowed.
    [[nodiscard]] virtual std::vector<int> entries() const = 0;
    [[nodiscard]] virtual GroupUsage usage() const = 0;
    [[nodiscard]] virtual bool empty() const = 0;
    virtual void kill() = 0;
};

/// One flavour of cgroups.
class Cgroups {
public:
    virtual ~Cgroups() = default;
    /// `v1`, `hybrid` (v1 controllers, kill and events of the unified mount) or `v2`.
    [[nodiscard]] virtual std::string_view flavour() const = 0;
    /// The caps that it really enforces, each by `cgroup`.
    [[nodiscard]] virtual std::map<std::string, std::string> enforced() const = 0;
    virtual base::Result<std::unique_ptr<JobGroup>> make(
        const std::string& name, const GroupLimits& limits
    ) = 0;
    /// Kills and removes what an earlier run left behind. Returns how many groups that were.
    virtual std::size_t sweep() = 0;
};

struct CgroupPlace {
    std::filesystem::path root = "/sys/fs/cgroup";
    /// Folder of this executor's groups, in every hierarchy; nobody else uses it.
    std::string parent = "netwright";
    /// v2: the cgroup of this process, below which it may make others; `/` = the root.
    std::string own = "/";
};

/// The path of this process in the unified hierarchy, from /proc/self/cgroup.
std::string own_unified_cgroup();

/// What works here, found out by making a group; the error says why nothing does.
base::Result<std::unique_ptr<Cgroups>> find_cgroups(const CgroupPlace& place);

base::Result<std::unique_ptr<Cgroups>> cgroups_v1(const CgroupPlace& place);
base::Result<std::unique_ptr<Cgroups>> cgroups_v2(const CgroupPlace& place);

}  // namespace executor
