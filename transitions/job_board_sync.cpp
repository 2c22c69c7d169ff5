#include "transitions/job_board.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t sessions_max = 4096;
/// Of one executor: answers that it has not said it got, and results being recorded as evidence.
constexpr std::size_t replies_kept_max = 64;
constexpr std::size_t evidence_max = 1024;

}  // namespace

JobBoard::Session* JobBoard::session_of(
    std::string_view executor, const jobs::SyncRequest& request
) {
    auto& session = sessions_[std::string(executor)];
    if (session.number == request.session) return &session;
    if (session.number > request.session) return nullptr;
    // A new run of the executor's process: what the old one had open is answered to nobody.
    session.number = request.session;
    session.introduced = false;
    session.highest_seq = 0;
    session.drain = false;
    session.drain_told = false;
    session.open.clear();
    session.replies.clear();
    session.drops.clear();
    session.fenced.clear();
    session.heard = false;
    session.answered_from = 0;
    session.lost.clear();
    session.evidence.clear();
    events_.push_back(ExecutorsChanged{});
    return &session;
}

Result<void> JobBoard::sync(
    std::string_view executor_id, Ticket ticket, jobs::SyncRequest request, const Now& now
) {
    const std::string executor(executor_id);
    if (sessions_.size() >= sessions_max && !sessions_.contains(executor)) {
        return fail(
            ErrorCode::overloaded,
            fmt::format("the master knows {} executors, and takes no more", sessions_max),
            "restart the master to forget those that are gone"
        );
    }
    Session* session = session_of(executor, request);
    if (session == nullptr) {
        return fail(
            ErrorCode::fenced,
            fmt::format("a newer session of executor '{}' ended this one", executor),
            "give each executor an id of its own"
        );
    }
    session->last_seen = now.wall;
    session->silent_since.reset();
    session->quiet_since.reset();
    std::erase_if(session->replies, [&](const auto& entry) {
        return entry.first <= request.answered;
    });
    const auto before = session->replies.find(request.seq);
    if (before != session->replies.end()) {
        answers_.push_back({ticket, before->second});
        return {};
    }
    if (session->replies.size() >= replies_kept_max) {
        return fail(
            ErrorCode::overloaded,
            fmt::format("executor '{}' acknowledges no answers", executor),
            "send the oldest sync that was not answered again"
        );
    }
    const auto open = session->open.find(request.seq);
    base::Duration arrived = now.elapsed;
    if (open != session->open.end()) arrived = open->second.arrived;
    if (request.introduction) {
        session->introduction = *request.introduction;
        session->introduced = true;
        for (auto& task : queue_)
            task.refusals.release(executor);
    }
    for (auto& done : request.done)
        take_done(executor, *session, std::move(done), now.elapsed);
    for (const auto& ref : request.lost)
        take_lost(executor, ref, now.elapsed);
    const bool newest = request.seq >= session->highest_seq;
    if (newest) {
        session->highest_seq = request.seq;
        session->draining = request.draining;
        take_running(executor, *session, request, arrived);
        // While another answer is under way (maybe of the master before this one), it may bring
        // leases that this request cannot name yet. And after a restart, what is repeated may have
        // been written before leases that the earlier master granted: only what was written after
        // an answer of this one tells all (or the first of a session, before which is nothing).
        const bool fresh = request.seq == 1 || (session->answered_from != 0 &&
                                                request.answered >= session->answered_from);
        if (fresh && request.answered + 1 == request.seq) {
            forget_unknown(executor, request, !session->heard);
            session->heard = true;
            came_back(executor);
        }
    }
    const auto wait = std::min(request.wait, jobs::sync_wait_max);
    session->open.insert_or_assign(
        request.seq,
        Open{
            ticket,
            arrived,
            newest ? arrived + wait : now.elapsed,
            newest ? room(*session, request) : 0,
            request.draining
        }
    );
    answer_where_possible(now.elapsed);
    return {};
}

