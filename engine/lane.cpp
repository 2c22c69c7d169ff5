#include "engine/lane.hpp"

#include "base/log.hpp"
#include "engine/decide.hpp"
#include "engine/inconsistent.hpp"
#include "engine/open_model.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t jobs_a_turn = 256;
constexpr std::size_t firings_a_turn = 2'000;
constexpr std::size_t jobs_queued_max = 100'000;
/// So long notes wait for other records, to be written in the same synced write.
constexpr base::Duration notes_wait_max = base::milliseconds(20);
constexpr base::Duration open_again_after = base::seconds(1);
/// A model with something to come looks at the clocks so often: one of them may have been set, or
/// the machine may have slept.
constexpr base::Duration look_again = base::seconds(1);
/// Less is the time between two looks.
constexpr base::Duration step_min = base::milliseconds(50);

// Runs `action`. When a decision finds the state inconsistent: why the model is stopped.
template <class Action>
std::optional<base::Error> inconsistency(std::string_view model, Action&& action) {
    try {
        action();
    } catch (const Inconsistent& error) {
        return base::Error{
            ErrorCode::tamper,
            fmt::format("model '{}' is stopped: its state does not hold: {}", model, error.what()),
            "docs/operations.md says how to go on",
            {}
        };
    }
    return std::nullopt;
}

}  // namespace

ModelLane::ModelLane(const LaneParts& parts, std::string model)
    : parts_(parts),
      name_(std::move(model)),
      clock_(parts.clock),
      snapshot_(std::make_shared<SnapshotWriting>()) {}

ModelLane::~ModelLane() = default;

void ModelLane::post(LaneJob job, Kind kind) {
    std::optional<base::Error> refused;
    mailbox_.with([&](Mailbox& mailbox) {
        if (mailbox.stopped) {
            refused =
                base::Error{ErrorCode::overloaded, "the master is stopping", "try again later", {}};
        } else if (kind != Kind::follow && mailbox.jobs.size() >= jobs_queued_max) {
            refused = base::Error{
                ErrorCode::overloaded,
                fmt::format("model '{}' has {} requests waiting", name_, mailbox.jobs.size()),
                "try again later",
                {}
            };
        } else {
            mailbox.jobs.push_back({std::move(job), kind});
        }
    });
    if (!refused) return schedule();
    auto completion = job(fail(std::move(*refused)));
    completion({});
}

// One turn at a time: what is asked for during a turn gets another one after it.
void ModelLane::schedule() {
    const bool start = mailbox_.with([](Mailbox& mailbox) {
        mailbox.again = true;
        return !std::exchange(mailbox.running, true);
    });
    if (start) parts_.workers.post([self = shared_from_this()] { self->run(); });
}

void ModelLane::run() {
    const auto failure = mailbox_.with([](Mailbox& mailbox) {
        mailbox.again = false;
        return std::exchange(mailbox.failure, std::nullopt);
    });
    if (failure) give_up(*failure);
    run_jobs();
    // Given up and not open again: tried every second, so that timers and operations go on although
    // nobody asks. Only the disk can be different the next time.
    const auto now = parts_.clock.elapsed();
    if (!model_ && commit_lane_.id != 0 && open_again_ <= now) {
        const auto opened = open(Kind::look);
        if (!opened && opened.error().code != ErrorCode::overloaded) commit_lane_ = {};
        if (!opened && commit_lane_.id != 0) {
            open_again_ = now + open_again_after;
            parts_.timer.wake(weak_from_this(), open_again_after);
        }
    }
    if (model_) {
        if (const auto broken = inconsistency(name_, [this] { pump(); })) {
            mailbox_.with([&](Mailbox& mailbox) { mailbox.refused = broken; });
            give_up(*broken);
        }
    }
    finish_durable();
    if (model_) {
        set_timer();
        snapshot_if_due();
    }
    const bool again = mailbox_.with([this](Mailbox& mailbox) {
        mailbox.running = mailbox.again || !mailbox.jobs.empty() || (more_ && !over_mark_);
        return mailbox.running;
    });
    if (again) parts_.workers.post([self = shared_from_this()] { self->run(); });
}

