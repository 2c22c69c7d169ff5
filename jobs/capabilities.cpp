#include "jobs/capabilities.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace jobs {

namespace {

constexpr std::size_t capability_entries_max = 64;

std::optional<std::string> why_unfit_process(const Capabilities& capabilities, const Job& job) {
    const auto* script = std::get_if<Script>(&job.binding);
    if (!capabilities.disk_fault.empty()) return capabilities.disk_fault;
    const std::string runtime(script == nullptr ? "bash" : name(script->runtime));
    if (!capabilities.sandbox_fault.empty() && capabilities.runtimes.empty()) {
        return "no sandbox: " + capabilities.sandbox_fault;
    }
    if (!capabilities.runtimes.contains(runtime)) {
        return fmt::format("the runtime '{}' is not installed", runtime);
    }
    if (std::ranges::find(capabilities.networks, name(job.network)) ==
        capabilities.networks.end()) {
        return fmt::format("network '{}' is not available", name(job.network));
    }
    if (job.caps.memory_mb > capabilities.memory_mb) {
        return fmt::format(
            "the job may use {} MB of memory, the machine has {}",
            job.caps.memory_mb,
            capabilities.memory_mb
        );
    }
    if (job.caps.cpus > static_cast<double>(capabilities.cpus)) {
        return fmt::format(
            "the job may use {} CPUs, the machine has {}", job.caps.cpus, capabilities.cpus
        );
    }
    return std::nullopt;
}

}  // namespace

base::Json to_json(const Capabilities& capabilities) {
    base::Json json = {
        {"runtimes", capabilities.runtimes},
        {"builtins", capabilities.builtins},
        {"sandbox", capabilities.sandbox},
        {"sandboxVersion", capabilities.sandbox_version},
        {"cgroup", capabilities.cgroup},
        {"enforced", capabilities.enforced},
        {"networks", capabilities.networks},
        {"cpus", capabilities.cpus},
        {"memoryMb", capabilities.memory_mb},
        {"version", capabilities.version},
    };
    if (!capabilities.sandbox_fault.empty()) json["sandboxFault"] = capabilities.sandbox_fault;
    if (!capabilities.disk_fault.empty()) json["diskFault"] = capabilities.disk_fault;
    return json;
}

Capabilities read_capabilities(
    const base::Json& json, const std::string& pointer, wire::Faults& faults
) {
    wire::ObjectReader reader(json, pointer, faults);
    Capabilities capabilities;
    capabilities.runtimes = reader.text_map("runtimes", capability_entries_max);
    capabilities.builtins = reader.texts("builtins", capability_entries_max);
    capabilities.sandbox = reader.text("sandbox");
    capabilities.sandbox_version = reader.text("sandboxVersion");
    capabilities.sandbox_fault = reader.optional_text("sandboxFault").value_or("");
    capabilities.disk_fault = reader.optional_text("diskFault").value_or("");
    capabilities.cgroup = reader.text("cgroup");
    capabilities.enforced = reader.text_map("enforced", capability_entries_max);
    capabilities.networks = reader.texts("networks", capability_entries_max);
    capabilities.cpus = reader.integer("cpus", {1, 1 << 20U});
    capabilities.memory_mb = reader.integer("memoryMb");
    capabilities.version = reader.text("version");
    reader.finish();
    return capabilities;
}

std::optional<std::string> why_unfit(const Capabilities& capabilities, const Job& job) {
    if (const auto* builtin = std::get_if<Builtin>(&job.binding)) {
        const auto& known = capabilities.builtins;
        if (std::ranges::find(known, builtin->function) != known.end()) return std::nullopt;
        return fmt::format("the builtin '{}' is not known", builtin->function);
    }
    return why_unfit_process(capabilities, job);
}

}  // namespace jobs
