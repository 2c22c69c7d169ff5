#include "base/utf8.hpp"
#include "transitions/call.hpp"
#include "transitions/contract.hpp"
#include "transitions/streams.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::Json;

namespace {

constexpr std::size_t error_message_bytes_max = 4000;

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
    if (outcome.usage.pids_peak != 0) meta["pidsPeak"] = outcome.usage.pids_peak;
    if (!outcome.limits.empty()) meta["limits"] = usage_json(outcome).at("limits");
    return meta;
}

// What a tool answered: the envelope's data, or all that it printed.
struct ToolAnswer {
    Json data;
    std::optional<base::Error> error;
};

std::optional<ToolAnswer> envelope(Json& answer) {
    if (!answer.is_object()) return std::nullopt;
    for (const char* key : {"ok", "status", "data", "error"})
        if (!answer.contains(key)) return std::nullopt;
    if (answer.at("ok") == true) return ToolAnswer{std::move(answer.at("data")), std::nullopt};
    const Json& error = answer.at("error");
    std::string message = "the tool answered ok: false";
    if (error.is_string()) message = error;
    if (error.is_object() && error.contains("message") && error.at("message").is_string())
        message = error.at("message");
    message = base::shortened(message, error_message_bytes_max);
    return ToolAnswer{
        std::move(answer.at("data")), base::Error{ErrorCode::upstream, std::move(message), {}, {}}
    };
}

Json text_answer(const jobs::Output& output) {
    Json answer = {{"text", base::lossy_utf8(output.text)}};
    if (base::valid_utf8(output.text)) return answer;
    answer["replaced"] = true;
    answer["size"] = output.bytes_kept;
    answer["urn"] = base::blob_urn(base::sha256(output.text));
    return answer;
}

base::Error was_cut(const jobs::Output& output) {
    return {
        ErrorCode::bad_output,
        fmt::format(
            "the tool's answer was cut off at its limit: it has {} bytes, {} were kept",
            output.bytes_total,
            output.bytes_kept
        ),
        "raise its cap outputBytes, or allow that with contract.allowTruncated",
        {}
    };
}

// Data that is too long for a token is told by a preview, and found by its URN.
ToolAnswer tool_answer(const jobs::Outcome& outcome, const OutcomeContext& context) {
    const jobs::Output& output = outcome.standard_output;
    if (output.truncated()) {
        const bool allowed = context.contract != nullptr && context.contract->allow_truncated;
        if (!allowed) return {nullptr, was_cut(output)};
        return {cut_answer(output), std::nullopt};
    }
    if (output.sha256 && context.uploaded == nullptr) return {long_answer(output), std::nullopt};
    auto parsed = base::parse_json(output.sha256 ? *context.uploaded : output.text);
    if (!parsed) {
        return {output.sha256 ? long_answer(output) : text_answer(output), std::nullopt};
    }
    if (auto answer = envelope(*parsed)) return std::move(*answer);
    return {std::move(*parsed), std::nullopt};
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
    if (outcome.error) {
        return {
            outcome.error->code,
            base::shortened(outcome.error->message, error_message_bytes_max),
            {},
            {}
        };
    }
    return {
        ErrorCode::internal,
        fmt::format("the job ended as '{}'", jobs::name(outcome.outcome_class)),
        {},
        {}
    };
}

// The contract is for what the tool printed, whole. A command's tool that says that it failed is
// its reader's affair.
base::Result<void> fits_contract(
    const ToolAnswer& answer,
    const std::string& data,
    const jobs::Output& output,
    const OutcomeContext& context
) {
    if (context.contract == nullptr || !context.contract->output) return {};
    if (output.truncated()) return base::fail(was_cut(output));
    if (answer.error) return {};
    if (output.sha256 && context.uploaded == nullptr) {
        return base::fail(
            ErrorCode::bad_output,
            "the tool's answer is too long to be checked against its contract"
        );
    }
    return context.contract->answer(data);
}

// What a job that ended well gives: a result, or an error after all.
void settle_done(
    engine::Outcome& made, const jobs::Outcome& outcome, const OutcomeContext& context
) {
    const jobs::Output& output = outcome.standard_output;
    const bool command = context.reply == command_reply;
    auto answer = tool_answer(outcome, context);
    if (context.never_came) {
        answer.error = {ErrorCode::bad_output, "output that the executor names never came", {}, {}};
    }
    std::string data = base::canonical(answer.data);
    auto fits = fits_contract(answer, data, output, context);
    if (fits && answer.error && (!command || context.never_came)) {
        made.details = base::canonical(run_json(outcome, details_bytes_max));
        fits = base::fail(std::move(*answer.error));
    }
    if (!fits) {
        made.kind = engine::Outcome::Kind::error;
        made.error = std::move(fits.error());
    } else if (command) {
        made.result = base::canonical(run_json(outcome, result_bytes_max));
    } else if (data.size() > result_bytes_max) {
        made.result = base::canonical(long_answer(output));
    } else {
        made.result = std::move(data);
    }
}

}  // namespace

bool reads_upload(const jobs::Outcome& outcome, const OutcomeContext& context) {
    const jobs::Output& output = outcome.standard_output;
    if (outcome.outcome_class != jobs::OutcomeClass::done || !output.sha256) return false;
    if (output.truncated() || output.bytes_kept > base::JsonLimits{}.bytes_max) return false;
    if (context.contract != nullptr && context.contract->output) return true;
    // It may be an envelope, which may say that the tool failed.
    const auto first = output.text.find_first_not_of(" \t\r\n");
    return context.reply != command_reply && first != std::string::npos &&
           output.text[first] == '{';
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
    const bool unstarted = outcome.outcome_class == jobs::OutcomeClass::infra ||
                           outcome.outcome_class == jobs::OutcomeClass::rejected;
    if (!unstarted && outcome.sandbox.backend != "builtin") {
        made.usage = base::canonical(usage_json(outcome));
        made.output = base::canonical(recorded_run(outcome));
    }
    if (outcome.outcome_class == jobs::OutcomeClass::done) {
        settle_done(made, outcome, context);
        return made;
    }
    // A lease that was cancelled is not in force any more: under one that is, nobody here asked for
    // the stop.
    const bool interrupted = outcome.outcome_class == jobs::OutcomeClass::interrupted ||
                             outcome.outcome_class == jobs::OutcomeClass::cancelled;
    made.kind = interrupted ? Kind::lost : unstarted ? Kind::never_started : Kind::error;
    made.error = error_of(outcome);
    if (!unstarted) made.details = base::canonical(run_json(outcome, details_bytes_max));
    return made;
}

}  // namespace transitions
