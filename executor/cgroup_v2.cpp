#include "base/log.hpp"
#include "executor/cgroup_files.hpp"
#include "executor/cgroups.hpp"

#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace executor {

namespace {

using cgroup_files::Path;

constexpr std::int64_t v2_cpu_period_us = 100'000;

class V2Group final : public JobGroup {
public:
    explicit V2Group(Path at) : at_(std::move(at)) {}
    V2Group(const V2Group&) = delete;
    V2Group& operator=(const V2Group&) = delete;
    ~V2Group() override {
        entry_.reset();
        if (!cgroup_files::remove_folder(at_)) {
            base::log_warning("cannot remove the cgroup " + at_.string());
        }
    }

    base::Result<void> prepare(const GroupLimits& limits) {
        const auto quota = std::llround(limits.cpus * static_cast<double>(v2_cpu_period_us));
        const std::pair<const char*, std::string> values[] = {
            {"memory.max", std::to_string(limits.memory_bytes)},
            {"pids.max", std::to_string(limits.pids)},
            {"cpu.max", fmt::format("{} {}", quota, v2_cpu_period_us)},
        };
        for (const auto& [file, value] : values) {
            if (auto done = cgroup_files::write(at_ / file, value); !done) return done;
        }
        // Absent where the kernel does not account for swap.
        (void)cgroup_files::write(at_ / "memory.swap.max", "0");
        auto entry = cgroup_files::open_entry(at_);
        if (!entry) return base::fail(entry.error());
        entry_ = std::move(*entry);
        return {};
    }

    [[nodiscard]] std::vector<int> entries() const override { return {entry_.value()}; }

    [[nodiscard]] GroupUsage usage() const override {
        GroupUsage usage;
        usage.cpu_us = cgroup_files::keyed_number(at_ / "cpu.stat", "usage_usec").value_or(0);
        usage.memory_peak_bytes = cgroup_files::number(at_ / "memory.peak").value_or(0);
        usage.pids_peak = cgroup_files::number(at_ / "pids.peak").value_or(0);
        usage.memory_kills = static_cast<std::uint64_t>(
            cgroup_files::keyed_number(at_ / "memory.events", "oom_kill").value_or(0)
        );
        usage.pids_refused = static_cast<std::uint64_t>(
            cgroup_files::keyed_number(at_ / "pids.events", "max").value_or(0)
        );
        return usage;
    }

    [[nodiscard]] bool empty() const override {
        return cgroup_files::keyed_number(at_ / "cgroup.events", "populated").value_or(0) == 0;
    }

    void kill() override { (void)cgroup_files::write(at_ / "cgroup.kill", "1"); }

private:
    Path at_;
    base::FileDescriptor entry_;
};

class V2Cgroups final : public Cgroups {
public:
    explicit V2Cgroups(Path parent) : parent_(std::move(parent)) {}
    V2Cgroups(const V2Cgroups&) = delete;
    V2Cgroups& operator=(const V2Cgroups&) = delete;
    ~V2Cgroups() override { (void)cgroup_files::remove_folder(parent_); }

    [[nodiscard]] std::string_view flavour() const override { return "v2"; }
    [[nodiscard]] std::map<std::string, std::string> enforced() const override {
        return {{"memory", "cgroup"}, {"pids", "cgroup"}, {"cpus", "cgroup"}, {"cpu", "cgroup"}};
    }

    base::Result<std::unique_ptr<JobGroup>> make(const std::string& name, const GroupLimits& limits)
        override {
        if (auto made = cgroup_files::make_folder(parent_ / name); !made) {
            return base::fail(made.error());
        }
        auto group = std::make_unique<V2Group>(parent_ / name);
        if (auto ready = group->prepare(limits); !ready) return base::fail(ready.error());
        return group;
    }

    std::size_t sweep() override {
        const auto names = cgroup_files::children(parent_);
        for (const auto& name : names) {
            V2Group left(parent_ / name);
            left.kill();
        }
        return names.size();
    }

private:
    Path parent_;
};

}  // namespace

base::Result<std::unique_ptr<Cgroups>> cgroups_v2(const CgroupPlace& place) {
    constexpr std::string_view controllers = "+memory +pids +cpu";
    const auto own = place.own == "/" ? place.root : place.root / place.own.substr(1);
    if (place.own != "/") {
        // A group with processes of its own may not hand controllers down (the root may): so this
        // process moves into a leaf.
        const auto leaf = own / "netwright-executor";
        if (auto made = cgroup_files::make_folder(leaf); !made) return base::fail(made.error());
        if (auto moved = cgroup_files::write(leaf / "cgroup.procs", "0"); !moved) {
            return base::fail(moved.error());
        }
    }
    const auto parent = own / place.parent;
    for (const auto& folder : {own, parent}) {
        if (auto made = cgroup_files::make_folder(folder); !made) return base::fail(made.error());
        if (auto given = cgroup_files::write(folder / "cgroup.subtree_control", controllers);
            !given) {
            return base::fail(base::Error{
                base::ErrorCode::unsupported,
                given.error().message,
                "run the executor as a service with Delegate=yes, or as root",
                {},
            });
        }
    }
    return std::make_unique<V2Cgroups>(parent);
}

}  // namespace executor