void JobBoard::take_done(
    const std::string& executor, Session& session, jobs::Done done, base::Duration now
) {
    const base::Digest digest = jobs::digest(done.outcome);
    const jobs::LeaseId id = done.ref.lease;
    if (!seal_.proves(executor, done.ref)) {
        // It was never this executor's: nothing is to be recorded of it.
        session.drops[id] = jobs::Verdict::unknown;
        session.fenced.erase(id);
        return;
    }
    const auto known = settled_.find(id);
    if (known != settled_.end()) {
        session.drops[id] =
            known->second.second == digest ? jobs::Verdict::duplicate : jobs::Verdict::conflict;
        return;
    }
    auto lease = leases_.find(id);
    if (lease == leases_.end()) {
        adopt(executor, done.ref, now);
        lease = leases_.find(id);
    }
    if (lease == leases_.end()) return take_evidence(executor, session, std::move(done));
    if (lease->second.reported) {
        if (lease->second.digest != digest) session.drops[id] = jobs::Verdict::conflict;
        return;
    }
    const bool unstarted = done.outcome.outcome_class == jobs::OutcomeClass::infra ||
                           done.outcome.outcome_class == jobs::OutcomeClass::rejected;
    if (unstarted && lease->second.ran && lease->second.task.job.effect == jobs::Effect::once) {
        done.outcome.outcome_class = jobs::OutcomeClass::interrupted;
        done.outcome.error = {
            ErrorCode::uncertain,
            fmt::format("executor '{}' said that it runs, then that it never started", executor)
        };
    } else if (take_back(executor, lease->second, done, now)) {
        session.drops[id] = jobs::Verdict::applied;
        return;
    }
    if (done.outcome.progress) {
        note_progress(executor, lease->second, {*done.outcome.progress, now, true});
    }
    lease->second.reported = true;
    lease->second.digest = digest;
    events_.push_back(
        Reported{done.ref, executor, std::move(done.outcome), lease->second.task.reply, false}
    );
}

bool JobBoard::take_back(
    const std::string& executor, LeaseState& lease, const jobs::Done& done, base::Duration now
) {
    // What it said to run it cannot give back.
    if (!done.outcome.given_back() || lease.ran) return false;
    const std::string why = done.outcome.error->message;
    if (done.outcome.error->code != ErrorCode::overloaded) {
        auto& refusals = lease.task.refusals;
        if (refusals.exhausted()) return false;
        refusals.add(executor, why, now);
        if (const auto next = refusals.next(now)) holds_end_.insert(*next);
    }
    remember_settled(lease.ref, jobs::digest(done.outcome));
    const jobs::LeaseId id = lease.ref.lease;
    offer_again(id, fmt::format("executor '{}' gave it back: {}", executor, why));
    return true;
}

void JobBoard::note_progress(
    const std::string& executor, LeaseState& lease, const ProgressAt& told
) {
    constexpr base::Duration progress_interval = base::milliseconds(900);
    if (lease.progress == told.progress) return;
    const bool soon = told.now - lease.progress_at < progress_interval;
    if (!told.last && lease.progress && soon) return;
    lease.progress = told.progress;
    lease.progress_at = told.now;
    events_.push_back(Progressed{lease.ref, executor, told.progress});
}

// Its lease is not in force any more: it is kept, and changes nothing. The executor may delete its
// copy once that is durable, and with it why it is not in force.
void JobBoard::take_evidence(const std::string& executor, Session& session, jobs::Done done) {
    const auto id = done.ref.lease;
    session.fenced.erase(id);
    if (session.evidence.size() >= evidence_max || session.evidence.contains(id)) return;
    session.evidence.emplace(id, std::pair{done.ref, jobs::digest(done.outcome)});
    events_.push_back(Reported{done.ref, executor, std::move(done.outcome), {}, true});
}

void JobBoard::take_lost(
    const std::string& executor, const jobs::LeaseRef& ref, base::Duration now
) {
    if (!seal_.proves(executor, ref)) return;
    if (!leases_.contains(ref.lease)) adopt(executor, ref, now);
    sessions_[executor].lost.insert(Key{ref.model, ref.attempt});
    const auto lease = leases_.find(ref.lease);
    if (lease == leases_.end() || lease->second.reported) return;
    lose(ref.lease, fmt::format("executor '{}' lost it", executor));
}

