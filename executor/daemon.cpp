#include "executor/daemon.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace executor {

namespace {

constexpr std::size_t left_over_connection = jobs::open_syncs_max;
constexpr std::size_t first_slot_connection = jobs::open_syncs_max + 1;
constexpr base::Duration view_interval = base::seconds(1);
constexpr base::Duration health_interval = base::seconds(1);
constexpr base::Duration retry_pause_min = base::milliseconds(100);
constexpr base::Duration retry_pause_max = base::seconds(5);

std::chrono::microseconds chrono(base::Duration length) {
    return std::chrono::microseconds(std::max<std::int64_t>(length.us, 0));
}

LeftOver left_over(const Journal::Left& left) {
    LeftOver out;
    out.lost = left.lost;
    for (const auto& kept : left.results) {
        if (kept.finished.stdout_spool || kept.finished.stderr_spool) {
            out.pending.push_back(kept.ref);
        } else {
            out.done.push_back({kept.ref, kept.finished.outcome});
        }
    }
    return out;
}

}  // namespace

Daemon::Daemon(DaemonOptions options, const Parts& parts)
    : options_(std::move(options)),
      parts_(parts),
      left_(parts_.journal.left()),
      agent_(options_.agent, left_over(left_)),
      told_(options_.agent.introduction.capabilities) {
    for (auto slot = options_.agent.introduction.slots; slot > 0; --slot)
        free_slots_.push_back(slot - 1);
    for (const auto& ref : left_.lost)
        kept_.insert(ref.lease);
    for (const auto& kept : left_.results)
        kept_.insert(kept.ref.lease);
}

Daemon::~Daemon() {
    finish();
    for (auto& thread : sync_threads_) {
        if (thread.joinable()) thread.join();
    }
    if (health_thread_.joinable()) health_thread_.join();
    slots_.clear();
}

base::Result<void> Daemon::run(const http::StopSignal& stop) {
    if (auto connected = connect(); !connected) return connected;
    for (std::int64_t i = 0; i <= options_.agent.introduction.slots; ++i)
        slots_.push_back(std::make_unique<Slot>());
    deliver_left_over();
    for (std::size_t i = 0; i < sync_threads_.size(); ++i)
        sync_threads_[i] = std::thread([this, i] { sync_loop(i); });
    health_thread_ = std::thread([this] { watch_health(); });
    const http::StopWatch watch(stop, [this] {
        const std::scoped_lock lock(mutex_);
        stopping_since_ = parts_.clock.elapsed();
        agent_.drain();
        changed_.notify_all();
    });
    keep_time();
    finish();
    for (auto& thread : sync_threads_)
        thread.join();
    health_thread_.join();
    slots_.clear();
    const std::scoped_lock lock(mutex_);
    if (agent_.ended()) return base::fail(*agent_.ended());
    return {};
}

base::Result<void> Daemon::connect() {
    const auto count = first_slot_connection + static_cast<std::size_t>(free_slots_.size());
    for (std::size_t i = 0; i < count; ++i) {
        auto connection = parts_.transport.connect();
        if (!connection) return base::fail(connection.error());
        connections_.push_back(std::move(*connection));
    }
    return {};
}

// Results of an earlier run whose output must be sent first.
void Daemon::deliver_left_over() {
    slots_.back()->run([this] {
        for (auto& kept : left_.results) {
            if (kept.finished.stdout_spool || kept.finished.stderr_spool) {
                deliver(kept.ref, kept.finished, left_over_connection);
            }
        }
    });
}

void Daemon::keep_time() {
    Lock lock(mutex_);
    while (!finished_) {
        const auto now = parts_.clock.elapsed();
        perform(lock, agent_.tick(now));
        if (stop_step(now)) break;
        changed_.notify_all();
        auto until = agent_.wake_at(now);
        if (agent_.draining() || agent_.ended()) until = std::min(until, now + retry_pause_min);
        changed_.wait_for(lock, chrono(until - now));
    }
}

