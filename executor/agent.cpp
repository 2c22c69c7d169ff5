#include "executor/agent.hpp"

#include <algorithm>
#include <utility>

namespace executor {

namespace {

constexpr std::size_t result_overhead_bytes = 1024;
constexpr base::Duration pause_min = base::milliseconds(5);
constexpr base::Duration pause_max = base::seconds(1);
// The first answers without content are taken for a coincidence.
constexpr int quick_answers_free = 3;
constexpr int doublings_max = 16;

/// Before the lease's end, a job must be dead: so early it is told to stop.
base::Duration margin(base::Duration ttl) {
    return {ttl.us / 6};
}

// Bytes that are not printable ASCII may grow sixfold in JSON; previews and outputs mostly are.
std::size_t about_bytes(const jobs::Outcome& outcome) {
    std::size_t bytes = result_overhead_bytes;
    for (const auto* output : {&outcome.standard_output, &outcome.standard_error}) {
        bytes += 2 * (output->text.size() + output->tail.size());
    }
    return bytes;
}

}  // namespace

Agent::Agent(AgentOptions options, LeftOver left_over)
    : options_(std::move(options)), lost_(std::move(left_over.lost)), random_(options_.seed | 1U) {
    for (auto& done : left_over.done) {
        const auto bytes = about_bytes(done.outcome);
        const auto lease = done.ref.lease;
        results_.emplace(lease, Result{std::move(done), bytes, 0, {}});
    }
    for (auto& ref : left_over.pending) {
        const auto lease = ref.lease;
        Held held{.ref = std::move(ref), .ttl = {}, .deadline = {}};
        held.view.phase = jobs::Phase::collecting;
        held_.emplace(lease, std::move(held));
    }
}

Actions Agent::replied(std::uint64_t seq, jobs::SyncReply reply, base::Duration now) {
    const auto found = open_.find(seq);
    // Of a connection that was given up: its repetition is answered by the same answer.
    if (found == open_.end() || !found->second.in_flight || reply.seq != seq) return {};
    const Open open = std::move(found->second);
    open_.erase(found);
    Actions actions;
    note_master(reply.master);
    introduction_told_ = std::max(introduction_told_, open.introduction);
    if (reply.introduce) introduction_told_ = 0;
    if (reply.drain) draining_ = true;
    if (open.request->draining) draining_told_ = true;
    renew(open);
    note_answered(open, now, actions);
    apply_drops(reply.drop, actions);
    apply_cancels(reply.cancel, actions);
    pace(open, reply, now);
    const auto granted = open.first_sent + reply.held;
    for (auto& refused : reply.refused)
        refuse(std::move(refused));
    for (auto& lease : reply.leases)
        take(std::move(lease), granted, now, actions);
    return actions;
}

void Agent::note_master(const std::string& master) {
    if (master == master_) return;
    // Another run of the master may not have what the one before was told.
    for (auto& [lease, result] : results_) {
        if (!open_.contains(result.sent_in)) result.sent_in = 0;
        result.answered_at.reset();
    }
    master_ = master;
}

void Agent::renew(const Open& open) {
    for (const auto& running : open.request->running) {
        const auto held = held_.find(running.ref.lease);
        if (held == held_.end() || !held->second.deadline) continue;
        const auto until = open.first_sent + held->second.ttl;
        held->second.deadline = std::max(*held->second.deadline, until);
    }
}

void Agent::note_answered(const Open& open, base::Duration now, Actions& actions) {
    for (const auto& done : open.request->done) {
        const auto result = results_.find(done.ref.lease);
        if (result != results_.end() && result->second.sent_in == open.request->seq) {
            result->second.answered_at = now;
        }
    }
    if (open.request->lost.empty()) return;
    for (const auto& ref : lost_)
        actions.emplace_back(ForgetLease{ref.lease, {}});
    lost_.clear();
}

void Agent::apply_drops(const std::vector<jobs::Drop>& drops, Actions& actions) {
    for (const auto& drop : drops) {
        if (results_.erase(drop.lease) == 0) continue;
        actions.emplace_back(ForgetLease{drop.lease, drop.verdict});
    }
}

void Agent::apply_cancels(const std::vector<jobs::Cancel>& cancels, Actions& actions) {
    for (const auto& cancel : cancels) {
        const auto held = held_.find(cancel.lease);
        if (held == held_.end() || held->second.stopping) continue;
        held->second.stopping = true;
        const auto reason =
            cancel.reason == jobs::CancelReason::fenced ? StopReason::lease : StopReason::requested;
        actions.emplace_back(StopJob{cancel.lease, {reason, options_.stop_grace}});
    }
}

void Agent::take(jobs::Lease lease, base::Duration granted, base::Duration now, Actions& actions) {
    if (held_.contains(lease.id) || results_.contains(lease.id)) return;
    const auto deadline = granted + lease.ttl;
    const auto ref = lease.ref();
    if (static_cast<std::int64_t>(held_.size()) >= options_.introduction.slots) {
        return give_back(ref, "all slots of the executor are taken");
    }
    if (deadline - margin(lease.ttl) <= now) {
        return give_back(ref, "the lease came too late to be used");
    }
    held_.emplace(lease.id, Held{.ref = ref, .ttl = lease.ttl, .deadline = deadline});
    actions.emplace_back(StartJob{std::move(lease)});
}

// Nothing was started: any executor may try again.
void Agent::give_back(const jobs::LeaseRef& ref, std::string why) {
    results_.emplace(
        ref.lease, Result{{ref, jobs::given_back(std::move(why))}, result_overhead_bytes, 0, {}}
    );
}

// It cannot be read: the other leases of the answer are not to suffer from it.
void Agent::refuse(jobs::RefusedLease refused) {
    const auto id = refused.ref.lease;
    if (held_.contains(id) || results_.contains(id)) return;
    auto outcome = jobs::given_back({});
    outcome.outcome_class = jobs::OutcomeClass::rejected;
    outcome.error = {base::ErrorCode::unsupported, std::move(refused.why)};
    const auto bytes = about_bytes(outcome);
    results_.emplace(id, Result{{std::move(refused.ref), std::move(outcome)}, bytes, 0, {}});
}

// A master that answers at once with nothing must not be asked again at once for ever.
void Agent::pace(const Open& open, const jobs::SyncReply& reply, base::Duration now) {
    not_before_ = now + reply.next_sync;
    const bool empty = reply.leases.empty() && reply.cancel.empty() && reply.drop.empty();
    const bool quick = reply.held.us < open.request->wait.us / 2;
    if (!empty || !quick || !open_.empty()) {
        quick_answers_ = 0;
        return;
    }
    quick_answers_ = std::min(quick_answers_ + 1, quick_answers_free + doublings_max);
    if (quick_answers_ <= quick_answers_free) return;
    const auto pause = pause_min.us << (quick_answers_ - quick_answers_free);
    not_before_ = std::max(not_before_, now + base::Duration{std::min(pause, pause_max.us)});
}

void Agent::failed(std::uint64_t seq, const SyncFailure& failure, base::Duration now) {
    const auto found = open_.find(seq);
    if (found == open_.end() || !found->second.in_flight) return;
    const auto code = failure.error.code;
    if (code == base::ErrorCode::fenced || code == base::ErrorCode::unauthenticated ||
        code == base::ErrorCode::not_permitted) {
        ended_ = failure.error;
        return;
    }
    Open& open = found->second;
    open.in_flight = false;
    open.failures = std::min(open.failures + 1, doublings_max);
    open.retry_at =
        now + std::max(backoff(open.failures, now), failure.retry_after.value_or(base::Duration{}));
}

base::Duration Agent::backoff(int failures, base::Duration now) {
    auto length = std::min(options_.backoff_min.us << (failures - 1), options_.backoff_max.us);
    // While leases can still be saved, do not sleep over it.
    if (const auto remaining = shortest_remaining(now)) {
        length = std::min(length, std::max(options_.backoff_min.us, remaining->us / 4));
    }
    // xorshift64: half the length, and up to as much again.
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    const auto half = static_cast<std::uint64_t>(length / 2 + 1);
    return {static_cast<std::int64_t>(half + random_ % half)};
}

void Agent::finished(const jobs::LeaseId& lease, jobs::Outcome outcome) {
    const auto held = held_.find(lease);
    base::check(held != held_.end(), "a job finished that was not running");
    const auto bytes = about_bytes(outcome);
    results_.emplace(lease, Result{{held->second.ref, std::move(outcome)}, bytes, 0, {}});
    held_.erase(held);
}

void Agent::introduce(jobs::Introduction introduction) {
    options_.introduction = std::move(introduction);
    ++introduction_;
}

void Agent::show(const jobs::LeaseId& lease, const JobView& view) {
    const auto held = held_.find(lease);
    if (held != held_.end()) held->second.view = view;
}

Actions Agent::tick(base::Duration now) {
    Actions actions;
    for (auto& [lease, held] : held_) {
        if (held.stopping || !held.deadline || *held.deadline - margin(held.ttl) > now) continue;
        held.stopping = true;
        const base::Duration grace{std::min(options_.stop_grace.us, margin(held.ttl).us / 2)};
        actions.emplace_back(StopJob{lease, {StopReason::lease, grace}});
    }
    return actions;
}

bool Agent::idle() const {
    return held_.empty() && results_.empty() && lost_.empty();
}

bool Agent::drained() const {
    return draining_ && draining_told_ && idle();
}

}  // namespace executor
