#include "transitions/dispatcher.hpp"

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "transitions/call.hpp"
#include "transitions/streams.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

std::set<std::string> read_executors(const std::filesystem::path& path) {
    std::set<std::string> names;
    const auto text = base::read_file(path, std::size_t{1} << 20U);
    if (!text) return names;
    const auto parsed = base::parse_json(*text);
    if (!parsed || !parsed->is_array()) return names;
    for (const auto& name : *parsed) {
        if (name.is_string()) names.insert(name);
    }
    return names;
}

}  // namespace

Dispatcher::Dispatcher(const Parts& parts)
    : parts_(parts),
      board_(JobBoard(BoardOptions{
          .master = "m" + base::random_hex(6), .lease_key = parts.lease_key, .lease = parts.lease
      })),
      uploads_(parts.blobs),
      timer_([this] { run_timer(); }) {
    board_.with([&](JobBoard& board) { board.expect(read_executors(parts_.executors_file)); });
}

Dispatcher::~Dispatcher() {
    stop();
}

void Dispatcher::stop() {
    {
        const std::scoped_lock lock(timer_mutex_);
        if (stopping_) return;
        stopping_ = true;
    }
    timer_changed_.notify_all();
    timer_.join();
    with_board([&](JobBoard& board) { board.answer_all(now()); });
    auto open = open_.with([](auto& all) { return std::exchange(all, {}); });
    for (auto& [ticket, done] : open) {
        done(fail(ErrorCode::overloaded, "the master is stopping", "try again later"));
    }
}

JobBoard::Now Dispatcher::now() const {
    return {parts_.clock.elapsed(), parts_.clock.now()};
}

template <class Action>
void Dispatcher::with_board(Action&& action) {
    std::vector<BoardEvent> events;
    std::vector<Answer> answers;
    board_.with([&](JobBoard& board) {
        action(board);
        events = board.take_events();
        answers = board.take_answers();
    });
    for (auto& event : events)
        handle(event);
    for (auto& answer : answers)
        ship(answer.ticket, std::move(answer.reply));
    timer_changed_.notify_one();
}

void Dispatcher::opened(const engine::Model& model) {
    parts_.catalog.opened(model);
    with_board([&](JobBoard& board) { board.forget(model.state().model); });
}

Result<Task> Dispatcher::task_of(const engine::Performance& performance) {
    auto planned = from_call_json(performance.call);
    if (!planned) return fail(std::move(planned.error()));
    Task task{
        .epoch = performance.epoch,
        .job = std::move(planned->job),
        .reply = std::move(planned->reply),
        .fencing = performance.fencing
    };
    task.job.model = performance.model;
    task.job.attempt = {performance.operation, performance.attempt};
    task.job.idempotency_key = fmt::format("{}-{}", performance.model, text(performance.operation));
    return task;
}

void Dispatcher::perform(const engine::Performance& performance) {
    auto task = task_of(performance);
    if (!task) return settle_unreadable(performance, task.error());
    with_board([&](JobBoard& board) { board.offer(std::move(*task), now()); });
}

void Dispatcher::recover(const engine::Performance& performance) {
    auto task = task_of(performance);
    if (!task) return settle_unreadable(performance, task.error());
    with_board([&](JobBoard& board) { board.recover(std::move(*task), now()); });
}

// The stored call is not one that this version reads. It can have begun only where another version
// had offered it.
void Dispatcher::settle_unreadable(const engine::Performance& performance, const base::Error& why) {
    engine::Outcome outcome;
    outcome.operation = performance.operation;
    outcome.attempt = performance.attempt;
    outcome.kind = performance.fencing != 0 ? engine::Outcome::Kind::lost
                                            : engine::Outcome::Kind::never_started;
    outcome.error = {
        ErrorCode::unprepared,
        fmt::format(
            "the stored call of operation {} cannot be read: {}",
            text(performance.operation),
            why.message
        ),
        {},
        {}
    };
    base::log_error(fmt::format("model '{}': {}", performance.model, outcome.error.message));
    engine_->settle(performance.model, std::move(outcome), "engine", {});
}

void Dispatcher::cancel(std::string_view model, base::OperationId operation) {
    with_board([&](JobBoard& board) { board.withdraw(model, operation, now()); });
}

