#include "base/limits.hpp"
#include "transitions/call.hpp"
#include "transitions/dispatcher.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// Local first, then global; the current version, or the one asked for by label or hash.
Result<catalog::Item> find_tool(
    const catalog::Catalog& catalog,
    std::string_view model,
    std::string_view id,
    std::string_view version
) {
    std::optional<catalog::Item> item;
    if (version.empty()) {
        if (const auto found = catalog.resolve(model, id)) item = *found->item;
    } else {
        item = catalog.version(model, id, version);
    }
    if (!item) {
        return fail(
            ErrorCode::unprepared,
            version.empty()
                ? fmt::format(
                      "tool '{}' is in neither the catalog of model '{}' nor the global one",
                      id,
                      model
                  )
                : fmt::format("tool '{}' has no version '{}'", id, version),
            "register it: netwright tool register DIR"
        );
    }
    if (item->lifecycle == "archived") {
        return fail(
            ErrorCode::policy_denied,
            fmt::format("tool '{}' is archived", id),
            "call another tool, or register a new version"
        );
    }
    if (item->status != "approved") {
        return fail(ErrorCode::policy_denied, fmt::format("tool '{}' is not approved", id));
    }
    return std::move(*item);
}

void tighten(jobs::Caps& caps, std::optional<std::int64_t> wall_ms) {
    if (wall_ms) caps.wall_ms = std::min(caps.wall_ms, std::max<std::int64_t>(*wall_ms, 1));
}

// A command hands its tool the arguments as `input`. Left out they are none, where there is a
// schema to hold that against.
Result<void> fit_input(
    Contracts& contracts, const catalog::Item& item, std::optional<std::string>& input
) {
    const auto contract = contracts.of(item);
    if (!contract) return fail(contract.error());
    if (!input && !(*contract)->input) return {};
    auto arguments = (*contract)->arguments(input.value_or("{}"));
    if (!arguments) {
        for (auto& fault : arguments.error().details)
            fault.pointer = "/args/input" + fault.pointer;
        return fail(std::move(arguments.error()));
    }
    input = std::move(*arguments);
    return {};
}

Result<PlannedJob> plan(
    const catalog::Catalog& catalog,
    Contracts& contracts,
    std::string_view model,
    const engine::Prepare& request
) {
    PlannedJob planned;
    if (!request.tool_id.empty()) {
        const auto item = find_tool(catalog, model, request.tool_id, request.version);
        if (!item) return fail(item.error());
        auto job = job_for(*item);
        if (!job) return fail(std::move(job.error()));
        planned.job = std::move(*job);
        const auto contract = contracts.of(*item);
        if (!contract) return fail(contract.error());
        auto arguments = (*contract)->arguments(request.input);
        if (!arguments) return fail(std::move(arguments.error()));
        if (arguments->size() > base::limits::args_bytes_max) {
            return fail(
                ErrorCode::limit,
                fmt::format(
                    "the arguments have {} bytes; the limit is {}",
                    arguments->size(),
                    base::limits::args_bytes_max
                ),
                "put large arguments into blobs and pass their URNs"
            );
        }
        if (!std::holds_alternative<jobs::Builtin>(planned.job.binding))
            planned.job.input = *arguments;
        planned.job.args = std::move(*arguments);
        planned.reply = call_reply;
    } else {
        auto command = read_command(request.input);
        if (!command) return fail(std::move(command.error()));
        if (command->bash) {
            planned.job.binding = jobs::Command{command->script};
        } else {
            const auto item = find_tool(catalog, model, command->tool_id, command->version);
            if (!item) return fail(item.error());
            auto job = job_for(*item);
            if (!job) return fail(std::move(job.error()));
            planned.job = std::move(*job);
            if (auto fits = fit_input(contracts, *item, command->input); !fits)
                return fail(std::move(fits.error()));
        }
        planned.job.argv = std::move(command->argv);
        planned.job.env = std::move(command->env);
        planned.job.input = std::move(command->input);
        tighten(planned.job.caps, command->timeout_ms);
        planned.reply = command_reply;
    }
    if (request.timeout) tighten(planned.job.caps, request.timeout->ms());
    planned.job.model = model;
    planned.job.attempt = {{1}, 1};  // set anew for each attempt
    planned.job.idempotency_key = "-";
    return planned;
}

}  // namespace

void Dispatcher::prepare(
    std::string_view model,
    const engine::Prepare& request,
    std::move_only_function<void(Result<engine::Prepared>)> done
) {
    auto planned = plan(parts_.catalog, contracts_, model, request);
    if (!planned) {
        auto& error = planned.error();
        const auto stopped = engine_->stopped_by(catalog::global_model);
        if (error.code == ErrorCode::unprepared && stopped) {
            error.message += "; the global catalog cannot be read: " + stopped->message;
        }
        return done(fail(std::move(error)));
    }
    auto call = readable_call_json(*planned);
    if (!call) return done(fail(std::move(call.error())));
    engine::Prepared prepared{
        .call = std::move(*call),
        .effect = std::string(jobs::name(planned->job.effect)),
        .tool_id = planned->job.tool_id,
        .version_hash = planned->job.version_hash,
    };
    const auto* script = std::get_if<jobs::Script>(&planned->job.binding);
    if (script == nullptr) return done(std::move(prepared));
    // The pin is checked against the bytes that are in the store now.
    workers_.post([this,
                   model = std::string(model),
                   digest = script->sha256,
                   prepared = std::move(prepared),
                   done = std::move(done)]() mutable {
        const auto bytes = parts_.blobs.bytes(digest, catalog::script_bytes_max);
        if (bytes) return done(std::move(prepared));
        if (bytes.error().code == ErrorCode::tamper) tampered(model, prepared, digest);
        auto error = bytes.error();
        error.message = fmt::format(
            "the content of tool '{}' does not match its pin: {}", prepared.tool_id, error.message
        );
        if (error.code == ErrorCode::not_found) error.code = ErrorCode::unprepared;
        done(fail(std::move(error)));
    });
}

void Dispatcher::tampered(
    const std::string& model, const engine::Prepared& prepared, const base::Digest& digest
) {
    engine::Change change;
    change.type = engine::EventType::tool_tamper_detected;
    change.info = base::canonical(base::Json{
        {"toolId", prepared.tool_id},
        {"versionHash", prepared.version_hash},
        {"urn", base::blob_urn(digest)}
    });
    engine_->write<base::Seq>(
        model,
        {},
        [change = std::move(change)](
            engine::Model& open, const engine::Asker& asker
        ) -> Result<base::Seq> { return engine::write(open, change, asker); },
        {},
        [](Result<base::Seq>) {}
    );
}

}  // namespace transitions