void JobBoard::take_running(
    const std::string& executor,
    Session& session,
    const jobs::SyncRequest& request,
    base::Duration arrived
) {
    std::set<jobs::LeaseId> still;
    for (const auto& running : request.running) {
        const auto& id = running.ref.lease;
        const bool proven = seal_.proves(executor, running.ref);
        if (proven && !leases_.contains(id)) adopt(executor, running.ref, arrived);
        const auto lease = leases_.find(id);
        if (proven && lease != leases_.end()) {
            lease->second.expires = std::max(lease->second.expires, arrived + options_.lease);
            lease->second.received = true;
            if (running.phase == jobs::Phase::running) lease->second.ran = true;
            if (running.progress) {
                note_progress(executor, lease->second, {*running.progress, arrived});
            }
        } else {
            still.insert(id);  // it runs what is not in force
        }
    }
    session.fenced = std::move(still);
}

std::int64_t JobBoard::room(const Session& session, const jobs::SyncRequest& request) const {
    std::set<jobs::LeaseId> known;
    for (const auto& running : request.running)
        known.insert(running.ref.lease);
    std::int64_t room = request.capacity;
    for (const auto& [seq, reply] : session.replies) {
        for (const auto& lease : reply.leases) {
            const auto held = leases_.find(lease.id);
            const bool over = held == leases_.end() || held->second.reported;
            if (!over && !known.contains(lease.id)) --room;
        }
    }
    return room;
}

// Leases that the executor would have named if it knew them were never started: so it says, and it
// is believed where another attempt does no harm, or where it cannot have had the lease at all.
void JobBoard::forget_unknown(
    const std::string& executor, const jobs::SyncRequest& request, bool first
) {
    std::set<jobs::LeaseId> named;
    for (const auto& running : request.running)
        named.insert(running.ref.lease);
    for (const auto& done : request.done)
        named.insert(done.ref.lease);
    for (const auto& ref : request.lost)
        named.insert(ref.lease);
    std::vector<jobs::LeaseId> unknown;
    for (const auto& [id, lease] : leases_) {
        if (lease.executor != executor || lease.reported || named.contains(id)) continue;
        if (first || lease.granted_seq <= request.answered) unknown.push_back(id);
    }
    for (const auto& id : unknown) {
        const LeaseState& lease = leases_.at(id);
        const bool may_have_run = lease.received || !first;
        if (may_have_run && lease.task.job.effect == jobs::Effect::once) {
            lose(id, fmt::format("executor '{}' had it and does not know it any more", executor));
        } else {
            offer_again(id, fmt::format("executor '{}' never got it", executor));
        }
    }
}

// A lease of an earlier life of the master: its attempt is waiting to be claimed.
void JobBoard::adopt(const std::string& executor, const jobs::LeaseRef& ref, base::Duration now) {
    const auto found = unsettled_.find(Key{ref.model, ref.attempt});
    if (found == unsettled_.end() || ref.fencing < found->second.task.fencing) return;
    by_attempt_[found->first] = ref.lease;
    leases_[ref.lease] = LeaseState{
        .ref = ref,
        .task = std::move(found->second.task),
        .executor = executor,
        .expires = now + options_.lease,
        .received = true,
    };
    unsettled_.erase(found);
}

void JobBoard::came_back(const std::string& executor) {
    expected_.erase(executor);
    if (!expected_.empty()) return;
    for (auto& [key, waiting] : std::exchange(unsettled_, {})) {
        const Task& task = waiting.task;
        // Nobody names it, but it was granted, and may have been started.
        if (task.fencing != 0 && task.job.effect == jobs::Effect::once) {
            tell_lost(key, "it was leased before the master restarted, and no executor knows it");
        } else {
            queue_.push_back(std::move(waiting.task));
        }
    }
}