void ModelLane::run_jobs() {
    for (std::size_t i = 0; i < jobs_a_turn; ++i) {
        auto posted = mailbox_.with([](Mailbox& mailbox) -> std::optional<Posted> {
            if (mailbox.jobs.empty()) return std::nullopt;
            Posted first = std::move(mailbox.jobs.front());
            mailbox.jobs.pop_front();
            return first;
        });
        if (!posted) return;
        std::size_t before = 0;
        LaneCompletion completion;
        const auto broken = inconsistency(name_, [&] {
            auto opened = open(posted->kind);
            // Also who only looks sees what is due by now.
            if (opened) tell_time();
            before = model_ ? model_->records() : 0;
            completion = posted->job(std::move(opened));
        });
        if (broken) {
            mailbox_.with([&](Mailbox& mailbox) { mailbox.refused = broken; });
            give_up(*broken);
            completion = posted->job(fail(*broken));
        }
        if (posted->kind == Kind::note) {
            if (model_) notes_ += model_->records() - before;
            completion({});
        } else {
            waiting_.push_back({model_ ? model_->state().seq : 0, std::move(completion)});
        }
        if (model_) collect_effects();
    }
}

std::optional<base::Error> ModelLane::stopped_by() const {
    return mailbox_.with([](const Mailbox& mailbox) { return mailbox.refused; });
}

Result<Model*> ModelLane::open(Kind kind) {
    const bool creates = kind == Kind::decide;
    if (model_ && (creates || model_->state().seq != 0)) return model_.get();
    const auto head = parts_.log.head(name_);
    if (!head) return fail(head.error());
    if (head->seq == 0 && !creates) {
        return fail(
            ErrorCode::not_found,
            fmt::format("model '{}' does not exist", name_),
            "a first write makes it"
        );
    }
    if (model_) return model_.get();
    if (auto refused = stopped_by()) return fail(std::move(*refused));
    const auto opened = parts_.committer.open(name_);
    if (!opened) return fail(opened.error());
    FoldInfo info;
    auto folded =
        fold(parts_.log, parts_.snapshots, name_, opened->head.seq, CaseIndex::mended, &info);
    if (!folded) {
        parts_.committer.close(opened->lane);
        if (info.refused != 0) {
            base::log_error(folded.error().message);
            mailbox_.with([&](Mailbox& mailbox) { mailbox.refused = folded.error(); });
        }
        return fail(std::move(folded.error()));
    }
    // The log's own records have been found good where these differ.
    for (const Seq bad : info.bad_snapshots) {
        if (auto removed = parts_.snapshots.remove(name_, bad); !removed)
            base::log_warning(removed.error().message);
    }
    model_ = std::move(*folded);
    commit_lane_ = opened->lane;
    timer_set_.reset();
    snapshot_->last_size.store(info.snapshot_size);
    bytes_since_snapshot_ = info.tail_bytes;
    durable_ = opened->head.seq;
    model_->take_over(opened->epoch);
    parts_.handler.opened(*model_);
    recover();
    clock_.begin(model_->state().ts);
    model_->follow_wall(clock_.wall_ahead());
    model_->go_live(clock_.now());
    return model_.get();
}

base::Timestamp ModelLane::tell_time() {
    const base::Timestamp now = clock_.now();
    model_->come_to(now);
    const base::Duration ahead = clock_.wall_ahead();
    const base::Duration step = ahead - model_->wall_ahead();
    if (step < step_min && step.us > -step_min.us) return now;
    base::log_warning(fmt::format(
        "model '{}': the wall clock was set by {} ms; lengths of time go on as they were, cron "
        "follows it, and records are {} ms from it until the next start",
        name_,
        step.ms(),
        ahead.ms()
    ));
    model_->follow_wall(ahead);
    return now;
}

