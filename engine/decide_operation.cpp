#include "base/limits.hpp"
#include "engine/decisions.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using nets::FixedName;

namespace {

// A `once` tool is tried again only after an error that proves nothing started, unless the author
// named the code; pure and idempotent ones after any error that another try may mend.
bool may_retry(const Operation& operation, const Outcome& outcome) {
    const nets::Retry& retry = operation.rules().retry;
    if (operation.attempt - operation.lost >= retry.attempts) return false;
    if (!retry.on.empty()) return std::ranges::find(retry.on, outcome.error.code) != retry.on.end();
    if (outcome.kind == Outcome::Kind::never_started) return true;
    if (operation.effect == "once") return false;
    switch (outcome.error.code) {
        case ErrorCode::timeout:
        case ErrorCode::exit_nonzero:
        case ErrorCode::bad_output:
        case ErrorCode::upstream:
        case ErrorCode::limit:
        case ErrorCode::overloaded:
        case ErrorCode::rate_limited:
        case ErrorCode::sandbox_unavailable:
        case ErrorCode::internal:
            return true;
        default:
            return false;
    }
}

// Exponential, with up to a fifth taken off so that failures that came together do not come again
// together. What was chosen is in the record.
base::Duration backoff(const Operation& operation) {
    const nets::Retry& retry = operation.rules().retry;
    if (retry.backoff.us == 0) return {};  // times a factor beyond all numbers it is none
    const double factor = std::pow(retry.factor, operation.attempt - operation.lost - 1);
    const double us = std::min(
        static_cast<double>(retry.backoff.us) * factor, static_cast<double>(retry.backoff_max.us)
    );
    const std::uint64_t mixed = (operation.id.seq * 31 + operation.attempt) * 0x9E3779B97F4A7C15U;
    const double jitter = static_cast<double>(mixed >> 40U) / static_cast<double>(1U << 24U);
    return {static_cast<std::int64_t>(us * (1 - 0.2 * jitter))};
}

}  // namespace

Event operation_event(const State& state, const Operation& operation, EventType type) {
    Event event;
    event.type = type;
    event.operation = operation.id;
    event.attempt = operation.attempt;
    event.case_id = operation.case_id;
    event.net = operation.deployment->net->name;
    event.transition = state.transitions[operation.transition].name;
    return event;
}

void Decisions::retry(const Operation& operation, Retry retry) {
    Event event = operation_event(state(), operation, EventType::operation_retrying);
    event.error = std::move(retry.error);
    event.next = retry.at;
    if (!retry.output.empty()) event.info = R"({"output":)" + retry.output + "}";
    if (retry.lost) event.info = R"({"lost":true})";
    retries().emplace(retry.at, operation.id);
    const base::CaseId child = operation.child;
    emit(std::move(event));
    cancel_child(child);
}

void Decisions::begin_attempt(base::OperationId id, std::uint32_t attempt) {
    const Operation& operation = *state().find_operation(id);
    switch (performer(operation.rules())) {
        case Performer::handler:
            return model.want(Perform{.operation = id, .attempt = attempt});
        case Performer::agent:
            return watch(operation);
        case Performer::child:
            watch(operation);
            return start_child(id);
    }
}

void Decisions::retry_due(base::OperationId id) {
    const Operation* operation = state().find_operation(id);
    if (operation == nullptr || operation->state != OperationState::retrying) return;
    Event event = operation_event(state(), *operation, EventType::operation_invoking);
    event.attempt = operation->attempt + 1;
    const std::uint32_t attempt = event.attempt;
    emit(std::move(event));
    begin_attempt(id, attempt);
}

void Decisions::conclude(
    const Operation& operation, EventType type, std::string error, std::string output
) {
    end_operation(
        operation, type, {.error = std::move(error), .output = std::move(output), .at = asker.now}
    );
}

// What came too late is kept whole: exit code, streams and error.
Settled Decisions::keep_late(const Outcome& outcome) {
    if (outcome.operation.seq > state().seq || !outcome.operation) return Settled::unknown;
    if (outcome.kind == Outcome::Kind::lost && outcome.digest.empty()) return Settled::late;
    const bool returned = outcome.kind == Outcome::Kind::returned;
    Event event;
    event.type = EventType::operation_late_result;
    event.operation = outcome.operation;
    event.attempt = outcome.attempt;
    event.fencing = outcome.fencing;
    event.executor = asker.actor;
    if (!returned) {
        event.error = error_json(outcome.error, outcome.attempt, outcome.details, outcome.usage);
    }
    base::Json info = {{"digest", outcome.digest}, {"outcome", returned ? "returned" : "error"}};
    if (!outcome.output.empty()) {
        info["output"] = *base::parse_json(outcome.output, base::limits::stored);
    } else if (!outcome.result.empty()) {
        info["result"] = *base::parse_json(outcome.result, base::limits::stored);
    }
    event.info = base::canonical(info);
    emit(std::move(event));
    return Settled::late;
}

