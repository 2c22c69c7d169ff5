#include "transitions/call.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

std::string to_call_json(const PlannedJob& planned) {
    return base::canonical(Json{{"job", jobs::to_json(planned.job)}, {"reply", planned.reply}});
}

Result<PlannedJob> from_call_json(std::string_view call) {
    const auto parsed = base::parse_json(call, base::limits::stored);
    if (!parsed) return fail(parsed.error());
    if (!parsed->is_object() || !parsed->contains("job") || !parsed->contains("reply") ||
        !parsed->at("reply").is_string()) {
        return fail(ErrorCode::internal, "an operation's call is malformed");
    }
    auto job = jobs::job_from_json(parsed->at("job"));
    if (!job) return fail(std::move(job.error()));
    return PlannedJob{std::move(*job), parsed->at("reply")};
}

Result<std::string> readable_call_json(const PlannedJob& planned) {
    std::string call = to_call_json(planned);
    if (call.size() > base::limits::call_bytes_max) {
        return fail(
            ErrorCode::limit,
            fmt::format(
                "a call of {} bytes; the limit is {}", call.size(), base::limits::call_bytes_max
            ),
            "put large arguments into blobs and pass their URNs"
        );
    }
    auto read = from_call_json(call);
    if (read && *read == planned) return call;
    if (read) return fail(ErrorCode::internal, "a call is read back as another one");
    auto error = std::move(read.error());
    error.code = ErrorCode::limit;
    error.message = "the call is beyond what an executor can be sent: " + error.message;
    return fail(std::move(error));
}

namespace {

Result<jobs::Binding> script_binding(const Json& binding) {
    const auto runtime = jobs::runtime(binding.value("runtime", ""));
    const auto digest = base::Digest::from_hex(binding.value("sha256", ""));
    if (!runtime || !digest)
        return fail(ErrorCode::unprepared, "the tool's entry names no runtime or no pin");
    return jobs::Script{
        .runtime = *runtime,
        .filename = binding.value("filename", "script"),
        .sha256 = *digest,
        .size = binding.value("sizeBytes", std::uint64_t{0}),
        .content = std::nullopt,
    };
}

Result<jobs::Binding> builtin_binding(const Json& binding) {
    return jobs::Builtin{binding.value("function", "")};
}

// The registry: a binding type and the function that makes a job's binding of it.
struct Kind {
    std::string_view type;
    Result<jobs::Binding> (*make)(const Json& binding);
};
constexpr std::array kinds = {Kind{"script", script_binding}, Kind{"builtin", builtin_binding}};

jobs::Caps caps_of(const Json& entry) {
    jobs::Caps caps;
    const auto found = entry.find("caps");
    if (found == entry.end()) return caps;
    caps.wall_ms = found->value("wallMs", caps.wall_ms);
    caps.cpu_ms = found->value("cpuMs", caps.cpu_ms);
    caps.memory_mb = found->value("memoryMb", caps.memory_mb);
    caps.pids = found->value("pids", caps.pids);
    caps.output_bytes = found->value("outputBytes", caps.output_bytes);
    caps.artifact_bytes = found->value("artifactBytes", caps.artifact_bytes);
    caps.cpus = found->value("cpus", caps.cpus);
    return caps;
}

}  // namespace

namespace {

Result<jobs::Job> make_job(const catalog::Item& item) {
    const auto entry = base::parse_json(item.entry, base::limits::stored);
    if (!entry) return fail(entry.error());
    const auto* kind = std::ranges::find(kinds, item.type, &Kind::type);
    if (kind == kinds.end()) {
        return fail(
            ErrorCode::unsupported,
            fmt::format(
                "tool '{}' has a binding of type '{}', which this netwright does not know",
                item.id,
                item.type
            ),
            "upgrade the master"
        );
    }
    auto binding = kind->make(entry->at("binding"));
    if (!binding) return fail(std::move(binding.error()));
    jobs::Job job;
    job.tool_id = item.id;
    job.version_hash = item.version_hash;
    job.effect = jobs::effect(entry->value("effect", "once")).value_or(jobs::Effect::once);
    job.binding = std::move(*binding);
    job.caps = caps_of(*entry);
    job.network = jobs::network(entry->value("network", "deny")).value_or(jobs::Network::deny);
    return job;
}

}  // namespace

Result<jobs::Job> job_for(const catalog::Item& item) {
    try {
        return make_job(item);
    } catch (const Json::exception& error) {
        return fail(
            ErrorCode::unprepared,
            fmt::format("the entry of tool '{}' is malformed: {}", item.id, error.what()),
            "register it again: netwright tool register DIR"
        );
    }
}

}  // namespace transitions
