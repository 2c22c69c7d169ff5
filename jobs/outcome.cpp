#include "jobs/outcome.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace jobs {

namespace {

constexpr std::array outcome_classes{
    OutcomeClass::done,
    OutcomeClass::infra,
    OutcomeClass::job,
    OutcomeClass::limit,
    OutcomeClass::cancelled,
    OutcomeClass::rejected,
    OutcomeClass::interrupted,
};
constexpr std::array limit_kinds{
    LimitKind::wall,
    LimitKind::cpu,
    LimitKind::memory,
    LimitKind::pids,
    LimitKind::output,
    LimitKind::disk,
};
constexpr std::size_t sandbox_entries_max = 32;

base::Json output_json(const Output& output) {
    base::Json json = {
        {"bytesTotal", static_cast<std::int64_t>(output.bytes_total)},
        {"bytesKept", static_cast<std::int64_t>(output.bytes_kept)},
    };
    if (output.truncated()) json["bytesHead"] = static_cast<std::int64_t>(output.bytes_head);
    wire::put_bytes(json, "text", output.text);
    if (output.sha256) {
        json["sha256"] = output.sha256->hex();
        wire::put_bytes(json, "tail", output.tail);
    }
    return json;
}

Output read_output(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Output output;
    output.bytes_total = static_cast<std::uint64_t>(reader.integer("bytesTotal"));
    output.bytes_kept = static_cast<std::uint64_t>(reader.integer("bytesKept"));
    if (output.bytes_kept > output.bytes_total) reader.fault("bytesKept", "exceeds bytesTotal");
    if (const auto head = reader.optional_integer("bytesHead")) {
        output.bytes_head = static_cast<std::uint64_t>(*head);
        if (output.bytes_head > output.bytes_kept) reader.fault("bytesHead", "exceeds bytesKept");
        if (!output.truncated()) reader.fault("bytesHead", "is given though nothing was left out");
    }
    output.text = reader.optional_bytes("text", {output_inline_bytes_max}).value_or("");
    if (reader.optional("sha256") != nullptr) {
        output.sha256 = reader.digest("sha256");
        output.tail = reader.optional_bytes("tail", {output_preview_bytes}).value_or("");
        if (output.text.size() > output_preview_bytes) reader.fault("text", "is no preview");
    } else if (output.text.size() != output.bytes_kept) {
        reader.fault("text", "has not the length that bytesKept says");
    }
    reader.finish();
    return output;
}

base::Json sandbox_json(const Sandbox& sandbox) {
    return {
        {"backend", sandbox.backend},
        {"version", sandbox.version},
        {"cgroup", sandbox.cgroup},
        {"enforced", sandbox.enforced},
    };
}

Sandbox read_sandbox(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Sandbox sandbox;
    sandbox.backend = reader.text("backend", {64, false});
    sandbox.version = reader.text("version", {256});
    sandbox.cgroup = reader.text("cgroup", {64});
    sandbox.enforced = reader.text_map("enforced", sandbox_entries_max);
    reader.finish();
    return sandbox;
}

base::Json error_json(const OutcomeError& error) {
    return {{"code", base::name(error.code)}, {"message", error.message}};
}

OutcomeError read_error(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    OutcomeError error;
    const auto code = reader.text("code");
    const auto known = base::error_code_from_name(code);
    if (!known) reader.fault("code", fmt::format("'{}' is not an error code", code));
    error.code = known.value_or(base::ErrorCode::internal);
    error.message = reader.text("message");
    reader.finish();
    return error;
}

// What is wrong with the job or its content is wrong on every executor.
bool of_the_job(base::ErrorCode code) {
    return code == base::ErrorCode::tamper || code == base::ErrorCode::too_large ||
           code == base::ErrorCode::validation;
}

std::optional<int> narrow(std::optional<std::int64_t> value) {
    if (!value) return std::nullopt;
    return static_cast<int>(*value);
}

void read_limits(wire::ObjectReader& reader, Outcome& outcome) {
    for (const auto& text : reader.texts("limits", limit_kinds.size())) {
        const auto limit = limit_kind(text);
        if (limit) {
            outcome.limits.push_back(*limit);
        } else {
            reader.fault("limits", fmt::format("'{}' is not a limit", text));
        }
    }
}

}  // namespace

void Output::keep_preview_only() {
    sha256.reset();
    tail.clear();
    bytes_kept = text.size();
    bytes_head = truncated() ? text.size() : 0;
}

bool Outcome::given_back() const {
    const bool unstarted =
        outcome_class == OutcomeClass::infra || outcome_class == OutcomeClass::rejected;
    return unstarted && error && !of_the_job(error->code);
}

base::Json to_json(const Progress& progress) {
    return {{"percent", progress.percent}, {"message", progress.message}};
}

Progress read_progress(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Progress progress{
        .percent = reader.integer("percent", {0, 100}),
        .message = reader.text("message", {progress_message_bytes_max}),
    };
    reader.finish();
    return progress;
}

