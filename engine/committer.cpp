#include "engine/committer.hpp"

#include "engine/chain.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

namespace engine {

/// What one model has in a group.
struct Committer::Share {
    CommitLane lane;
    std::string model;
    Epoch epoch = 0;
    LogHead before;
    LogHead after;
    std::vector<Submission> submissions;
    std::vector<Seq> last_seqs;
    std::vector<ChainedBatch> batches;
    AppendOutcome outcome;
    std::size_t bytes = 0;
    std::size_t records = 0;
};

struct Committer::Group {
    std::vector<Share> shares;
    std::vector<std::move_only_function<void()>> calls;
    std::size_t bytes = 0;
    std::size_t records = 0;
};

namespace {

base::Error append_error(std::string_view model, const AppendOutcome& outcome) {
    const bool refused = outcome.status == AppendStatus::unknown;
    return {
        refused ? base::ErrorCode::overloaded : base::ErrorCode::fenced,
        fmt::format(
            "model '{}' stopped: its records could not be appended: {}", model, outcome.message
        ),
        refused ? "free space on the master's disk, or repair it; the model is then read again "
                  "from its log without a restart"
                : "it is read again from its log when it is next used",
        {}
    };
}

}  // namespace

Committer::Committer(EventLog& log, const CommitLimits& limits) : log_(log), limits_(limits) {}

base::Result<Committer::Opened> Committer::open(std::string_view model) {
    const auto epoch = log_.own(model);
    if (!epoch) return base::fail(epoch.error());
    const auto head = log_.head(model);
    if (!head) return base::fail(head.error());
    Lane lane;
    lane.model = model;
    lane.epoch = *epoch;
    lane.submitted = head->seq;
    lane.durable = *head;
    return lanes_.with([&](Lanes& lanes) {
        const CommitLane id{++lanes.last_id};
        lanes.by_id.emplace(id, std::move(lane));
        return Opened{.lane = id, .epoch = *epoch, .head = *head};
    });
}

void Committer::close(CommitLane lane) {
    lanes_.with([&](Lanes& lanes) {
        const auto found = lanes.by_id.find(lane);
        if (found == lanes.by_id.end()) return;
        fail_queue(
            lanes,
            found->second,
            {base::ErrorCode::cancelled, "the model was closed before this was written", {}, {}}
        );
        std::ranges::move(found->second.when_drained, std::back_inserter(lanes.calls));
        std::erase(lanes.ready, lane);
        lanes.by_id.erase(found);
    });
    lanes_.notify();
}

bool Committer::over(const Lane& lane, std::size_t part, std::size_t whole) const {
    return lane.bytes > limits_.queue_bytes_mark * part / whole ||
           lane.records > limits_.queue_records_mark * part / whole;
}

base::Result<Pressure> Committer::submit(CommitLane id, RecordBatch batch, Completion done) {
    base::check(!batch.empty(), "a batch holds at least one record");
    auto taken = lanes_.with([&](Lanes& lanes) -> base::Result<Pressure> {
        const auto found = lanes.by_id.find(id);
        if (found == lanes.by_id.end()) {
            return base::fail(base::ErrorCode::fenced, "the model was closed or reopened");
        }
        Lane& lane = found->second;
        if (!lane.health) return base::fail(lane.health.error());
        if (over(lane, limits_.queue_overrun_max, 1)) {
            return base::fail(
                base::ErrorCode::overloaded,
                fmt::format(
                    "model '{}' has {} bytes waiting to be written", lane.model, lane.bytes
                ),
                "try again later"
            );
        }
        base::check(
            batch.records.front().seq == lane.submitted + 1, "records are submitted in their order"
        );
        lane.submitted = batch.records.back().seq;
        lane.bytes += batch.bytes.size();
        lane.records += batch.records.size();
        lane.queue.push_back({std::move(batch), std::move(done)});
        if (!std::exchange(lane.scheduled, true)) lanes.ready.push_back(id);
        return over(lane, 1, 1) ? Pressure::over_mark : Pressure::clear;
    });
    lanes_.notify();
    return taken;
}

Pressure Committer::pressure(CommitLane id) const {
    return lanes_.with([&](const Lanes& lanes) {
        const auto found = lanes.by_id.find(id);
        if (found == lanes.by_id.end()) return Pressure::clear;
        return over(found->second, 1, 1) ? Pressure::over_mark : Pressure::clear;
    });
}

void Committer::when_drained(CommitLane id, std::move_only_function<void()> call) {
    lanes_.with([&](Lanes& lanes) {
        const auto found = lanes.by_id.find(id);
        const bool waits = found != lanes.by_id.end() && found->second.health.has_value() &&
                           over(found->second, 1, 2);
        (waits ? found->second.when_drained : lanes.calls).push_back(std::move(call));
    });
    lanes_.notify();
}

LogHead Committer::durable(CommitLane id) const {
    return lanes_.with([&](const Lanes& lanes) {
        const auto found = lanes.by_id.find(id);
        return found == lanes.by_id.end() ? LogHead{} : found->second.durable;
    });
}

base::Result<void> Committer::health(CommitLane id) const {
    return lanes_.with([&](const Lanes& lanes) -> base::Result<void> {
        const auto found = lanes.by_id.find(id);
        if (found == lanes.by_id.end()) {
            return base::fail(base::ErrorCode::fenced, "the model was closed or reopened");
        }
        return found->second.health;
    });
}

bool Committer::step() {
    Group group = take();
    if (group.shares.empty() && group.calls.empty()) return false;
    if (!group.shares.empty()) write(group);
    settle(group);
    for (auto& call : group.calls)
        call();
    return true;
}

Committer::Group Committer::take() {
    return lanes_.with([&](Lanes& lanes) {
        Group group;
        group.calls = std::exchange(lanes.calls, {});
        while (!lanes.ready.empty() && group.bytes < limits_.group_bytes_max &&
               group.records < limits_.group_records_max) {
            const CommitLane id = lanes.ready.front();
            lanes.ready.pop_front();
            Lane& lane = lanes.by_id.at(id);
            Share share;
            share.lane = id;
            share.model = lane.model;
            share.epoch = lane.epoch;
            share.before = lane.durable;
            take_share(lane, share, group);
            group.shares.push_back(std::move(share));
        }
        return group;
    });
}

void Committer::take_share(Lane& lane, Share& share, Group& group) const {
    while (!lane.queue.empty()) {
        const RecordBatch& next = lane.queue.front().batch;
        const bool fits = group.bytes + next.bytes.size() <= limits_.group_bytes_max &&
                          group.records + next.records.size() <= limits_.group_records_max;
        if (!fits && !share.submissions.empty()) return;
        group.bytes += next.bytes.size();
        group.records += next.records.size();
        share.bytes += next.bytes.size();
        share.records += next.records.size();
        share.submissions.push_back(std::move(lane.queue.front()));
        lane.queue.pop_front();
    }
}

void Committer::write(Group& group) {
    std::vector<Append> requests;
    requests.reserve(group.shares.size());
    for (Share& share : group.shares) {
        share.after = share.before;
        share.batches.reserve(share.submissions.size());
        for (Submission& submission : share.submissions) {
            share.batches.push_back(chain(std::move(submission.batch), share.after));
            share.last_seqs.push_back(share.after.seq);
        }
        requests.push_back(
            {.model = share.model,
             .epoch = share.epoch,
             .expected_seq = share.before.seq,
             .batches = share.batches}
        );
    }
    auto outcomes = log_.append(requests);
    base::check(outcomes.size() == group.shares.size(), "one outcome a request");
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        group.shares[i].outcome = std::move(outcomes[i]);
    }
}

