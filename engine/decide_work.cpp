#include "base/json.hpp"
#include "base/limits.hpp"
#include "engine/claim_length.hpp"
#include "engine/decisions.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t agent_name_bytes_max = 128;
constexpr std::size_t note_bytes_max = 4096;

// When the operation has to be looked at: its claim ends, or its time is up.
std::optional<base::Timestamp> deadline_of(const Operation& operation) {
    std::optional<base::Timestamp> due;
    if (!operation.claim.empty()) due = operation.claimed_until;
    if (const auto& timeout = operation.rules().timeout) {
        const auto end = operation.attempt_started + *timeout;
        due = due ? std::min(*due, end) : end;
    }
    return due;
}

Result<const Operation*> packet(const State& state, base::OperationId id) {
    const Operation* operation = state.find_operation(id);
    if (operation != nullptr && performer(operation->rules()) == Performer::agent) {
        return operation;
    }
    return fail(
        ErrorCode::not_found,
        fmt::format("work {} is unknown or over", text(id)),
        "list the work that is open"
    );
}

// Only whoever holds the claim that is in force may go on.
Result<const Operation*> held(const State& state, const WorkHold& hold) {
    const auto found = packet(state, hold.operation);
    if (!found) return found;
    if (!(*found)->claim.empty() && (*found)->claim == hold.claim) return found;
    return fail(
        ErrorCode::fenced,
        fmt::format("the claim '{}' on work {} is not in force", hold.claim, text(hold.operation)),
        "stop; it ran out or was given up, and somebody else may have the work"
    );
}

Event work_event(const State& state, const Operation& operation, EventType type) {
    Event event = operation_event(state, operation, type);
    event.lease = operation.claim;
    return event;
}

Result<void> good_length(base::Duration length) {
    if (length >= claim_min && length <= claim_max) return {};
    return fail(
        ErrorCode::validation,
        fmt::format(
            "a claim lasts from {} to {}, not {}",
            base::text(claim_min),
            base::text(claim_max),
            base::text(length)
        )
    );
}

Result<void> good_size(std::string_view what, std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return {};
    return fail(
        ErrorCode::too_large,
        fmt::format("{} of {} bytes; the limit is {}", what, text.size(), bytes_max),
        "put the bytes into a blob and name its URN"
    );
}

// What an agent hands in is kept in a record, and read from it again.
Result<void> good_result(const WorkResult& result) {
    namespace limits = base::limits;
    if (result.error) {
        return good_size(
            "an error's message", result.error->message, limits::error_message_bytes_max
        );
    }
    return good_size("a result", result.result, limits::rendered_bytes_max);
}

}  // namespace

bool work_available(const Operation& operation) {
    return operation.state == OperationState::invoking && operation.claim.empty();
}

Result<Prepared> prepare_wait(
    const State& state, const nets::Transition& rules, base::CaseId case_id, std::string_view input
) {
    if (input.size() > token_bytes_max) {
        return fail(
            ErrorCode::too_large,
            fmt::format(
                "an input of {} bytes; the inline limit is {}", input.size(), token_bytes_max
            )
        );
    }
    std::string call = R"({"input":)" + std::string(input);
    if (const auto* agent = std::get_if<nets::Agent>(&rules.action)) {
        if (!agent->budget.empty()) call = R"({"budget":)" + agent->budget + "," + call.substr(1);
        if (agent->steps_max) call += fmt::format(R"(,"maxSteps":{})", *agent->steps_max);
        if (!agent->persona.empty()) {
            call += R"(,"persona":)";
            base::append_canonical_string(call, agent->persona);
        }
        call += R"(,"skill":)";
        base::append_canonical_string(call, agent->skill);
        // An agent says itself that it failed: another may try.
        return Prepared{.call = call + "}", .effect = "idempotent"};
    }
    const auto& child = std::get<nets::ChildNet>(rules.action);
    const Case* above = state.find_case(case_id);
    if ((above != nullptr ? above->depth : 1) >= child_depth_max) {
        return fail(
            ErrorCode::limit,
            fmt::format("child cases are {} deep at most", child_depth_max),
            "a net that runs itself needs a way to stop"
        );
    }
    const auto startable = case_start(state, child.net, child.version.value_or(""), input);
    if (!startable) return fail(startable.error());
    call += R"(,"net":)";
    base::append_canonical_string(call, child.net);
    return Prepared{.call = call + "}", .effect = "once"};
}

void Decisions::watch(const Operation& operation) {
    if (const auto due = deadline_of(operation)) deadlines().emplace(*due, operation.id);
}

void Decisions::deadline_due(base::OperationId id) {
    const Operation* operation = state().find_operation(id);
    if (operation == nullptr || operation->state != OperationState::invoking) return;
    const auto due = deadline_of(*operation);
    if (!due) return;
    if (*due > asker.now) return watch(*operation);
    const auto& timeout = operation->rules().timeout;
    if (timeout && operation->attempt_started + *timeout <= asker.now) {
        settle({
            .operation = id,
            .attempt = operation->attempt,
            .kind = Outcome::Kind::error,
            .error =
                {ErrorCode::timeout,
                 fmt::format("nobody had finished after {}", base::text(*timeout)),
                 {},
                 {}},
        });
        return;
    }
    Event event = work_event(state(), *operation, EventType::work_released);
    event.info = R"({"reason":"expired"})";
    emit(std::move(event));
    watch(*state().find_operation(id));
}