Ticket Dispatcher::sync(std::string_view executor, jobs::SyncRequest request, SyncDone done) {
    const Ticket ticket = ++last_ticket_;
    open_.with([&](auto& all) { all.emplace(ticket, std::move(done)); });
    Result<void> taken;
    with_board([&](JobBoard& board) {
        taken = board.sync(executor, ticket, std::move(request), now());
    });
    if (!taken) {
        auto refused = open_.with([&](auto& all) {
            auto node = all.extract(ticket);
            return node.empty() ? SyncDone{} : std::move(node.mapped());
        });
        if (refused) refused(fail(std::move(taken.error())));
    }
    return ticket;
}

void Dispatcher::closed(Ticket ticket) {
    open_.with([&](auto& all) { all.erase(ticket); });
    with_board([&](JobBoard& board) { board.closed(ticket, now()); });
}

void Dispatcher::handle(BoardEvent& event) {
    if (auto* granted = std::get_if<Granted>(&event)) {
        const auto& ref = granted->ref;
        engine_->lease_granted(
            ref.model,
            {ref.attempt.operation, ref.attempt.n, ref.fencing, ref.lease.text, granted->executor}
        );
    } else if (auto* ended = std::get_if<Ended>(&event)) {
        // A result says by itself that its lease is over.
        if (ended->reason == "result") return;
        const auto& ref = ended->ref;
        uploads_.forget(ref.lease);
        engine_->lease_ended(
            ref.model,
            {ref.attempt.operation, ref.attempt.n, ref.fencing, ref.lease.text, ended->executor},
            ended->reason
        );
    } else if (auto* reported = std::get_if<Reported>(&event)) {
        report(*reported);
    } else if (auto* progressed = std::get_if<Progressed>(&event)) {
        engine_->progressed(
            progressed->ref.model,
            {.operation = progressed->ref.attempt.operation,
             .attempt = progressed->ref.attempt.n,
             .executor = progressed->executor,
             .percent = progressed->progress.percent,
             .message = progressed->progress.message}
        );
    } else if (auto* lost = std::get_if<Lost>(&event)) {
        engine::Outcome outcome;
        outcome.operation = lost->attempt.operation;
        outcome.attempt = lost->attempt.n;
        outcome.kind = engine::Outcome::Kind::lost;
        outcome.error = {ErrorCode::uncertain, lost->reason, {}, {}};
        engine_->settle(
            lost->model,
            std::move(outcome),
            "engine",
            [this, model = lost->model, attempt = lost->attempt](Result<engine::Settled> settled) {
                with_board([&](JobBoard& board) {
                    board.loss_settled(model, attempt, settled.has_value(), now());
                });
            }
        );
    } else {
        save_executors();
    }
}

// Output that the executor says it uploaded must have come under this very lease. Of what did not,
// there is only the preview: no record names bytes that nobody has.
bool Dispatcher::forget_missing(Reported& reported) const {
    bool missing = false;
    const auto look = [&](const char* stream, jobs::Output& output) {
        if (!output.sha256 || uploads_.has(reported.ref.lease, stream, *output.sha256)) return;
        output.keep_preview_only();
        missing = true;
    };
    look("stdout", reported.outcome.standard_output);
    look("stderr", reported.outcome.standard_error);
    return missing;
}

void Dispatcher::report(Reported& reported) {
    OutcomeContext context{
        .attempt = reported.ref.attempt,
        .reply = reported.reply,
        .fencing = reported.ref.fencing,
        .stale = reported.stale,
    };
    board_.with([&](const JobBoard& board) {
        const jobs::Job* job = board.job_of(reported.ref.lease);
        if (job == nullptr) return;
        context.tool_id = job->tool_id;
        context.version_hash = job->version_hash;
    });
    context.never_came = forget_missing(reported) && !reported.stale;
    const bool tool = !reported.stale && !context.tool_id.empty();
    const auto contract = tool ? contract_of(reported.ref.model, context) : nullptr;
    context.contract = contract.get();
    if (!to_be_kept(reported.outcome).any() && !reads_upload(reported.outcome, context))
        return settle_checked(reported, to_engine(reported.outcome, context));
    workers_.post([this, reported, contract, context]() mutable {
        settle_with_blobs(reported, std::move(context));
    });
}