// True when there is nothing left to wait for.
bool Daemon::stop_step(base::Duration now) {
    if (agent_.ended() && !jobs_stopped_) stop_all(StopReason::lease);
    // A job whose result is being uploaded is safe: the next run goes on with it.
    const bool all_over = std::ranges::all_of(active_, [](const auto& entry) {
        return entry.second.control->view().phase == jobs::Phase::collecting;
    });
    if (agent_.ended()) return all_over;
    if (agent_.drained()) return true;
    if (!stopping_since_) return false;
    const auto waited = now - *stopping_since_;
    if (active_.empty() && agent_.idle() && waited > options_.goodbye) return true;
    if (waited > options_.drain && !jobs_stopped_) stop_all(StopReason::shutdown);
    if (!active_.empty()) {
        over_since_.reset();
        return all_over && waited > options_.drain + options_.farewell;
    }
    if (!over_since_) over_since_ = now;
    return now - *over_since_ > options_.farewell;
}

void Daemon::stop_all(StopReason reason) {
    jobs_stopped_ = true;
    for (auto& [lease, job] : active_)
        job.control->stop({reason, options_.agent.stop_grace});
}

void Daemon::finish() {
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    for (auto& connection : connections_)
        connection->interrupt();
    changed_.notify_all();
}

void Daemon::sync_loop(std::size_t index) {
    Lock lock(mutex_);
    while (!finished_) {
        const auto now = parts_.clock.elapsed();
        for (const auto& [lease, job] : active_)
            agent_.show(lease, job.control->view());
        if (const auto out = agent_.next_sync(now)) {
            sync_once(lock, *connections_[index], *out);
        } else {
            auto until = agent_.wake_at(now);
            // Jobs that run may have something to tell of themselves.
            if (!active_.empty()) until = std::min(until, now + view_interval);
            changed_.wait_for(lock, chrono(until - now));
        }
    }
}

void Daemon::sync_once(Lock& lock, Connection& connection, const OutgoingSync& out) {
    lock.unlock();
    auto reply = connection.sync(*out.request, out.timeout);
    lock.lock();
    const auto now = parts_.clock.elapsed();
    if (reply) {
        last_failure_.clear();
        perform(lock, agent_.replied(out.request->seq, std::move(*reply), now));
        if (agent_.draining()) changed_.notify_all();
        return;
    }
    agent_.failed(out.request->seq, reply.error(), now);
    if (!finished_ && !agent_.ended()) note_failure(reply.error().error);
    changed_.notify_all();
}

// The same trouble is told once, not at every repetition.
void Daemon::note_failure(const base::Error& error) {
    if (error.message == last_failure_) return;
    last_failure_ = error.message;
    base::log_warning("the master cannot be reached: " + error.message);
}

void Daemon::watch_health() {
    Lock lock(mutex_);
    while (!finished_) {
        lock.unlock();
        tell_capabilities();
        lock.lock();
        changed_.wait_for(lock, chrono(health_interval), [this] { return finished_; });
    }
}

// What the executor cannot do any more, or can do again, the master hears before the next result.
void Daemon::tell_capabilities() {
    auto capabilities = parts_.runner.look_again();
    const std::scoped_lock lock(mutex_);
    if (capabilities == told_) return;
    for (const auto* fault : {&capabilities.disk_fault, &capabilities.sandbox_fault})
        if (!fault->empty()) base::log_warning("no process jobs now: " + *fault);
    auto introduction = options_.agent.introduction;
    introduction.capabilities = capabilities;
    told_ = std::move(capabilities);
    agent_.introduce(std::move(introduction));
    changed_.notify_all();
}