void Decisions::resume_waits() {
    std::vector<base::OperationId> waits;
    for (const auto& [id, operation] : state().operations) {
        const bool waiting = operation.state == OperationState::invoking;
        if (waiting && performer(operation.rules()) != Performer::handler) waits.push_back(id);
    }
    for (const auto id : waits) {
        // A child that is over before this one may have ended it.
        const Operation* operation = state().find_operation(id);
        if (operation == nullptr) continue;
        watch(*operation);
        if (performer(operation->rules()) != Performer::child) continue;
        const Case* child = state().find_case(operation->child);
        if (child == nullptr) {
            start_child(id);
        } else if (child->state != CaseState::running) {
            child_over(child->id);
        }
    }
    std::vector<base::CaseId> quiet;
    for (const auto& [id, value] : state().cases)
        if (value.state == CaseState::running && value.quiet()) quiet.push_back(id);
    std::ranges::sort(quiet, std::ranges::greater{});
    for (const auto id : quiet)
        end_if_quiet(id);
}

Result<WorkHold> claim_work(Model& model, const WorkRequest& request, const Asker& asker) {
    if (request.agent.empty() || request.agent.size() > agent_name_bytes_max) {
        return fail(
            ErrorCode::validation,
            fmt::format("the agent's name has 1 to {} bytes", agent_name_bytes_max)
        );
    }
    if (auto good = good_length(request.length); !good) return fail(std::move(good.error()));
    const State& state = model.state();
    if (request.operation) {
        const auto found = packet(state, request.operation);
        if (!found) return fail(found.error());
        if (!work_available(**found)) {
            return fail(
                ErrorCode::conflict,
                (*found)->claim.empty()
                    ? fmt::format("work {} waits for its next attempt", text(request.operation))
                    : fmt::format(
                          "work {} is claimed by '{}'", text(request.operation), (*found)->executor
                      )
            );
        }
    }
    const auto wanted =
        request.operation ? std::optional(request.operation) : state.work.oldest(request.skill);
    if (!wanted) return WorkHold{};
    const Operation* oldest = state.find_operation(*wanted);
    Decisions decisions{model, asker};
    Event event = work_event(state, *oldest, EventType::work_claimed);
    const WorkHold hold{
        oldest->id,
        fmt::format("{}-{}", text(base::AttemptId{oldest->id, oldest->attempt}), state.seq + 1)
    };
    event.lease = hold.claim;
    event.executor = request.agent;
    event.next = asker.now + request.length;
    decisions.emit(std::move(event));
    decisions.watch(*state.find_operation(hold.operation));
    return hold;
}

Result<Seq> extend_work(
    Model& model, const WorkHold& hold, const WorkProgress& progress, const Asker& asker
) {
    const auto found = held(model.state(), hold);
    if (!found) return fail(found.error());
    if (auto good = good_length(progress.length); !good) return fail(std::move(good.error()));
    if (auto good = good_size("a note", progress.note, note_bytes_max); !good)
        return fail(std::move(good.error()));
    const Operation& operation = **found;
    Decisions decisions{model, asker};
    const auto most = std::get<nets::Agent>(operation.rules().action).steps_max;
    if (most && progress.steps > *most) {
        decisions.settle({
            .operation = operation.id,
            .attempt = operation.attempt,
            .kind = Outcome::Kind::error,
            .error =
                {ErrorCode::limit,
                 fmt::format("the agent took {} steps of at most {}", progress.steps, *most),
                 {},
                 {}},
        });
        return model.state().seq;
    }
    Event event = work_event(model.state(), operation, EventType::work_extended);
    event.next = std::max(asker.now + progress.length, operation.claimed_until);
    base::Json info = base::Json::object();
    if (progress.steps != 0) info["steps"] = std::max(progress.steps, operation.steps);
    if (!progress.note.empty()) info["note"] = progress.note;
    if (!info.empty()) event.info = base::canonical(info);
    const Seq seq = decisions.emit(std::move(event));
    decisions.watch(*model.state().find_operation(hold.operation));
    return seq;
}

Result<Seq> release_work(
    Model& model, const WorkHold& hold, std::string_view reason, const Asker& asker
) {
    const auto found = held(model.state(), hold);
    if (!found) return fail(found.error());
    if (auto good = good_size("a reason", reason, base::limits::reason_bytes_max); !good)
        return fail(std::move(good.error()));
    Event event = work_event(model.state(), **found, EventType::work_released);
    event.info = base::canonical(base::Json{{"reason", reason}});
    return Decisions{model, asker}.emit(std::move(event));
}

Result<Seq> finish_work(Model& model, const WorkHold& hold, WorkResult result, const Asker& asker) {
    const auto found = held(model.state(), hold);
    if (!found) return fail(found.error());
    if (auto good = good_result(result); !good) return fail(std::move(good.error()));
    const Operation& operation = **found;
    const base::Json meta = {
        {"operation", text(operation.id)},
        {"agent", operation.executor},
        {"skill", std::get<nets::Agent>(operation.rules().action).skill},
        {"steps", std::max(operation.steps, result.steps)},
        {"durationMs", (asker.now - operation.attempt_started).ms()},
    };
    Outcome outcome{.operation = operation.id, .attempt = operation.attempt};
    outcome.meta = base::canonical(meta);
    outcome.digest = base::sha256(result.result).hex();
    if (result.error) {
        outcome.kind = Outcome::Kind::error;
        outcome.error = std::move(*result.error);
        outcome.details = outcome.meta;
    } else {
        outcome.result = std::move(result.result);
    }
    Decisions{model, asker}.settle(std::move(outcome));
    return model.state().seq;
}

}  // namespace engine
