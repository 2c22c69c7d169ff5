#include "executor/cgroups.hpp"

#include "base/files.hpp"
#include "base/random.hpp"

#include <fmt/format.h>
#include <string_view>

namespace executor {

namespace {

constexpr std::size_t proc_cgroup_bytes_max = std::size_t{1} << 20U;

// A flavour that cannot make a group here (no rights, no such files) is no flavour.
base::Result<std::unique_ptr<Cgroups>> tried(base::Result<std::unique_ptr<Cgroups>> cgroups) {
    if (!cgroups) return cgroups;
    constexpr GroupLimits trial{std::int64_t{64} << 20U, 16, 1};
    const auto group = (*cgroups)->make("trial-" + base::random_hex(4), trial);
    if (!group) return base::fail(group.error());
    return cgroups;
}

}  // namespace

std::string own_unified_cgroup() {
    const auto text = base::read_file("/proc/self/cgroup", proc_cgroup_bytes_max);
    if (!text) return "/";
    constexpr std::string_view unified = "0::";
    const auto at = text->starts_with(unified) ? 0 : text->find("\n0::");
    if (at == std::string::npos) return "/";
    const auto start = text->find("0::", at) + unified.size();
    return text->substr(start, text->find('\n', start) - start);
}

base::Result<std::unique_ptr<Cgroups>> find_cgroups(const CgroupPlace& place) {
    std::error_code ignored;
    if (std::filesystem::exists(place.root / "cgroup.controllers", ignored)) {
        return tried(cgroups_v2(place));
    }
    return tried(cgroups_v1(place));
}

}  // namespace executor
