#include "transitions/call.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::Json;

namespace {

std::string readable(std::string_view text) {
    if (base::valid_utf8(text)) return std::string(text);
    std::string made;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t length = 1;
        while (length < 4 && i + length < text.size() && !base::valid_utf8(text.substr(i, length)))
            ++length;
        if (base::valid_utf8(text.substr(i, length))) {
            made.append(text, i, length);
            i += length;
        } else {
            made += "\xEF\xBF\xBD";
            ++i;
        }
    }
    return made;
}

void put_stream(Json& result, const std::string& name, const jobs::Output& output) {
    result[name] = readable(output.text);
    if (!output.sha256) return;
    result[name + "Urn"] = base::blob_urn(*output.sha256);
    result[name + "Bytes"] = output.bytes_kept;
    result[name + "Tail"] = readable(output.tail);
}

Json meta_of(const jobs::Outcome& outcome, const OutcomeContext& context) {
    Json meta = {
        {"operation", text(context.attempt.operation)},
        {"attempt", context.attempt.n},
        {"durationMs", outcome.duration_ms},
        {"artifacts", Json::array()},
        {"sandbox", outcome.sandbox.backend},
    };
    if (!context.tool_id.empty()) meta["toolId"] = context.tool_id;
    if (!context.version_hash.empty()) meta["versionHash"] = context.version_hash;
    if (outcome.exit_code) meta["exitCode"] = *outcome.exit_code;
    if (outcome.usage.cpu_ms != 0) meta["cpuMs"] = outcome.usage.cpu_ms;
    if (outcome.usage.memory_peak_bytes != 0)
        meta["memoryPeakBytes"] = outcome.usage.memory_peak_bytes;
    return meta;
}

Json command_result(const jobs::Outcome& outcome) {
    Json result = {
        {"exitCode", outcome.exit_code ? Json(*outcome.exit_code) : Json(nullptr)},
        {"durationMs", outcome.duration_ms},
        {"truncated", outcome.standard_output.truncated() || outcome.standard_error.truncated()},
    };
    if (outcome.signal) result["signal"] = *outcome.signal;
    put_stream(result, "stdout", outcome.standard_output);
    put_stream(result, "stderr", outcome.standard_error);
    return result;
}

// stdout of a tool: one JSON object, plain or the full envelope; anything else is text.
struct ToolAnswer {
    Json data;
    std::optional<base::Error> error;
};

ToolAnswer tool_answer(const jobs::Output& output) {
    if (output.sha256) {
        return {
            Json{
                {"preview", readable(output.text)},
                {"size", output.bytes_kept},
                {"urn", base::blob_urn(*output.sha256)}
            },
            std::nullopt
        };
    }
    auto parsed = base::parse_json(output.text);
    if (!parsed || output.truncated()) return {Json{{"text", readable(output.text)}}, std::nullopt};
    if (!parsed->is_object()) return {std::move(*parsed), std::nullopt};
    for (const char* key : {"ok", "status", "data", "error"}) {
        if (!parsed->contains(key)) return {std::move(*parsed), std::nullopt};
    }
    if (parsed->at("ok") == true) return {parsed->at("data"), std::nullopt};
    const Json& error = parsed->at("error");
    std::string message = "the tool answered ok: false";
    if (error.is_string()) message = error;
    if (error.is_object() && error.contains("message") && error.at("message").is_string())
        message = error.at("message");
    return {parsed->at("data"), base::Error{ErrorCode::upstream, std::move(message), {}, {}}};
}

base::Error error_of(const jobs::Outcome& outcome) {
    if (outcome.outcome_class == jobs::OutcomeClass::job && outcome.exit_code) {
        return {ErrorCode::exit_nonzero, fmt::format("exit status {}", *outcome.exit_code), {}, {}};
    }
    if (outcome.outcome_class == jobs::OutcomeClass::job && outcome.signal) {
        return {
            ErrorCode::exit_nonzero, fmt::format("ended by signal {}", *outcome.signal), {}, {}
        };
    }
    if (outcome.error) return {outcome.error->code, outcome.error->message, {}, {}};
    return {
        ErrorCode::internal,
        fmt::format("the job ended as '{}'", jobs::name(outcome.outcome_class)),
        {},
        {}
    };
}

}  // namespace

std::optional<std::string> answer_of(const jobs::Outcome& outcome) {
    const auto answer = tool_answer(outcome.standard_output);
    if (answer.error) return std::nullopt;
    return base::canonical(answer.data);
}

engine::Outcome to_engine(const jobs::Outcome& outcome, const OutcomeContext& context) {
    using Kind = engine::Outcome::Kind;
    engine::Outcome made;
    made.operation = context.attempt.operation;
    made.attempt = context.attempt.n;
    made.fencing = context.fencing;
    made.stale = context.stale;
    made.digest = jobs::digest(outcome).hex();
    made.meta = base::canonical(meta_of(outcome, context));
    if (outcome.outcome_class == jobs::OutcomeClass::done) {
        if (context.reply == command_reply) {
            made.result = base::canonical(command_result(outcome));
            return made;
        }
        auto answer = tool_answer(outcome.standard_output);
        made.result = base::canonical(answer.data);
        if (!answer.error) return made;
        made.kind = Kind::error;
        made.error = std::move(*answer.error);
        made.details = base::canonical(command_result(outcome));
        return made;
    }
    // A lease that was cancelled is not in force any more: under one that is, nobody here asked for
    // the stop.
    const bool interrupted = outcome.outcome_class == jobs::OutcomeClass::interrupted ||
                             outcome.outcome_class == jobs::OutcomeClass::cancelled;
    const bool unstarted = outcome.outcome_class == jobs::OutcomeClass::infra ||
                           outcome.outcome_class == jobs::OutcomeClass::rejected;
    made.kind = interrupted ? Kind::lost : unstarted ? Kind::never_started : Kind::error;
    made.error = error_of(outcome);
    if (!unstarted) made.details = base::canonical(command_result(outcome));
    return made;
}

}  // namespace transitions
