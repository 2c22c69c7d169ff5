#include "transitions/job_board.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Result;

std::set<std::string> JobBoard::executors() const {
    std::set<std::string> names = expected_;
    for (const auto& [id, session] : sessions_)
        names.insert(id);
    return names;
}

void JobBoard::forget(std::string_view model) {
    std::erase_if(queue_, [&](const Task& task) { return task.job.model == model; });
    std::erase_if(unsettled_, [&](const auto& entry) { return entry.first.first == model; });
    std::erase_if(by_attempt_, [&](const auto& entry) { return entry.first.first == model; });
    std::erase_if(leases_, [&](const auto& entry) {
        if (entry.second.ref.model != model) return false;
        expected_.insert(entry.second.executor);
        return true;
    });
}

void JobBoard::offer(Task task, const Now& now) {
    queue_.push_back(std::move(task));
    answer_where_possible(now.elapsed);
}

void JobBoard::recover(Task task, const Now& now) {
    const Key key = task.key();
    if (const auto loss = losing_.find(key); loss != losing_.end()) {
        if (loss->second.refused) tell_lost(key, loss->second.reason);
        return;
    }
    unsettled_.insert_or_assign(key, Unsettled{std::move(task), now.elapsed + options_.lease});
    // Whoever spoke before this attempt was asked about must speak once more.
    for (const auto& [id, session] : sessions_)
        expected_.insert(id);
    if (expected_.empty()) came_back({});
}

void JobBoard::withdraw(std::string_view model, base::OperationId operation, const Now& now) {
    const auto of = [&](const Task& task) {
        return task.job.model == model && task.job.attempt.operation == operation;
    };
    std::erase_if(queue_, of);
    std::erase_if(unsettled_, [&](const auto& entry) { return of(entry.second.task); });
    std::vector<jobs::LeaseId> ended;
    for (auto& [id, lease] : leases_) {
        if (of(lease.task)) ended.push_back(id);
    }
    for (const auto& id : ended) {
        const std::string executor = leases_.at(id).executor;
        end_lease(id, "cancelled");
        sessions_[executor].fenced.insert(id);
    }
    answer_where_possible(now.elapsed);
}

void JobBoard::end_lease(const jobs::LeaseId& id, const std::string& reason) {
    const auto found = leases_.find(id);
    events_.push_back(Ended{found->second.ref, found->second.executor, reason});
    by_attempt_.erase(found->second.task.key());
    leases_.erase(found);
}

void JobBoard::lose(const jobs::LeaseId& id, const std::string& reason) {
    const LeaseState lease = leases_.at(id);
    end_lease(id, reason);
    sessions_[lease.executor].fenced.insert(id);
    tell_lost(lease.task.key(), reason);
}

void JobBoard::tell_lost(const Key& key, const std::string& reason) {
    const std::string why = reason;
    losing_.insert_or_assign(key, Loss{why, false});
    events_.push_back(Lost{key.first, key.second, why});
}

void JobBoard::loss_settled(
    const std::string& model, base::AttemptId attempt, bool durable, const Now& now
) {
    const auto loss = losing_.find(Key{model, attempt});
    if (loss == losing_.end()) return;
    if (!durable) {
        loss->second.refused = true;
        return;
    }
    losing_.erase(loss);
    answer_where_possible(now.elapsed);
}

void JobBoard::offer_again(const jobs::LeaseId& id, const std::string& reason) {
    Task task = std::move(leases_.at(id).task);
    leases_.at(id).task.job.model = task.job.model;
    leases_.at(id).task.job.attempt = task.job.attempt;
    end_lease(id, reason);
    queue_.push_front(std::move(task));
}

void JobBoard::remember_settled(const jobs::LeaseRef& ref, const base::Digest& digest) {
    constexpr std::size_t settled_kept = 20'000;
    if (!settled_.emplace(ref.lease, std::pair{ref, digest}).second) return;
    settled_order_.push_back(ref.lease);
    if (settled_order_.size() > settled_kept) {
        settled_.erase(settled_order_.front());
        settled_order_.pop_front();
    }
}