// Bytes are put, and read, before what names or holds them is settled. Where the disk does not let
// them, the result is as if it had not come: the executor sends it again.
void Dispatcher::settle_with_blobs(const Reported& reported, OutcomeContext context) {
    const auto not_now = [&](const base::Error& error) {
        base::log_error(fmt::format(
            "the output of lease {} cannot be kept: {}", reported.ref.lease.text, error.message
        ));
        with_board([&](JobBoard& board) {
            board.unreported({reported.ref.lease, reported.executor, reported.stale});
        });
    };
    const auto kept = to_be_kept(reported.outcome);
    const auto keep = [&](bool wanted, const char* stream, const jobs::Output& output) {
        return wanted ? uploads_.keep(reported.ref.lease, stream, output.text) : Result<void>{};
    };
    if (auto put = keep(kept.standard_output, "stdout", reported.outcome.standard_output); !put)
        return not_now(put.error());
    if (auto put = keep(kept.standard_error, "stderr", reported.outcome.standard_error); !put)
        return not_now(put.error());
    std::string uploaded;
    if (reads_upload(reported.outcome, context)) {
        auto bytes = parts_.blobs.bytes(
            *reported.outcome.standard_output.sha256, base::JsonLimits{}.bytes_max
        );
        if (!bytes) {
            auto outcome = to_engine(reported.outcome, context);
            outcome.kind = engine::Outcome::Kind::error;
            outcome.error = bytes.error();
            return settle_checked(reported, std::move(outcome));
        }
        uploaded = std::move(*bytes);
        context.uploaded = &uploaded;
    }
    settle_checked(reported, to_engine(reported.outcome, context));
}

std::shared_ptr<const Contract> Dispatcher::contract_of(
    const std::string& model, const OutcomeContext& context
) {
    const auto item = parts_.catalog.version(model, context.tool_id, context.version_hash);
    if (!item) return nullptr;
    auto contract = contracts_.of(*item);
    return contract ? std::move(*contract) : nullptr;
}

void Dispatcher::settle_checked(const Reported& reported, engine::Outcome outcome) {
    engine_->settle(
        reported.ref.model,
        std::move(outcome),
        reported.executor,
        [this, report = ReportedLease{reported.ref.lease, reported.executor, reported.stale}](
            Result<engine::Settled> settled
        ) { report_settled(report, std::move(settled)); }
    );
}

void Dispatcher::report_settled(const ReportedLease& report, Result<engine::Settled> settled) {
    if (!settled) {
        // Not taken (the model failed, the master stops): the executor sends it again.
        with_board([&](JobBoard& board) { board.unreported(report); });
        return;
    }
    jobs::Verdict verdict = jobs::Verdict::unknown;
    if (*settled == engine::Settled::applied) verdict = jobs::Verdict::applied;
    if (*settled == engine::Settled::late) verdict = jobs::Verdict::fenced;
    if (!report.stale) uploads_.forget(report.lease);
    with_board([&](JobBoard& board) { board.settled(report, verdict, now()); });
}

// Scripts are read, and held against their pins, at the moment they ship.
void Dispatcher::ship(Ticket ticket, jobs::SyncReply reply) {
    auto done = open_.with([&](auto& all) {
        auto node = all.extract(ticket);
        return node.empty() ? SyncDone{} : std::move(node.mapped());
    });
    if (!done) return;
    const bool content = std::ranges::any_of(reply.leases, [](const jobs::Lease& lease) {
        return std::holds_alternative<jobs::Script>(lease.job.binding);
    });
    if (!content) return done(std::move(reply));
    workers_.post([this, reply = std::move(reply), done = std::move(done)]() mutable {
        std::vector<std::pair<jobs::LeaseId, base::Error>> unshippable;
        for (auto& lease : reply.leases) {
            auto* script = std::get_if<jobs::Script>(&lease.job.binding);
            if (script == nullptr) continue;
            auto bytes = parts_.blobs.bytes(script->sha256, jobs::content_inline_bytes_max);
            if (bytes) {
                script->content = std::move(*bytes);
            } else {
                unshippable.emplace_back(lease.id, bytes.error());
            }
        }
        std::erase_if(reply.leases, [&](const jobs::Lease& lease) {
            return std::ranges::any_of(unshippable, [&](const auto& entry) {
                return entry.first == lease.id;
            });
        });
        done(std::move(reply));
        if (unshippable.empty()) return;
        with_board([&](JobBoard& board) {
            for (const auto& [lease, error] : unshippable)
                board.unshippable(lease, error);
        });
    });
}

