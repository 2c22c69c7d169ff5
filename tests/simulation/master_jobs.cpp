#include "tests/simulation/master.hpp"
#include "transitions/call.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

/// The master's side of jobs: as transitions/dispatcher.cpp.
namespace simulation {

using base::ErrorCode;
using base::fail;
using base::Result;
using engine::Asker;
using engine::Model;

namespace {

engine::Performance performance(
    const Model& model, const engine::Operation& operation, std::uint32_t attempt
) {
    return {
        .model = model.state().model,
        .operation = operation.id,
        .attempt = attempt,
        .epoch = model.epoch(),
        .net = operation.deployment->net->name,
        .transition = model.state().transitions[operation.transition].name,
        .case_id = operation.case_id,
        .call = operation.call,
        .effect = operation.effect,
        .tool_id = operation.tool_id,
        .version_hash = operation.version_hash,
        .started = operation.started,
        .fencing = operation.fencing,
    };
}

transitions::Task task_of(const engine::Performance& performance) {
    auto planned = transitions::from_call_json(performance.call);
    require(planned.has_value(), planned ? "" : "what was prepared: " + planned.error().message);
    transitions::Task task{
        .epoch = performance.epoch,
        .job = std::move(planned->job),
        .reply = std::move(planned->reply),
        .fencing = performance.fencing,
    };
    task.job.model = performance.model;
    task.job.attempt = {performance.operation, performance.attempt};
    task.job.idempotency_key = fmt::format("{}-{}", performance.model, text(performance.operation));
    return task;
}

engine::LeaseGrant grant_of(const jobs::LeaseRef& ref, const std::string& executor) {
    return {ref.attempt.operation, ref.attempt.n, ref.fencing, ref.lease.text, executor};
}

}  // namespace

template <class Action>
void Master::with_board(Action&& action) {
    action(*board_);
    auto events = board_->take_events();
    auto answers = board_->take_answers();
    for (auto& event : events)
        handle(event);
    for (auto& answer : answers)
        ship(answer);
}

void Master::recover(const Lane& lane) {
    std::vector<const engine::Operation*> found;
    for (const auto& [id, operation] : lane.model->state().operations) {
        const bool performed = engine::performer(operation.rules()) == engine::Performer::handler;
        if (performed && operation.state == engine::OperationState::invoking)
            found.push_back(&operation);
    }
    std::ranges::sort(found, {}, [](const engine::Operation* operation) { return operation->id; });
    for (const auto* operation : found) {
        auto task = task_of(performance(*lane.model, *operation, operation->attempt));
        with_board([&](transitions::JobBoard& board) { board.recover(std::move(task), now()); });
    }
}

// The catalog: a tool's id says what its effect is.
void Master::prepare(Lane& lane, const engine::Prepare& request) {
    Result<engine::Prepared> result = [&]() -> Result<engine::Prepared> {
        if (world_.fault(20)) return fail(ErrorCode::unprepared, "the catalog says no");
        jobs::Job job;
        job.model = lane.name;
        job.attempt = {{1}, 1};  // set anew for each attempt
        job.tool_id = request.tool_id;
        job.version_hash = "v1";
        job.effect = jobs::effect(request.tool_id).value();
        job.binding = jobs::Command{"work"};
        job.args = request.input;
        return engine::Prepared{
            .call = transitions::to_call_json({job, std::string(transitions::call_reply)}),
            .effect = request.tool_id,
            .tool_id = request.tool_id,
            .version_hash = "v1",
        };
    }();
    soon(
        base::milliseconds(1),
        [this, &lane, claim = request.claim, result = std::move(result)]() mutable {
            post(
                lane.name,
                [claim, result = std::move(result)](Result<Model*> opened) mutable -> Completion {
                    if (opened) {
                        const Asker asker{.now = (*opened)->now()};
                        engine::prepared(**opened, claim, std::move(result), asker);
                    }
                    return [](Result<void>) {};
                }
            );
        }
    );
}

void Master::hand_out(Lane& lane, engine::Effect& effect) {
    if (const auto* wanted = std::get_if<engine::Prepare>(&effect)) {
        prepare(lane, *wanted);
    } else if (const auto* perform = std::get_if<engine::Perform>(&effect)) {
        const auto* operation = lane.model->state().find_operation(perform->operation);
        if (operation == nullptr || operation->attempt != perform->attempt) return;
        auto task = task_of(performance(*lane.model, *operation, perform->attempt));
        with_board([&](transitions::JobBoard& board) { board.offer(std::move(task), now()); });
    } else if (const auto* cancel = std::get_if<engine::Cancel>(&effect)) {
        with_board([&](transitions::JobBoard& board) {
            board.withdraw(lane.name, cancel->operation, now());
        });
    }
}

transitions::Ticket Master::sync(
    const std::string& executor, jobs::SyncRequest request, Reply reply
) {
    const auto ticket = ++last_ticket_;
    if (world_.tracing()) trace_sync(ticket, request);
    open_.emplace(ticket, std::move(reply));
    Result<void> taken;
    with_board([&](transitions::JobBoard& board) {
        taken = board.sync(executor, ticket, std::move(request), now());
    });
    if (taken) return ticket;
    auto refused = open_.extract(ticket);
    if (!refused.empty()) refused.mapped()(fail(taken.error()));
    return ticket;
}

void Master::trace_sync(transitions::Ticket ticket, const jobs::SyncRequest& request) const {
    std::string line = fmt::format(
        "sync {} {}.{} answered {}:", ticket, request.session, request.seq, request.answered
    );
    for (const auto& running : request.running)
        line += " running " + running.ref.lease.text;
    for (const auto& done : request.done)
        line += " done " + done.ref.lease.text;
    for (const auto& lost : request.lost)
        line += " lost " + lost.lease.text;
    world_.trace(line);
}

void Master::closed(transitions::Ticket ticket) {
    open_.erase(ticket);
    with_board([&](transitions::JobBoard& board) { board.closed(ticket, now()); });
}

void Master::handle(transitions::BoardEvent& event) {
    if (auto* granted = std::get_if<transitions::Granted>(&event)) {
        post(
            granted->ref.model,
            [grant =
                 grant_of(granted->ref, granted->executor)](Result<Model*> opened) -> Completion {
                if (opened) engine::lease_granted(**opened, grant, Asker{.now = (*opened)->now()});
                return [](Result<void>) {};
            }
        );
    } else if (auto* ended = std::get_if<transitions::Ended>(&event)) {
        if (ended->reason == "result") return;
        post(
            ended->ref.model,
            [grant = grant_of(ended->ref, ended->executor),
             reason = ended->reason](Result<Model*> opened) -> Completion {
                if (!opened) return [](Result<void>) {};
                const Asker asker{.now = (*opened)->now()};
                engine::lease_ended(**opened, grant, reason, asker);
                return [](Result<void>) {};
            }
        );
    } else if (auto* reported = std::get_if<transitions::Reported>(&event)) {
        report(*reported);
    } else if (auto* progressed = std::get_if<transitions::Progressed>(&event)) {
        post(
            progressed->ref.model,
            [note =
                 engine::ProgressNote{
                     progressed->ref.attempt.operation,
                     progressed->ref.attempt.n,
                     progressed->executor,
                     progressed->progress.percent,
                     progressed->progress.message
                 }](Result<Model*> opened) -> Completion {
                if (opened) engine::progressed(**opened, note, Asker{.now = (*opened)->now()});
                return [](Result<void>) {};
            }
        );
    } else if (auto* lost = std::get_if<transitions::Lost>(&event)) {
        engine::Outcome outcome;
        outcome.operation = lost->attempt.operation;
        outcome.attempt = lost->attempt.n;
        outcome.kind = defect_ == Defect::offers_lost_again ? engine::Outcome::Kind::never_started
                                                            : engine::Outcome::Kind::lost;
        outcome.error = {ErrorCode::uncertain, lost->reason, {}, {}};
        post(
            lost->model,
            [this, outcome = std::move(outcome), model = lost->model, attempt = lost->attempt](
                Result<Model*> opened
            ) mutable -> Completion {
                if (opened)
                    engine::settle(**opened, std::move(outcome), Asker{.now = (*opened)->now()});
                return [this, model, attempt, taken = opened.has_value()](Result<void> durable) {
                    with_board([&](transitions::JobBoard& board) {
                        board.loss_settled(model, attempt, taken && durable.has_value(), now());
                    });
                };
            }
        );
    } else {
        disk_.executors = board_->executors();
    }
}

void Master::report(transitions::Reported& reported) {
    transitions::OutcomeContext context{
        .attempt = reported.ref.attempt,
        .reply = reported.reply,
        .fencing = reported.ref.fencing,
        .stale = reported.stale,
    };
    auto settled = std::make_shared<Result<engine::Settled>>(engine::Settled::unknown);
    post(
        reported.ref.model,
        [this,
         settled,
         outcome = transitions::to_engine(reported.outcome, context),
         lease = transitions::ReportedLease{reported.ref.lease, reported.executor, reported.stale}](
            Result<Model*> opened
        ) mutable -> Completion {
            if (opened) {
                *settled =
                    engine::settle(**opened, std::move(outcome), Asker{.now = (*opened)->now()});
            } else {
                *settled = fail(opened.error());
            }
            return [this, settled, lease](Result<void> durable) {
                if (!durable) *settled = fail(durable.error());
                with_board([&](transitions::JobBoard& board) {
                    if (!*settled) return board.unreported(lease);
                    auto verdict = jobs::Verdict::unknown;
                    if (**settled == engine::Settled::applied) verdict = jobs::Verdict::applied;
                    if (**settled == engine::Settled::late) verdict = jobs::Verdict::fenced;
                    board.settled(lease, verdict, now());
                });
            };
        }
    );
}

void Master::ship(transitions::Answer& answer) {
    if (world_.tracing()) {
        std::string line = fmt::format("answer {}:", answer.ticket);
        for (const auto& lease : answer.reply.leases)
            line += " lease " + lease.id.text;
        for (const auto& cancel : answer.reply.cancel)
            line += " cancel " + cancel.lease.text;
        for (const auto& drop : answer.reply.drop)
            line += " drop " + drop.lease.text;
        world_.trace(line);
    }
    auto node = open_.extract(answer.ticket);
    if (node.empty()) return;
    soon({300}, [reply = std::move(answer.reply), done = std::move(node.mapped())]() mutable {
        done(std::move(reply));
    });
}

void Master::tick() {
    auto delay = base::seconds(1);
    const auto due = board_->next_due(now());
    // As the dispatcher does: the board hears of time only when something is due.
    if (due && *due <= world_.elapsed())
        with_board([&](transitions::JobBoard& board) { board.tick(now()); });
    else if (due)
        delay = std::min(delay, *due - world_.elapsed());
    world_.after(std::max(delay, base::Duration{100}), [this, life = life_] {
        if (up_ && life == life_) tick();
    });
}

}  // namespace simulation