std::string_view name(OutcomeClass outcome_class) {
    switch (outcome_class) {
        case OutcomeClass::done:
            return "done";
        case OutcomeClass::infra:
            return "infra";
        case OutcomeClass::job:
            return "job";
        case OutcomeClass::limit:
            return "limit";
        case OutcomeClass::cancelled:
            return "cancelled";
        case OutcomeClass::rejected:
            return "rejected";
        case OutcomeClass::interrupted:
            return "interrupted";
    }
    std::unreachable();
}

std::string_view name(LimitKind limit) {
    switch (limit) {
        case LimitKind::wall:
            return "wall";
        case LimitKind::cpu:
            return "cpu";
        case LimitKind::memory:
            return "memory";
        case LimitKind::pids:
            return "pids";
        case LimitKind::output:
            return "output";
        case LimitKind::disk:
            return "disk";
    }
    std::unreachable();
}

std::optional<OutcomeClass> outcome_class(std::string_view text) {
    const auto* const found =
        std::ranges::find_if(outcome_classes, [&](auto value) { return name(value) == text; });
    return found == outcome_classes.end() ? std::nullopt : std::optional(*found);
}

std::optional<LimitKind> limit_kind(std::string_view text) {
    const auto* const found =
        std::ranges::find_if(limit_kinds, [&](auto value) { return name(value) == text; });
    return found == limit_kinds.end() ? std::nullopt : std::optional(*found);
}

base::Json to_json(const Usage& usage) {
    return {
        {"wallMs", usage.wall_ms},
        {"cpuMs", usage.cpu_ms},
        {"memoryPeakBytes", usage.memory_peak_bytes},
        {"pidsPeak", usage.pids_peak},
    };
}

Usage read_usage(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    const Usage usage{
        .wall_ms = reader.integer("wallMs"),
        .cpu_ms = reader.integer("cpuMs"),
        .memory_peak_bytes = reader.integer("memoryPeakBytes"),
        .pids_peak = reader.integer("pidsPeak"),
    };
    reader.finish();
    return usage;
}

Outcome given_back(std::string why) {
    Outcome outcome;
    outcome.outcome_class = OutcomeClass::infra;
    outcome.error = {base::ErrorCode::overloaded, std::move(why)};
    outcome.sandbox.backend = "none";
    outcome.sandbox.cgroup = "none";
    return outcome;
}

base::Json to_json(const Outcome& outcome) {
    base::Json json = {
        {"class", name(outcome.outcome_class)},
        {"stdout", output_json(outcome.standard_output)},
        {"stderr", output_json(outcome.standard_error)},
        {"durationMs", outcome.duration_ms},
        {"usage", to_json(outcome.usage)},
        {"sandbox", sandbox_json(outcome.sandbox)},
    };
    if (outcome.exit_code) json["exitCode"] = *outcome.exit_code;
    if (outcome.signal) json["signal"] = *outcome.signal;
    if (!outcome.limits.empty()) {
        auto& limits = json["limits"] = base::Json::array();
        for (const auto limit : outcome.limits)
            limits.push_back(name(limit));
    }
    if (outcome.error) json["error"] = error_json(*outcome.error);
    if (outcome.progress) json["progress"] = to_json(*outcome.progress);
    return json;
}

Outcome read_outcome(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Outcome outcome;
    const auto text = reader.text("class");
    const auto known = outcome_class(text);
    if (!known) reader.fault("class", fmt::format("'{}' is not an outcome class", text));
    outcome.outcome_class = known.value_or(OutcomeClass::infra);
    outcome.exit_code = narrow(reader.optional_integer("exitCode", {0, 255}));
    outcome.signal = narrow(reader.optional_integer("signal", {1, 127}));
    if (const auto* output = reader.required("stdout")) {
        outcome.standard_output = read_output(*output, reader.child("stdout"), faults);
    }
    if (const auto* output = reader.required("stderr")) {
        outcome.standard_error = read_output(*output, reader.child("stderr"), faults);
    }
    outcome.duration_ms = reader.integer("durationMs");
    if (const auto* usage = reader.required("usage")) {
        outcome.usage = read_usage(*usage, reader.child("usage"), faults);
    }
    if (const auto* sandbox = reader.required("sandbox")) {
        outcome.sandbox = read_sandbox(*sandbox, reader.child("sandbox"), faults);
    }
    read_limits(reader, outcome);
    if (const auto* error = reader.optional("error")) {
        outcome.error = read_error(*error, reader.child("error"), faults);
    } else if (known && *known != OutcomeClass::done) {
        reader.fault("error", "is missing: only the class 'done' has none");
    }
    if (const auto* progress = reader.optional("progress")) {
        outcome.progress = read_progress(*progress, reader.child("progress"), faults);
    }
    reader.finish();
    return outcome;
}

base::Result<Outcome> outcome_from_json(const base::Json& json) {
    wire::Faults faults;
    auto outcome = read_outcome(json, "", faults);
    if (!faults.empty()) return base::fail(wire::error("the outcome", std::move(faults)));
    return outcome;
}

base::Digest digest(const Outcome& outcome) {
    return base::sha256(base::canonical(to_json(outcome)));
}

}  // namespace jobs
