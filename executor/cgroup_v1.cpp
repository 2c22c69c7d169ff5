#include "base/log.hpp"
#include "executor/cgroup_files.hpp"
#include "executor/cgroups.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <set>
#include <system_error>
#include <utility>

namespace executor {

namespace {

using cgroup_files::Path;

constexpr int freeze_and_kill_rounds = 100;
constexpr std::int64_t cpu_period_us = 100'000;

/// The hierarchies in use; an empty path = not there.
struct V1Mounts {
    Path memory;
    Path pids;
    Path cpu;
    Path cpuacct;
    Path freezer;
    Path unified;

    /// Each folder once: cpu and cpuacct are often one mount.
    [[nodiscard]] std::vector<Path> distinct() const {
        std::vector<Path> out;
        for (const auto* path : {&memory, &pids, &cpu, &cpuacct, &freezer, &unified}) {
            if (!path->empty() && std::ranges::find(out, *path) == out.end()) out.push_back(*path);
        }
        return out;
    }
    [[nodiscard]] V1Mounts child(const std::string& name) const {
        const auto below = [&](const Path& path) { return path.empty() ? path : path / name; };
        return {
            below(memory), below(pids), below(cpu), below(cpuacct), below(freezer), below(unified)
        };
    }
};

class V1Group final : public JobGroup {
public:
    explicit V1Group(V1Mounts at) : at_(std::move(at)) {}
    V1Group(const V1Group&) = delete;
    V1Group& operator=(const V1Group&) = delete;
    ~V1Group() override {
        entries_.clear();
        for (const auto& folder : at_.distinct()) {
            if (!cgroup_files::remove_folder(folder)) {
                base::log_warning("cannot remove the cgroup " + folder.string());
            }
        }
    }

    base::Result<void> open_entries() {
        for (const auto& folder : at_.distinct()) {
            auto entry = cgroup_files::open_entry(folder);
            if (!entry) return base::fail(entry.error());
            entries_.push_back(std::move(*entry));
        }
        return {};
    }

    [[nodiscard]] std::vector<int> entries() const override {
        std::vector<int> out;
        for (const auto& entry : entries_)
            out.push_back(entry.value());
        return out;
    }

    [[nodiscard]] GroupUsage usage() const override {
        GroupUsage usage;
        usage.cpu_us = cgroup_files::number(at_.cpuacct / "cpuacct.usage").value_or(0) / 1000;
        usage.memory_peak_bytes =
            cgroup_files::number(at_.memory / "memory.max_usage_in_bytes").value_or(0);
        usage.pids_peak = cgroup_files::number(at_.pids / "pids.peak").value_or(0);
        usage.memory_kills = static_cast<std::uint64_t>(
            cgroup_files::keyed_number(at_.memory / "memory.oom_control", "oom_kill").value_or(0)
        );
        usage.pids_refused = static_cast<std::uint64_t>(
            cgroup_files::keyed_number(at_.pids / "pids.events", "max").value_or(0)
        );
        return usage;
    }

    [[nodiscard]] bool empty() const override {
        if (!at_.unified.empty()) {
            const auto populated =
                cgroup_files::keyed_number(at_.unified / "cgroup.events", "populated");
            if (populated) return *populated == 0;
        }
        return cgroup_files::processes(members()).empty();
    }

    void kill() override {
        if (!at_.unified.empty() && cgroup_files::write(at_.unified / "cgroup.kill", "1")) return;
        for (int i = 0; i < freeze_and_kill_rounds; ++i) {
            const auto members_now = cgroup_files::processes(members());
            if (members_now.empty()) return;
            freeze("FROZEN");
            for (const auto pid : cgroup_files::processes(members()))
                ::kill(pid, SIGKILL);
            freeze("THAWED");
        }
    }

private:
    /// Any hierarchy that has all members.
    [[nodiscard]] const Path& members() const { return at_.pids.empty() ? at_.memory : at_.pids; }
    void freeze(std::string_view state) {
        if (at_.freezer.empty()) return;
        (void)cgroup_files::write(at_.freezer / "freezer.state", state);
    }

