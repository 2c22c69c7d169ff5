#include "jobs/job.hpp"

#include "jobs/base64.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <utility>

namespace jobs {

namespace {

template <class Enum, std::size_t Count>
std::optional<Enum> from_name(const std::array<Enum, Count>& all, std::string_view text) {
    const auto found = std::ranges::find_if(all, [&](Enum value) { return name(value) == text; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

template <class Enum>
Enum read_name(
    wire::ObjectReader& reader, std::string_view key, std::optional<Enum> (*parse)(std::string_view)
) {
    const auto text = reader.text(key, {64, false});
    const auto value = parse(text);
    if (!value && !text.empty()) reader.fault(key, fmt::format("'{}' is not known", text));
    return value.value_or(Enum{});
}

base::Json binding_json(const Binding& binding) {
    if (const auto* builtin = std::get_if<Builtin>(&binding)) {
        return {{"type", "builtin"}, {"function", builtin->function}};
    }
    if (const auto* command = std::get_if<Command>(&binding)) {
        return {{"type", "command"}, {"script", command->script}};
    }
    const auto& script = std::get<Script>(binding);
    base::Json json = {
        {"type", "script"},
        {"runtime", name(script.runtime)},
        {"filename", script.filename},
        {"sha256", script.sha256.hex()},
        {"sizeBytes", static_cast<std::int64_t>(script.size)},
    };
    if (script.content) json["contentBase64"] = base64_encode(*script.content);
    return json;
}

Script read_script(wire::ObjectReader& reader) {
    Script script;
    script.runtime = read_name<Runtime>(reader, "runtime", runtime);
    script.filename = reader.text("filename", {128, false});
    if (!script.filename.empty() && !valid_filename(script.filename)) {
        reader.fault("filename", "is not one plain path component");
    }
    script.sha256 = reader.digest("sha256");
    script.size = static_cast<std::uint64_t>(reader.integer("sizeBytes"));
    const auto encoded =
        reader.optional_text("contentBase64", {content_inline_bytes_max / 3 * 4 + 8});
    if (encoded) {
        script.content = base64_decode(*encoded);
        if (!script.content) reader.fault("contentBase64", "is not base64");
    }
    return script;
}

Binding read_binding(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Binding binding;
    const auto type = reader.text("type");
    if (type == "builtin") {
        binding = Builtin{reader.text("function", {128, false})};
    } else if (type == "script") {
        binding = read_script(reader);
    } else if (type == "command") {
        Command command{reader.text("script", {command_bytes_max, false})};
        // It becomes an argument of bash, which ends at a zero byte.
        if (command.script.contains('\0')) reader.fault("script", "holds a zero byte");
        binding = std::move(command);
    } else {
        reader.fault("type", fmt::format("'{}' is not builtin, script or command", type));
        return binding;
    }
    reader.finish();
    return binding;
}

base::Json caps_json(const Caps& caps) {
    return {
        {"wallMs", caps.wall_ms},
        {"cpuMs", caps.cpu_ms},
        {"memoryMb", caps.memory_mb},
        {"pids", caps.pids},
        {"outputBytes", caps.output_bytes},
        {"artifactBytes", caps.artifact_bytes},
        {"cpus", caps.cpus},
    };
}

Caps read_caps(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    constexpr std::int64_t day_ms = 86'400'000;
    constexpr std::int64_t tebibyte = std::int64_t{1} << 40U;
    const Caps caps{
        .wall_ms = reader.integer("wallMs", {1, 30 * day_ms}),
        .cpu_ms = reader.integer("cpuMs", {1, 3000 * day_ms}),
        .memory_mb = reader.integer("memoryMb", {1, tebibyte >> 20U}),
        .pids = reader.integer("pids", {1, 1 << 20U}),
        .output_bytes = reader.integer("outputBytes", {0, tebibyte}),
        .artifact_bytes = reader.integer("artifactBytes", {0, tebibyte}),
        .cpus = reader.number("cpus", 0.01, 4096),
    };
    reader.finish();
    return caps;
}

bool env_name_readable(std::string_view name) {
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
    const bool plain = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
    if (!plain || name.starts_with("LD_") || name.starts_with("NETWRIGHT_")) return false;
    constexpr std::array<std::string_view, 7> reserved{
        "PATH", "HOME", "TMPDIR", "PYTHONPATH", "NODE_OPTIONS", "BASH_ENV", "ENV"
    };
    return std::ranges::find(reserved, name) == reserved.end();
}

void read_environment(wire::ObjectReader& reader, Job& job) {
    job.env = reader.text_map("env", env_count_max);
    for (const auto& [key, value] : job.env) {
        if (!env_name_readable(key)) {
            reader.fault("env", fmt::format("'{}' must not be set by a job", key));
        }
        if (value.find('\0') != std::string::npos) {
            reader.fault("env", fmt::format("'{}' holds a zero byte", key));
        }
    }
    job.argv = reader.texts("argv", argv_count_max);
    for (const auto& argument : job.argv) {
        if (argument.find('\0') != std::string::npos) reader.fault("argv", "holds a zero byte");
    }
}

}  // namespace

std::string_view name(Effect effect) {
    switch (effect) {
        case Effect::pure:
            return "pure";
        case Effect::idempotent:
            return "idempotent";
        case Effect::once:
            return "once";
    }
    std::unreachable();
}

std::string_view name(Runtime runtime) {
    switch (runtime) {
        case Runtime::node:
            return "node";
        case Runtime::sh:
            return "sh";
        case Runtime::bash:
            return "bash";
        case Runtime::python3:
            return "python3";
    }
    std::unreachable();
}

std::string_view name(Network network) {
    switch (network) {
        case Network::deny:
            return "deny";
        case Network::allow:
            return "allow";
    }
    std::unreachable();
}

std::optional<Effect> effect(std::string_view name) {
    return from_name(std::array{Effect::pure, Effect::idempotent, Effect::once}, name);
}

std::optional<Runtime> runtime(std::string_view name) {
    return from_name(std::array{Runtime::node, Runtime::sh, Runtime::bash, Runtime::python3}, name);
}

std::optional<Network> network(std::string_view name) {
    return from_name(std::array{Network::deny, Network::allow}, name);
}

bool valid_filename(std::string_view filename) {
    if (filename.empty() || filename.size() > 128) return false;
    if (filename.front() == '.' || filename.front() == '-') return false;
    return std::ranges::all_of(filename, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    });
}

bool env_name_allowed(std::string_view name) {
    if (!env_name_readable(name)) return false;
    if (name.starts_with("TOOL_") || name.starts_with("LC_")) return true;
    constexpr std::array<std::string_view, 8> harmless{
        "TZ", "LANG", "LANGUAGE", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"
    };
    return std::ranges::find(harmless, name) != harmless.end();
}

namespace {

// As a JSON string: a control character takes six bytes. What is not UTF-8 is sent as base64, which
// is less.
std::size_t quoted_bytes(std::string_view text) {
    std::size_t bytes = text.size() + 2;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) bytes += 5;
        if (c == '"' || c == '\\') ++bytes;
    }
    return std::max(bytes, text.size() / 3 * 4 + 8);
}

}  // namespace

std::size_t bytes_on_the_wire(const Job& job) {
    constexpr std::size_t rest = 2048;  // names, numbers, digests and ids
    std::size_t bytes = rest + quoted_bytes(job.args) + quoted_bytes(job.input.value_or(""));
    if (const auto* script = std::get_if<Script>(&job.binding)) {
        // It is read when it ships, and only up to this size.
        bytes += std::min<std::size_t>(script->size, content_inline_bytes_max) / 3 * 4 + 8;
    } else if (const auto* command = std::get_if<Command>(&job.binding)) {
        bytes += quoted_bytes(command->script);
    }
    for (const auto& argument : job.argv)
        bytes += quoted_bytes(argument) + 1;
    for (const auto& [name, value] : job.env)
        bytes += quoted_bytes(name) + quoted_bytes(value) + 2;
    return bytes;
}

base::Json to_json(const Job& job) {
    base::Json json = {
        {"model", job.model},
        {"attempt", base::text(job.attempt)},
        {"effect", name(job.effect)},
        {"binding", binding_json(job.binding)},
        {"caps", caps_json(job.caps)},
        {"network", name(job.network)},
    };
    if (!job.tool_id.empty()) json["toolId"] = job.tool_id;
    if (!job.version_hash.empty()) json["versionHash"] = job.version_hash;
    if (!job.argv.empty()) json["argv"] = job.argv;
    if (!job.env.empty()) json["env"] = job.env;
    if (job.input) wire::put_bytes(json, "input", *job.input);
    if (job.args != "{}") json["args"] = job.args;
    if (!job.idempotency_key.empty()) json["idempotencyKey"] = job.idempotency_key;
    return json;
}

Job read_job(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Job job;
    job.model = reader.text("model", {128, false});
    const auto attempt = reader.text("attempt");
    const auto id = base::attempt_id(attempt);
    if (!id) reader.fault("attempt", fmt::format("'{}' is not an attempt id", attempt));
    job.attempt = id.value_or(base::AttemptId{});
    job.effect = read_name<Effect>(reader, "effect", effect);
    if (const auto* binding = reader.required("binding")) {
        job.binding = read_binding(*binding, reader.child("binding"), faults);
    }
    if (const auto* caps = reader.required("caps")) {
        job.caps = read_caps(*caps, reader.child("caps"), faults);
    }
    job.network = read_name<Network>(reader, "network", network);
    job.tool_id = reader.optional_text("toolId", {256}).value_or("");
    job.version_hash = reader.optional_text("versionHash", {256}).value_or("");
    read_environment(reader, job);
    job.input = reader.optional_bytes("input", {input_bytes_max});
    job.args = reader.optional_text("args", {args_bytes_max}).value_or("{}");
    job.idempotency_key = reader.optional_text("idempotencyKey", {512}).value_or("");
    reader.finish();
    return job;
}

base::Result<Job> job_from_json(const base::Json& json) {
    wire::Faults faults;
    auto job = read_job(json, "", faults);
    if (!faults.empty()) return base::fail(wire::error("the job", std::move(faults)));
    return job;
}

}  // namespace jobs