Result<std::string> Dispatcher::output(OutputChunk chunk) {
    auto in_force = board_.with([&](const JobBoard& board) -> Result<std::uint64_t> {
        const auto ref = board.in_force(chunk.executor, chunk.lease, chunk.fencing);
        if (!ref) return fail(ref.error());
        return static_cast<std::uint64_t>(board.job_of(chunk.lease)->caps.output_bytes);
    });
    if (!in_force) return fail(std::move(in_force.error()));
    const auto state = uploads_.add({
        .lease = chunk.lease,
        .stream = chunk.stream,
        .offset = chunk.offset,
        .bytes = std::move(chunk.bytes),
        .bytes_max = *in_force,
        .sha256 = chunk.sha256,
        .size = chunk.size,
    });
    // The lease may have ended meanwhile, and what is kept for it with it.
    const auto still = board_.with([&](const JobBoard& board) {
        return board.in_force(chunk.executor, chunk.lease, chunk.fencing);
    });
    if (!still) {
        uploads_.forget(chunk.lease);
        return fail(still.error());
    }
    if (!state) return fail(state.error());
    base::Json answer = {{"size", state->size}};
    if (state->finished && chunk.sha256) answer["urn"] = base::blob_urn(*chunk.sha256);
    return answer.dump();
}

Result<std::string> Dispatcher::content(
    std::string_view executor,
    const jobs::LeaseId& lease,
    jobs::Fencing fencing,
    const base::Digest& sha256
) {
    auto named = board_.with([&](const JobBoard& board) -> Result<bool> {
        const auto ref = board.in_force(executor, lease, fencing);
        if (!ref) return fail(ref.error());
        const auto* script = std::get_if<jobs::Script>(&board.job_of(lease)->binding);
        return script != nullptr && script->sha256 == sha256;
    });
    if (!named) return fail(std::move(named.error()));
    if (!*named) return fail(ErrorCode::not_found, "the job of this lease names no such content");
    return parts_.blobs.bytes(sha256, jobs::content_inline_bytes_max);
}

Result<void> Dispatcher::drain(std::string_view executor) {
    Result<void> done;
    with_board([&](JobBoard& board) { done = board.drain(executor, now()); });
    return done;
}

void Dispatcher::renewed(std::string_view executor) {
    with_board([&](JobBoard& board) { board.renewed(executor, now()); });
}

std::vector<ExecutorView> Dispatcher::executors() const {
    return board_.with([&](const JobBoard& board) { return board.view(now()); });
}

std::string Dispatcher::why_waiting(const std::string& model, base::AttemptId attempt) const {
    return board_.with([&](const JobBoard& board) {
        return board.why_waiting(model, attempt, now());
    });
}

std::string Dispatcher::holder(const std::string& model, base::AttemptId attempt) const {
    return board_.with([&](const JobBoard& board) { return board.holder(model, attempt); });
}

Dispatcher::Load Dispatcher::load() const {
    return board_.with([](const JobBoard& board) { return Load{board.waiting(), board.leased()}; });
}

std::unordered_set<base::Digest> Dispatcher::referenced() const {
    return uploads_.referenced();
}

void Dispatcher::save_executors() {
    const auto names = board_.with([](const JobBoard& board) { return board.executors(); });
    const auto saved = base::write_file_atomically(parts_.executors_file, base::Json(names).dump());
    if (!saved)
        base::log_error(fmt::format("cannot note the executors: {}", saved.error().message));
}

void Dispatcher::run_timer() {
    std::unique_lock lock(timer_mutex_);
    while (!stopping_) {
        const auto at = now();
        const auto due = board_.with([&](const JobBoard& board) { return board.next_due(at); });
        const auto left = due ? *due - at.elapsed : base::seconds(1);
        if (!due || left.us > 0) {
            constexpr std::int64_t look_again_us = 1'000'000;
            timer_changed_.wait_for(
                lock, std::chrono::microseconds(std::min(left.us, look_again_us))
            );
            continue;
        }
        lock.unlock();
        with_board([&](JobBoard& board) { board.tick(now()); });
        lock.lock();
    }
}

}  // namespace transitions