    V1Mounts at_;
    std::vector<base::FileDescriptor> entries_;
};

base::Result<void> set_limits(const V1Mounts& at, const GroupLimits& limits) {
    const auto bytes = std::to_string(limits.memory_bytes);
    if (auto done = cgroup_files::write(at.memory / "memory.limit_in_bytes", bytes); !done) {
        return done;
    }
    // Absent where the kernel does not account for swap.
    (void)cgroup_files::write(at.memory / "memory.memsw.limit_in_bytes", bytes);
    if (auto done = cgroup_files::write(at.pids / "pids.max", std::to_string(limits.pids)); !done) {
        return done;
    }
    if (at.cpu.empty()) return {};
    const auto quota = std::llround(limits.cpus * static_cast<double>(cpu_period_us));
    if (auto done =
            cgroup_files::write(at.cpu / "cpu.cfs_period_us", std::to_string(cpu_period_us));
        !done) {
        return done;
    }
    return cgroup_files::write(at.cpu / "cpu.cfs_quota_us", std::to_string(quota));
}

class V1Cgroups final : public Cgroups {
public:
    V1Cgroups(V1Mounts parents, bool hybrid) : parents_(std::move(parents)), hybrid_(hybrid) {}
    V1Cgroups(const V1Cgroups&) = delete;
    V1Cgroups& operator=(const V1Cgroups&) = delete;
    ~V1Cgroups() override {
        for (const auto& parent : parents_.distinct())
            (void)cgroup_files::remove_folder(parent);
    }

    [[nodiscard]] std::string_view flavour() const override { return hybrid_ ? "hybrid" : "v1"; }

    [[nodiscard]] std::map<std::string, std::string> enforced() const override {
        std::map<std::string, std::string> caps{{"memory", "cgroup"}, {"pids", "cgroup"}};
        if (!parents_.cpu.empty()) caps["cpus"] = "cgroup";
        if (!parents_.cpuacct.empty()) caps["cpu"] = "cgroup";
        return caps;
    }

    base::Result<std::unique_ptr<JobGroup>> make(const std::string& name, const GroupLimits& limits)
        override {
        const auto at = parents_.child(name);
        for (const auto& folder : at.distinct()) {
            if (auto made = cgroup_files::make_folder(folder); !made) {
                return base::fail(made.error());
            }
        }
        // From here on the group removes its folders, whatever fails.
        auto group = std::make_unique<V1Group>(at);
        if (auto limited = set_limits(at, limits); !limited) return base::fail(limited.error());
        if (auto opened = group->open_entries(); !opened) return base::fail(opened.error());
        return group;
    }

    std::size_t sweep() override {
        std::set<std::string> names;
        for (const auto& parent : parents_.distinct()) {
            for (auto& name : cgroup_files::children(parent))
                names.insert(std::move(name));
        }
        for (const auto& name : names) {
            V1Group left(parents_.child(name));
            left.kill();
        }
        return names.size();
    }

private:
    V1Mounts parents_;
    bool hybrid_;
};

}  // namespace

base::Result<std::unique_ptr<Cgroups>> cgroups_v1(const CgroupPlace& place) {
    V1Mounts parents;
    std::error_code ignored;
    const auto find = [&](const char* controller, Path& path) {
        const auto mount = std::filesystem::canonical(place.root / controller, ignored);
        if (!ignored && cgroup_files::make_folder(mount / place.parent)) {
            path = mount / place.parent;
        }
    };
    find("memory", parents.memory);
    find("pids", parents.pids);
    find("cpu", parents.cpu);
    find("cpuacct", parents.cpuacct);
    find("unified", parents.unified);
    if (parents.memory.empty() || parents.pids.empty()) {
        return base::fail(
            base::ErrorCode::unsupported,
            fmt::format("no writable memory and pids controllers below {}", place.root.string())
        );
    }
    const bool hybrid = !parents.unified.empty();
    if (!hybrid) find("freezer", parents.freezer);
    return std::make_unique<V1Cgroups>(std::move(parents), hybrid);
}

}  // namespace executor
