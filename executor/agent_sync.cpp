#include "executor/agent.hpp"

#include <algorithm>
#include <utility>

namespace executor {

namespace {

constexpr base::Duration slack_min = base::milliseconds(500);
constexpr base::Duration slack_max = base::seconds(10);
constexpr base::Duration sleep_max = base::seconds(3600);
constexpr base::Duration progress_interval = base::seconds(1);

}  // namespace

std::uint64_t Agent::answered() const {
    return open_.empty() ? next_seq_ - 1 : open_.begin()->first - 1;
}

bool Agent::due(const Result& result, base::Duration now) const {
    if (open_.contains(result.sent_in)) return false;
    if (result.sent_in == 0 || !result.answered_at) return true;
    return now >= *result.answered_at + options_.resend;
}

bool Agent::news(base::Duration now) const {
    if (must_introduce() || !lost_.empty() || (draining_ && !draining_told_)) return true;
    return std::ranges::any_of(results_, [&](const auto& entry) { return due(entry.second, now); });
}

bool Agent::must_introduce() const {
    return introduction_told_ != introduction_ &&
           std::ranges::none_of(open_, [&](const auto& entry) {
               return entry.second.introduction == introduction_;
           });
}

bool Agent::progress_due(base::Duration now) const {
    return std::ranges::any_of(held_, [&](const auto& entry) {
        const Held& held = entry.second;
        return held.view.progress && held.view.progress != held.progress_told &&
               (!held.progress_told || now >= held.progress_told_at + progress_interval);
    });
}

std::optional<base::Duration> Agent::shortest_remaining(base::Duration now) const {
    std::optional<base::Duration> shortest;
    for (const auto& [lease, held] : held_) {
        if (!held.deadline || held.stopping) continue;
        const auto remaining = std::max(*held.deadline - now, base::Duration{});
        if (!shortest || remaining < *shortest) shortest = remaining;
    }
    return shortest;
}

OutgoingSync Agent::outgoing(const Open& open, base::Duration now) const {
    // An answer that is overdue must be noticed while the leases can still be renewed.
    auto slack = slack_max;
    if (const auto remaining = shortest_remaining(now)) {
        slack = std::clamp(base::Duration{remaining->us / 4}, slack_min, slack_max);
    }
    return {open.request, open.request->wait + slack};
}

std::optional<OutgoingSync> Agent::next_sync(base::Duration now) {
    if (ended_) return std::nullopt;
    bool waiting = false;
    for (auto& [seq, open] : open_) {
        if (open.in_flight) continue;
        if (open.retry_at <= now) {
            open.in_flight = true;
            return outgoing(open, now);
        }
        waiting = true;
    }
    // The way to the master is broken: what was to be said first is repeated first.
    if (waiting || open_.size() >= jobs::open_syncs_max) return std::nullopt;
    if (open_.empty()) {
        if (now < not_before_ && !news(now)) return std::nullopt;
        return send_new(now);
    }
    // A second one beside the poll that is open: only to tell something, and not before the first
    // of the session, which says what is left of earlier ones.
    const bool first_answered = answered() > 0;
    const bool told_already = open_.rbegin()->second.request->draining || !draining_;
    const bool results_due =
        std::ranges::any_of(results_, [&](const auto& entry) { return due(entry.second, now); });
    const bool something = results_due || !told_already || must_introduce() || progress_due(now);
    if (!first_answered || !something) return std::nullopt;
    return send_new(now);
}

OutgoingSync Agent::send_new(base::Duration now) {
    auto request = std::make_shared<jobs::SyncRequest>();
    request->session = options_.session;
    request->seq = next_seq_;
    request->answered = answered();
    fill(*request, now);
    ++next_seq_;
    const auto entry =
        open_.emplace(request->seq, Open{.request = request, .first_sent = now}).first;
    if (request->introduction) entry->second.introduction = introduction_;
    return outgoing(entry->second, now);
}

void Agent::fill(jobs::SyncRequest& request, base::Duration now) {
    if (introduction_told_ != introduction_) request.introduction = options_.introduction;
    request.draining = draining_;
    const auto free = options_.introduction.slots - static_cast<std::int64_t>(held_.size());
    request.capacity = draining_ ? 0 : std::max<std::int64_t>(free, 0);
    request.wait = jobs::sync_wait_max;
    if (const auto remaining = shortest_remaining(now)) {
        request.wait = std::min(request.wait, base::Duration{remaining->us / 3});
    }
    request.wait.us -= request.wait.us % 1000;
    // The first is answered at once, so that the next may stand beside another; so is the farewell.
    if (request.seq == 1 || (draining_ && !draining_told_)) request.wait = {};
    request.lost = lost_;
    for (auto& [lease, held] : held_) {
        if (held.view.progress != held.progress_told) held.progress_told_at = now;
        held.progress_told = held.view.progress;
        request.running.push_back({held.ref, held.view.phase, held.view.usage, held.view.progress});
    }
    std::size_t bytes = 0;
    for (auto& [lease, result] : results_) {
        const bool fits = bytes == 0 || bytes + result.bytes <= jobs::sync_body_bytes_aim;
        if (!due(result, now) || !fits) {
            // Named all the same: a master that restarted must not take it for never started.
            request.running.push_back({result.done.ref, jobs::Phase::collecting, {}, {}});
            continue;
        }
        bytes += result.bytes;
        result.sent_in = request.seq;
        result.answered_at.reset();
        request.done.push_back(result.done);
    }
}

base::Duration Agent::wake_at(base::Duration now) const {
    auto at = now + sleep_max;
    const auto earlier = [&](base::Duration candidate) { at = std::min(at, candidate); };
    bool waiting = false;
    for (const auto& [seq, open] : open_) {
        if (open.in_flight) continue;
        earlier(open.retry_at);
        waiting = true;
    }
    if (open_.empty()) earlier(news(now) ? now : not_before_);
    for (const auto& [lease, held] : held_) {
        if (held.deadline && !held.stopping) {
            earlier(*held.deadline - base::Duration{held.ttl.us / 6});
        }
    }
    for (const auto& [lease, result] : results_) {
        if (result.answered_at && !waiting && open_.size() < jobs::open_syncs_max)
            earlier(*result.answered_at + options_.resend);
    }
    return at;
}

}  // namespace executor