Settled Decisions::settle(Outcome outcome) {
    const Operation* operation = state().find_operation(outcome.operation);
    const bool current = !outcome.stale && operation != nullptr &&
                         operation->state == OperationState::invoking &&
                         operation->attempt == outcome.attempt;
    if (!current) return keep_late(outcome);
    if (outcome.kind == Outcome::Kind::returned) {
        const Answer answer{
            .result = std::move(outcome.result),
            .meta = std::move(outcome.meta),
            .error = {},
            .output = std::move(outcome.output),
            .at = std::max(asker.now, state().ts),
        };
        end_operation(*operation, EventType::operation_finalized, answer);
        return Settled::applied;
    }
    std::string error =
        error_json(outcome.error, operation->attempt, outcome.details, outcome.usage);
    // Most errors tell in their details what was printed: once is enough.
    std::string output = outcome.details.empty() ? std::move(outcome.output) : "";
    if (outcome.kind == Outcome::Kind::lost) {
        if (operation->effect == "once") {
            Event event = operation_event(state(), *operation, EventType::operation_uncertain);
            event.error = error;
            emit(std::move(event));
            if (operation->rules().fail_when_uncertain) {
                conclude(*operation, EventType::operation_finalized, std::move(error));
            }
            return Settled::applied;
        }
        if (operation->lost < lost_attempts_max) {
            retry(*operation, {.error = std::move(error), .at = asker.now, .lost = true});
            return Settled::applied;
        }
    } else if (may_retry(*operation, outcome)) {
        retry(
            *operation,
            {.error = std::move(error),
             .at = asker.now + backoff(*operation),
             .output = std::move(output)}
        );
        return Settled::applied;
    }
    conclude(*operation, EventType::operation_finalized, std::move(error), std::move(output));
    return Settled::applied;
}

void prepared(Model& model, ClaimId claim, base::Result<Prepared> result, const Asker& asker) {
    Decisions{model, asker}.prepared(claim, std::move(result));
}

Settled settle(Model& model, Outcome outcome, const Asker& asker) {
    return Decisions{model, asker}.settle(std::move(outcome));
}

base::Result<Seq> abandon(
    Model& model, base::OperationId id, std::string_view reason, const Asker& asker
) {
    const Operation* operation = model.state().find_operation(id);
    if (operation == nullptr) {
        return base::fail(
            ErrorCode::not_found,
            fmt::format("operation {} is unknown or over", text(id)),
            "list the operations of its case"
        );
    }
    // An attempt that runs or will run has an outcome yet to come: that is waited for, or cancelled
    // with its case. Where there is no case, nothing else would end it.
    const bool to_come = operation->state != OperationState::uncertain &&
                         operation->state != OperationState::returned;
    if (to_come && operation->case_id) {
        return base::fail(
            ErrorCode::conflict,
            fmt::format(
                "operation {} is {}, neither uncertain nor returned",
                text(id),
                name(operation->state)
            ),
            fmt::format(
                "wait for its outcome, or cancel its case: netwright case cancel {}",
                text(operation->case_id)
            )
        );
    }
    if (operation->state == OperationState::invoking &&
        performer(operation->rules()) == Performer::handler) {
        model.want(Cancel{id});
    }
    if (reason.size() > base::limits::reason_bytes_max) {
        return base::fail(
            ErrorCode::too_large,
            fmt::format(
                "a reason of {} bytes; the limit is {}",
                reason.size(),
                base::limits::reason_bytes_max
            )
        );
    }
    const base::Error error{
        ErrorCode::abandoned, fmt::format("abandoned by {}: {}", asker.actor, reason), {}, {}
    };
    Decisions{model, asker}.conclude(
        *operation, EventType::operation_abandoned, error_json(error, operation->attempt, {})
    );
    return model.state().seq;
}

void progressed(Model& model, const ProgressNote& note, const Asker& asker) {
    const Operation* operation = model.state().find_operation(note.operation);
    if (operation == nullptr || operation->state != OperationState::invoking ||
        operation->attempt != note.attempt) {
        return;
    }
    Event event = operation_event(model.state(), *operation, EventType::operation_progress);
    event.executor = note.executor;
    event.info = base::canonical(base::Json{{"message", note.message}, {"percent", note.percent}});
    if (event.info == operation->progress) return;
    Decisions{model, asker}.emit(std::move(event));
}

void lease_granted(Model& model, const LeaseGrant& grant, const Asker& asker) {
    if (model.state().find_operation(grant.operation) == nullptr) return;
    Event event;
    event.type = EventType::lease_granted;
    event.operation = grant.operation;
    event.attempt = grant.attempt;
    event.fencing = grant.fencing;
    event.lease = grant.lease;
    event.executor = grant.executor;
    Decisions{model, asker}.emit(std::move(event));
}

void lease_ended(
    Model& model, const LeaseGrant& grant, std::string_view reason, const Asker& asker
) {
    Event event;
    event.type = EventType::lease_ended;
    event.operation = grant.operation;
    event.attempt = grant.attempt;
    event.fencing = grant.fencing;
    event.lease = grant.lease;
    event.executor = grant.executor;
    event.info = base::canonical(base::Json{{"reason", reason}});
    Decisions{model, asker}.emit(std::move(event));
}

}  // namespace engine