void JobBoard::settled(const ReportedLease& report, jobs::Verdict verdict, const Now& now) {
    if (report.stale) {
        const auto session = sessions_.find(report.executor);
        if (session == sessions_.end()) return;
        const auto evidence = session->second.evidence.extract(report.lease);
        if (evidence.empty()) return;
        remember_settled(evidence.mapped().first, evidence.mapped().second);
        session->second.drops[report.lease] = verdict;
    } else {
        const auto found = leases_.find(report.lease);
        if (found == leases_.end() || !found->second.reported) return;
        remember_settled(found->second.ref, found->second.digest);
        sessions_[found->second.executor].drops[report.lease] = verdict;
        end_lease(report.lease, "result");
    }
    answer_where_possible(now.elapsed);
}

void JobBoard::unreported(const ReportedLease& report) {
    if (report.stale) {
        const auto session = sessions_.find(report.executor);
        if (session != sessions_.end()) session->second.evidence.erase(report.lease);
        return;
    }
    const auto found = leases_.find(report.lease);
    if (found != leases_.end()) found->second.reported = false;
}

void JobBoard::unshippable(const jobs::LeaseId& id, const base::Error& error) {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return;
    jobs::Outcome outcome;
    outcome.outcome_class = jobs::OutcomeClass::rejected;
    outcome.error = jobs::OutcomeError{error.code, error.message};
    found->second.reported = true;
    events_.push_back(
        Reported{found->second.ref, "master", std::move(outcome), found->second.task.reply, false}
    );
}

void JobBoard::closed(Ticket ticket, const Now& now) {
    for (auto& [id, session] : sessions_) {
        const auto erased = std::erase_if(session.open, [&](const auto& entry) {
            return entry.second.ticket == ticket;
        });
        if (erased == 0 || !session.open.empty()) continue;
        session.silent_since = now.elapsed;
        session.quiet_since = now.elapsed;
    }
}

void JobBoard::tick(const Now& now) {
    std::vector<std::pair<jobs::LeaseId, std::string>> lost;
    for (const auto& [id, lease] : leases_) {
        if (lease.reported) continue;
        const auto& silent = sessions_[lease.executor].silent_since;
        const bool repeatable = lease.task.job.effect != jobs::Effect::once;
        if (lease.expires <= now.elapsed) {
            lost.emplace_back(
                id, fmt::format("the lease of executor '{}' ran out", lease.executor)
            );
        } else if (repeatable && silent && *silent + options_.silence_max <= now.elapsed) {
            lost.emplace_back(id, fmt::format("executor '{}' is silent", lease.executor));
        }
    }
    for (const auto& [id, reason] : lost)
        lose(id, reason);
    std::vector<Key> unsettled;
    for (const auto& [key, waiting] : unsettled_) {
        if (waiting.until <= now.elapsed) unsettled.push_back(key);
    }
    for (const auto& key : unsettled) {
        tell_lost(key, "no executor knows of it after a restart of the master");
        unsettled_.erase(key);
    }
    holds_end_.erase(holds_end_.begin(), holds_end_.upper_bound(now.elapsed));
    answer_where_possible(now.elapsed);
}

std::optional<base::Duration> JobBoard::next_due(const Now& now) const {
    std::optional<base::Duration> due;
    const auto sooner = [&](base::Duration at) { due = due ? std::min(*due, at) : at; };
    for (const auto& [id, lease] : leases_) {
        if (!lease.reported) sooner(lease.expires);
    }
    for (const auto& [key, waiting] : unsettled_)
        sooner(waiting.until);
    if (const auto end = holds_end_.upper_bound(now.elapsed); end != holds_end_.end()) sooner(*end);
    for (const auto& [id, session] : sessions_) {
        if (session.silent_since && *session.silent_since + options_.silence_max > now.elapsed) {
            sooner(*session.silent_since + options_.silence_max);
        }
        for (const auto& [seq, open] : session.open)
            sooner(open.deadline);
    }
    return due;
}