void JobBoard::answer_where_possible(base::Duration now) {
    // The executor with most room first, so that work spreads.
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [id, session] : sessions_) {
        if (!session.open.empty()) order.emplace_back(-session.open.rbegin()->second.capacity, id);
    }
    std::ranges::sort(order);
    for (const auto& [capacity, id] : order) {
        Session& session = sessions_.at(id);
        // A newer sync makes every older one answerable at once.
        while (session.open.size() > 1) {
            reply_to(session, session.open.begin()->first, {}, now);
        }
        if (!session.open.empty()) answer(id, session, now, false);
    }
}

bool JobBoard::losing(const Session& session) const {
    return std::ranges::any_of(session.lost, [&](const Key& key) { return losing_.contains(key); });
}

bool JobBoard::answer(
    const std::string& executor, Session& session, base::Duration now, bool must
) {
    if (!must && losing(session)) return false;
    session.lost.clear();
    const auto open = session.open.begin();
    jobs::SyncReply reply;
    reply.introduce = !session.introduced;
    reply.drain = session.drain;
    if (session.introduced && !open->second.draining && !session.drain)
        grant(executor, session, open->first, reply, now);
    for (const auto& id : session.fenced) {
        reply.cancel.push_back({id, jobs::CancelReason::fenced});
    }
    for (const auto& [id, verdict] : session.drops)
        reply.drop.push_back({id, verdict});
    const bool something = reply.introduce || !reply.leases.empty() ||
                           session.fenced != session.told || !reply.drop.empty() ||
                           session.drain != session.drain_told;
    if (!something && !must && open->second.deadline > now) return false;
    session.drops.clear();
    session.told = session.fenced;
    session.drain_told = session.drain;
    reply_to(session, open->first, std::move(reply), now);
    return true;
}

void JobBoard::grant(
    const std::string& executor,
    Session& session,
    std::uint64_t seq,
    jobs::SyncReply& reply,
    base::Duration now
) {
    std::int64_t capacity = session.open.at(seq).capacity;
    std::size_t bytes = 0;
    constexpr std::size_t looked_at_max = 1000;
    std::size_t looked_at = 0;
    for (auto task = queue_.begin();
         task != queue_.end() && capacity > 0 && looked_at < looked_at_max;) {
        ++looked_at;
        if (jobs::why_unfit(session.introduction.capabilities, task->job) ||
            task->refusals.hold(executor, now)) {
            ++task;
            continue;
        }
        // What does not fit goes with the next answer, which is asked for at once.
        bytes += jobs::bytes_on_the_wire(task->job);
        if (!reply.leases.empty() && bytes > jobs::sync_body_bytes_aim) break;
        const jobs::Fencing fencing = (static_cast<std::uint64_t>(task->epoch) << 32U) | ++counter_;
        jobs::Lease lease{
            .id = seal_.id_of(executor, task->job.model, task->job.attempt, fencing),
            .fencing = fencing,
            .ttl = options_.lease,
            .job = task->job,
        };
        LeaseState state{
            .ref = lease.ref(),
            .task = std::move(*task),
            .executor = executor,
            .granted_seq = seq,
            .expires = now + options_.lease,
        };
        by_attempt_[state.task.key()] = lease.id;
        events_.push_back(Granted{state.ref, executor});
        leases_.emplace(lease.id, std::move(state));
        reply.leases.push_back(std::move(lease));
        task = queue_.erase(task);
        --capacity;
    }
}

void JobBoard::reply_to(
    Session& session, std::uint64_t seq, jobs::SyncReply reply, base::Duration now
) {
    const auto open = session.open.find(seq);
    if (session.answered_from == 0) session.answered_from = seq;
    reply.master = options_.master;
    reply.seq = seq;
    reply.held = base::Duration{now.us - open->second.arrived.us};
    reply.introduce = !session.introduced;
    session.replies.insert_or_assign(seq, reply);
    answers_.push_back({open->second.ticket, std::move(reply)});
    session.open.erase(open);
    if (session.open.empty()) session.quiet_since = now;
}

void JobBoard::answer_all(const Now& now) {
    for (auto& [id, session] : sessions_) {
        while (!session.open.empty())
            answer(id, session, now.elapsed, true);
    }
}

}  // namespace transitions