Performance ModelLane::performance(const Operation& operation, std::uint32_t attempt) const {
    return {
        .model = name_,
        .operation = operation.id,
        .attempt = attempt,
        .epoch = model_->epoch(),
        .net = operation.deployment->net->name,
        .transition = model_->state().transitions[operation.transition].name,
        .case_id = operation.case_id,
        .call = operation.call,
        .effect = operation.effect,
        .tool_id = operation.tool_id,
        .version_hash = operation.version_hash,
        .started = operation.started,
        .fencing = operation.fencing,
    };
}

void ModelLane::recover() {
    for (const auto& [id, operation] : model_->state().operations) {
        if (operation.state != OperationState::invoking) continue;
        // Waits for an agent or a child case simply go on.
        if (performer(operation.rules()) != Performer::handler) continue;
        parts_.handler.recover(performance(operation, operation.attempt));
    }
}

void ModelLane::pump() {
    more_ = false;
    if (!over_mark_) {
        more_ = model_->pump(tell_time(), firings_a_turn) == firings_a_turn ||
                model_->scheduler().searching();
    }
    collect_effects();
    submit();
}

bool ModelLane::only_notes() {
    if (notes_ != model_->records() || !waiting_.empty() || !effects_.empty()) return false;
    const auto now = parts_.clock.elapsed();
    if (notes_since_.us == 0) {
        notes_since_ = now;
        parts_.timer.wake(weak_from_this(), notes_wait_max);
    }
    return now - notes_since_ < notes_wait_max;
}

void ModelLane::submit() {
    if (!model_->has_records() || only_notes()) return;
    notes_ = 0;
    notes_since_ = {};
    RecordBatch batch = model_->take_records();
    bytes_since_snapshot_ += batch.bytes.size();
    const auto pressure = parts_.committer.submit(
        commit_lane_,
        std::move(batch),
        [weak = weak_from_this()](Result<Seq> durable) {
            const auto self = weak.lock();
            if (!self) return;
            if (durable) {
                self->durable_ = *durable;
            } else {
                self->mailbox_.with([&](Mailbox& mailbox) { mailbox.failure = durable.error(); });
            }
            self->schedule();
        }
    );
    if (!pressure) return give_up(pressure.error());
    if (*pressure == Pressure::clear || over_mark_) return;
    over_mark_ = true;
    parts_.committer.when_drained(commit_lane_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->post(
            [self](Result<Model*>) -> LaneCompletion {
                self->over_mark_ = false;
                return [](Result<void>) {};
            },
            Kind::follow
        );
    });
}

void ModelLane::collect_effects() {
    if (!model_->has_effects()) return;
    const Seq seq = model_->state().seq;
    for (auto& effect : model_->take_effects()) {
        if (std::holds_alternative<Prepare>(effect)) {
            hand_out(effect);
        } else {
            effects_.emplace_back(seq, std::move(effect));
        }
    }
}

void ModelLane::hand_out(Effect& effect) {
    if (const auto* prepare = std::get_if<Prepare>(&effect)) {
        parts_.handler.prepare(
            name_,
            *prepare,
            [weak = weak_from_this(), claim = prepare->claim](Result<Prepared> result) mutable {
                const auto self = weak.lock();
                if (!self) return;
                self->post(
                    [self, claim, result = std::move(result)](Result<Model*> opened
                    ) mutable -> LaneCompletion {
                        if (opened) {
                            engine::prepared(
                                **opened, claim, std::move(result), Asker{.now = (*opened)->now()}
                            );
                        }
                        return [](Result<void>) {};
                    },
                    Kind::follow
                );
            }
        );
    } else if (const auto* perform = std::get_if<Perform>(&effect)) {
        const Operation* operation = model_->state().find_operation(perform->operation);
        if (operation == nullptr || operation->attempt != perform->attempt) return;
        parts_.handler.perform(performance(*operation, perform->attempt));
    } else if (const auto* cancel = std::get_if<Cancel>(&effect)) {
        parts_.handler.cancel(name_, cancel->operation);
    } else if (const auto* over = std::get_if<CaseOver>(&effect)) {
        auto range = over_watchers_.equal_range(over->case_id);
        for (auto entry = range.first; entry != range.second; ++entry)
            entry->second.call();
        over_watchers_.erase(range.first, range.second);
    }
}