Result<jobs::LeaseRef> JobBoard::in_force(
    std::string_view executor, const jobs::LeaseId& id, jobs::Fencing fencing
) const {
    const auto found = leases_.find(id);
    if (found != leases_.end() && found->second.executor == executor &&
        found->second.ref.fencing == fencing) {
        return found->second.ref;
    }
    return fail(
        ErrorCode::fenced,
        fmt::format("lease '{}' is not in force for executor '{}'", id.text, executor),
        "stop the job; send its result as evidence"
    );
}

const jobs::Job* JobBoard::job_of(const jobs::LeaseId& id) const {
    const auto found = leases_.find(id);
    return found == leases_.end() ? nullptr : &found->second.task.job;
}

std::vector<ExecutorView> JobBoard::view(const Now& now) const {
    std::vector<ExecutorView> views;
    for (const auto& [id, session] : sessions_) {
        ExecutorView view{
            .id = id, .introduction = session.introduction, .last_seen = session.last_seen
        };
        const bool draining = session.draining || session.drain;
        view.state = silent(session, now.elapsed) ? "silent" : draining ? "draining" : "connected";
        for (const auto& [lease_id, lease] : leases_) {
            if (lease.executor == id) view.leases.push_back(lease.ref);
        }
        views.push_back(std::move(view));
    }
    return views;
}

bool JobBoard::silent(const Session& session, base::Duration now) const {
    return session.quiet_since && *session.quiet_since + options_.silence_max <= now;
}

Result<void> JobBoard::drain(std::string_view executor, const Now& now) {
    const auto session = sessions_.find(executor);
    if (session == sessions_.end()) {
        return fail(
            ErrorCode::not_found,
            fmt::format("executor '{}' was not seen since the master started", executor),
            "list them: netwright executors"
        );
    }
    session->second.drain = true;
    answer_where_possible(now.elapsed);
    return {};
}

void JobBoard::renewed(std::string_view executor, const Now& now) {
    std::vector<jobs::LeaseId> held;
    for (const auto& [id, lease] : leases_) {
        if (lease.executor == executor && !lease.reported) held.push_back(id);
    }
    for (const auto& id : held)
        lose(id, fmt::format("executor '{}' was enrolled again and has lost it", executor));
    answer_where_possible(now.elapsed);
}

std::string JobBoard::holder(const std::string& model, base::AttemptId attempt) const {
    const auto found = by_attempt_.find(Key{model, attempt});
    return found == by_attempt_.end() ? std::string{} : leases_.at(found->second).executor;
}

std::string JobBoard::why_waiting(const std::string& model, base::AttemptId attempt, const Now& now)
    const {
    if (const auto leased = by_attempt_.find(Key{model, attempt}); leased != by_attempt_.end()) {
        const auto& executor = leases_.at(leased->second).executor;
        if (!silent(sessions_.at(executor), now.elapsed)) return {};
        return fmt::format("executor '{}', which has it, is silent", executor);
    }
    if (unsettled_.contains(Key{model, attempt})) {
        return "the master restarted: waiting for the executors to say what became of it";
    }
    const auto task = std::ranges::find_if(queue_, [&](const Task& waiting) {
        return waiting.job.model == model && waiting.job.attempt == attempt;
    });
    if (task == queue_.end()) return {};
    std::vector<std::string> reasons;
    for (const auto& [id, session] : sessions_) {
        if (silent(session, now.elapsed)) {
            reasons.push_back(fmt::format("executor '{}' is silent", id));
        } else if (session.draining || session.drain) {
            reasons.push_back(fmt::format("executor '{}' is draining", id));
        } else if (const auto unfit =
                       jobs::why_unfit(session.introduction.capabilities, task->job)) {
            reasons.push_back(fmt::format("executor '{}': {}", id, *unfit));
        } else if (const auto refused = task->refusals.why(id); !refused.empty()) {
            reasons.push_back(fmt::format("executor '{}' could not begin it: {}", id, refused));
        } else {
            reasons.push_back(fmt::format("executor '{}' has no free slot", id));
        }
    }
    if (reasons.empty()) return "no executor is connected";
    return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace transitions
