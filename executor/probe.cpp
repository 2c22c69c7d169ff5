#include "executor/probe.hpp"

#include <algorithm>
#include <filesystem>
#include <sched.h>
#include <sys/sysinfo.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

std::vector<std::string> version_arguments(jobs::Runtime runtime) {
    switch (runtime) {
        case jobs::Runtime::node:
            return {"node", "--version"};
        case jobs::Runtime::sh:
            return {"sh", "-c", "echo posix"};
        case jobs::Runtime::bash:
            return {"bash", "-c", "echo \"$BASH_VERSION\""};
        case jobs::Runtime::python3:
            return {"python3", "--version"};
    }
    std::unreachable();
}

}  // namespace

std::optional<RuntimeCommand> find_runtime(jobs::Runtime runtime) {
    for (const char* folder : {"/usr/local/bin", "/usr/bin"}) {
        const auto path = std::filesystem::path(folder) / jobs::name(runtime);
        std::error_code failed;
        const auto target = std::filesystem::canonical(path, failed);
        // Only what lies below /usr is there inside a sandbox.
        if (failed || !target.string().starts_with("/usr/")) continue;
        if (::access(path.c_str(), X_OK) != 0) continue;
        return RuntimeCommand{path.string(), version_arguments(runtime)};
    }
    return std::nullopt;
}

std::int64_t machine_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

std::int64_t machine_memory_mb() {
    struct sysinfo info{};
    if (::sysinfo(&info) != 0) return 0;
    return static_cast<std::int64_t>((info.totalram * info.mem_unit) >> 20U);
}

}  // namespace executor