void ModelLane::finish_durable() {
    const Seq durable = durable_.load();
    while (model_ && !effects_.empty() && effects_.front().first <= durable) {
        Effect effect = std::move(effects_.front().second);
        effects_.pop_front();
        hand_out(effect);
    }
    while (!waiting_.empty() && waiting_.front().seq <= durable) {
        LaneCompletion completion = std::move(waiting_.front().completion);
        waiting_.pop_front();
        completion({});
    }
    call_watchers();
}

void ModelLane::call_watchers() {
    const Seq durable = durable_.load();
    while (!beyond_watchers_.empty() && beyond_watchers_.begin()->first < durable) {
        auto call = std::move(beyond_watchers_.begin()->second.call);
        beyond_watchers_.erase(beyond_watchers_.begin());
        call();
    }
}

// Nothing that was not durable was seen outside: those who wait are told, and the next job reads
// the log again.
void ModelLane::give_up(const base::Error& error) {
    base::log_error(fmt::format("model '{}' stopped: {}", name_, error.message));
    if (model_) parts_.committer.close(commit_lane_);
    model_.reset();
    frozen_.reset();
    effects_.clear();
    more_ = false;
    notes_ = 0;
    notes_since_ = {};
    over_mark_ = false;
    timer_set_.reset();
    for (auto& waiting : std::exchange(waiting_, {}))
        waiting.completion(fail(error));
}

void ModelLane::when_over(
    base::CaseId case_id, base::Duration at_most, std::move_only_function<void()> call
) {
    const base::Duration now = parts_.clock.elapsed();
    Watcher watcher{now + at_most, std::move(call)};
    post(
        [self = shared_from_this(), case_id, now, watcher = std::move(watcher)](
            Result<Model*> opened
        ) mutable -> LaneCompletion {
            const Case* found = opened ? (*opened)->state().find_case(case_id) : nullptr;
            if (found != nullptr && found->state == CaseState::running) {
                std::erase_if(self->over_watchers_, [now](const auto& entry) {
                    return entry.second.until < now;
                });
                self->over_watchers_.emplace(case_id, std::move(watcher));
                return [](Result<void>) {};
            }
            return [call = std::move(watcher.call)](Result<void>) mutable { call(); };
        },
        Kind::look
    );
}

void ModelLane::when_beyond(Seq seq, base::Duration at_most, std::move_only_function<void()> call) {
    const base::Duration now = parts_.clock.elapsed();
    Watcher watcher{now + at_most, std::move(call)};
    post(
        [self = shared_from_this(), seq, now, watcher = std::move(watcher)](Result<Model*>) mutable
            -> LaneCompletion {
            std::erase_if(self->beyond_watchers_, [now](const auto& entry) {
                return entry.second.until < now;
            });
            self->beyond_watchers_.emplace(seq, std::move(watcher));
            return [](Result<void>) {};
        },
        Kind::look
    );
}

void ModelLane::set_timer() {
    const auto due = model_->next_due();
    if (!due) return;
    const base::Timestamp now = clock_.now();
    const base::Timestamp wake = std::clamp(*due, now, now + look_again);
    if (timer_set_ && *timer_set_ <= wake && *timer_set_ > now) return;
    timer_set_ = wake;
    parts_.timer.wake(weak_from_this(), wake - now);
}

void ModelLane::stop() {
    std::atomic<bool> done = false;
    post(
        [&](Result<Model*>) -> LaneCompletion {
            return [&](Result<void>) {
                snapshot_at_stop();
                done = true;
                done.notify_all();
            };
        },
        Kind::follow
    );
    done.wait(false);
    mailbox_.with([](Mailbox& mailbox) { mailbox.stopped = true; });
}

}  // namespace engine