void Daemon::perform(Lock& lock, Actions actions) {
    std::vector<ForgetLease> forgotten;
    bool started = false;
    for (auto& action : actions) {
        if (auto* start_job = std::get_if<StartJob>(&action)) {
            const auto& job = start_job->lease.job;
            if (std::holds_alternative<jobs::Builtin>(job.binding)) {
                agent_.finished(start_job->lease.id, JobRunner::run_builtin(job));
            } else {
                start(std::move(start_job->lease));
                started = true;
            }
        } else if (const auto* stop = std::get_if<StopJob>(&action)) {
            const auto job = active_.find(stop->lease);
            if (job != active_.end()) job->second.control->stop(stop->order);
        } else {
            const auto& forget_lease = std::get<ForgetLease>(action);
            if (kept_.erase(forget_lease.lease) > 0) forgotten.push_back(forget_lease);
        }
    }
    // The one that keeps the time must know of the new deadline.
    if (started) changed_.notify_all();
    if (forgotten.empty()) return;
    lock.unlock();
    forget(forgotten);
    lock.lock();
}

void Daemon::forget(const std::vector<ForgetLease>& forgotten) {
    for (const auto& [lease, verdict] : forgotten) {
        if (verdict && *verdict != jobs::Verdict::applied) {
            base::log_warning(fmt::format(
                "the result of lease {} was not applied: {}", lease.text, name(*verdict)
            ));
        }
        if (auto done = parts_.journal.forgotten(lease); !done) {
            base::log_error(done.error().message);
        }
        parts_.runner.remove_spool(lease);
    }
}

void Daemon::start(jobs::Lease lease) {
    const auto slot = free_slots_.back();
    free_slots_.pop_back();
    auto control = std::make_shared<JobControl>();
    kept_.insert(lease.id);
    active_.emplace(lease.id, ActiveJob{control, slot});
    slots_[static_cast<std::size_t>(slot)]->run([this, slot, control, lease = std::move(lease)] {
        run_job(lease, slot, *control);
    });
}

void Daemon::run_job(const jobs::Lease& lease, std::int64_t slot, JobControl& control) {
    const auto index = first_slot_connection + static_cast<std::size_t>(slot);
    const auto ref = lease.ref();
    const bool kept = lease.job.effect != jobs::Effect::pure;
    bool started = false;
    const JobRunner::Start start{
        lease,
        slot,
        [&]() -> base::Result<std::string> {
            const auto& script = std::get<jobs::Script>(lease.job.binding);
            return connections_[index]->fetch(ref, script.sha256, script.size);
        },
        [&]() -> base::Result<void> {
            if (!kept) return {};
            started = true;
            return parts_.journal.started(ref);
        },
    };
    auto finished = parts_.runner.run(start, control);
    if (started) {
        if (auto done = parts_.journal.finished(ref, finished); !done) {
            // Sent all the same: the master has it then, which is better than nobody.
            base::log_error("a result could not be written down: " + done.error().message);
        }
    }
    if (finished.outcome.given_back()) tell_capabilities();
    deliver(ref, finished, index);
}

void Daemon::deliver(const jobs::LeaseRef& ref, FinishedJob& finished, std::size_t connection) {
    Uploader uploader(*connections_[connection], [this](int repetition) {
        return pause(repetition);
    });
    const bool uploaded = uploader.upload(ref, finished);
    const std::scoped_lock lock(mutex_);
    // Not uploaded: the executor is stopping, and its next run will do it.
    if (uploaded) agent_.finished(ref.lease, std::move(finished.outcome));
    const auto job = active_.find(ref.lease);
    if (job != active_.end()) {
        free_slots_.push_back(job->second.slot);
        active_.erase(job);
    }
    changed_.notify_all();
}

bool Daemon::pause(int repetition) {
    const auto length =
        std::min(retry_pause_min.us << std::min(repetition, 16), retry_pause_max.us);
    Lock lock(mutex_);
    changed_.wait_for(lock, chrono({length}), [this] { return finished_; });
    return !finished_;
}

}  // namespace executor