void Committer::settle(Group& group) {
    // Completions of this group come before those of what was queued behind it and fails with it.
    std::vector<std::move_only_function<void()>> later;
    lanes_.with([&](Lanes& lanes) {
        for (Share& share : group.shares)
            settle_share(lanes, share);
        std::swap(later, lanes.calls);
        lanes.totals.groups += group.shares.empty() ? 0 : 1;
    });
    for (Share& share : group.shares) {
        const bool committed = share.outcome.status == AppendStatus::committed;
        for (std::size_t i = 0; i < share.submissions.size(); ++i) {
            if (!share.submissions[i].done) continue;
            if (committed) {
                share.submissions[i].done(share.last_seqs[i]);
            } else {
                share.submissions[i].done(base::fail(append_error(share.model, share.outcome)));
            }
        }
    }
    std::ranges::move(later, std::back_inserter(group.calls));
}

void Committer::settle_share(Lanes& lanes, Share& share) const {
    const auto found = lanes.by_id.find(share.lane);
    const bool committed = share.outcome.status == AppendStatus::committed;
    if (committed) {
        lanes.totals.records += share.records;
        lanes.totals.bytes += share.bytes;
    }
    if (found == lanes.by_id.end()) return;
    Lane& lane = found->second;
    lane.bytes -= share.bytes;
    lane.records -= share.records;
    lane.scheduled = false;
    if (committed) {
        lane.durable = share.after;
        if (!lane.queue.empty()) {
            lane.scheduled = true;
            lanes.ready.push_back(share.lane);
        }
    } else {
        const base::Error error = append_error(share.model, share.outcome);
        lane.health = base::fail(error);
        fail_queue(lanes, lane, error);
    }
    if (!lane.health || !over(lane, 1, 2)) {
        std::ranges::move(lane.when_drained, std::back_inserter(lanes.calls));
        lane.when_drained.clear();
    }
}

void Committer::fail_queue(Lanes& lanes, Lane& lane, const base::Error& error) {
    for (Submission& submission : lane.queue) {
        lane.bytes -= submission.batch.bytes.size();
        lane.records -= submission.batch.records.size();
        if (!submission.done) continue;
        lanes.calls.push_back([done = std::move(submission.done), error]() mutable {
            done(base::fail(error));
        });
    }
    lane.queue.clear();
}

bool Committer::wait() {
    return lanes_.wait(
        [](const Lanes& lanes) { return !lanes.idle() || lanes.stopping; },
        [](const Lanes& lanes) { return !lanes.idle(); }
    );
}

void Committer::stop() {
    lanes_.with([](Lanes& lanes) { lanes.stopping = true; });
    lanes_.notify();
}

Committer::Totals Committer::totals() const {
    return lanes_.with([](const Lanes& lanes) { return lanes.totals; });
}

CommitThread::CommitThread(Committer& committer)
    : committer_(committer), thread_([this] {
          while (committer_.wait())
              committer_.step();
      }) {}

CommitThread::~CommitThread() {
    committer_.stop();
    thread_.join();
}

}  // namespace engine
