#pragma once

#include "base/guarded.hpp"
#include "engine/log.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace engine {

struct CommitLimits {
    /// Over either mark a model's queue says so, and its strand waits for `when_drained`.
    std::size_t queue_bytes_mark = std::size_t{16} << 20U;
    std::size_t queue_records_mark = 50'000;
    /// Beyond this many times its marks a queue takes nothing more.
    std::size_t queue_overrun_max = 4;
    /// What one synced write takes at most (at least one batch).
    std::size_t group_bytes_max = std::size_t{4} << 20U;
    std::size_t group_records_max = 16'384;
};

/// Names a model's queue in the committer; from `Committer::open`. Reopening gives a new one, and
/// the old one is refused from then on.
struct CommitLane {
    std::uint64_t id = 0;
    auto operator<=>(const CommitLane&) const = default;
};

enum class Pressure : std::uint8_t {
    clear,
    /// Taken, but decide nothing new before `when_drained` has called.
    over_mark,
};

/// Gathers the records of all models into synced writes. Thread-safe; `step` is called by one
/// thread at a time, which also runs every completion.
class Committer {
public:
    /// The last seq of the batch, now durable; or why it is not. Runs on the thread of `step`, in
    /// the order of `submit` within a model.
    using Completion = std::move_only_function<void(base::Result<Seq>)>;

    struct Opened {
        CommitLane lane;
        Epoch epoch = 0;
        LogHead head;
    };

    explicit Committer(EventLog& log, const CommitLimits& limits = {});
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    /// Owns the model in the log (see EventLog::own; blocks on the disk) and makes its queue, also
    /// after a failure. Nothing of an earlier lane of this model may still be under way.
    base::Result<Opened> open(std::string_view model);

    /// Forgets the lane; what is queued in it fails with `cancelled`.
    void close(CommitLane lane);

    /// Queues consecutive records, the first one right after what was submitted before. Never
    /// blocks. Refused (then `done` is not called) when the model failed, or when its queue is full
    /// beyond all marks (overloaded); memory is then ahead of the log and the model must be
    /// reopened.
    base::Result<Pressure> submit(CommitLane lane, RecordBatch batch, Completion done);

    [[nodiscard]] Pressure pressure(CommitLane lane) const;
    /// Calls once, on the thread of `step`, when the queue has fallen below half of its marks (or
    /// the lane has failed or was closed).
    void when_drained(CommitLane lane, std::move_only_function<void()> call);

    /// The last record known to be durable.
    [[nodiscard]] LogHead durable(CommitLane lane) const;
    /// Why the model was stopped, if it was.
    [[nodiscard]] base::Result<void> health(CommitLane lane) const;

    /// Chains and appends what is queued, in one write, then runs completions. False when there was
    /// nothing to do.
    bool step();

    /// Waits for something to do; false once `stop` was called and nothing is queued.
    bool wait();
    void stop();

    struct Totals {
        std::uint64_t groups = 0;
        std::uint64_t records = 0;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] Totals totals() const;

private:
    struct Submission {
        RecordBatch batch;
        Completion done;
    };
    struct Lane {
        std::string model;
        Epoch epoch = 0;
        /// The last seq submitted.
        Seq submitted = 0;
        LogHead durable;
        std::deque<Submission> queue;
        /// Queued or being written.
        std::size_t bytes = 0;
        std::size_t records = 0;
        base::Result<void> health;
        std::vector<std::move_only_function<void()>> when_drained;
        /// In `ready`, or part of the group that is being written.
        bool scheduled = false;
    };
    struct Lanes {
        std::map<CommitLane, Lane> by_id;
        std::uint64_t last_id = 0;
        /// Lanes with something queued; the first has waited longest.
        std::deque<CommitLane> ready;
        /// What `step` has yet to call, apart from what a group brings.
        std::vector<std::move_only_function<void()>> calls;
        Totals totals;
        bool stopping = false;

        [[nodiscard]] bool idle() const { return ready.empty() && calls.empty(); }
    };
    struct Share;
    struct Group;

    /// True when the queue holds more than `part`/`whole` of either mark.
    [[nodiscard]] bool over(const Lane& lane, std::size_t part, std::size_t whole) const;
    Group take();
    void take_share(Lane& lane, Share& share, Group& group) const;
    void write(Group& group);
    void settle(Group& group);
    void settle_share(Lanes& lanes, Share& share) const;
    static void fail_queue(Lanes& lanes, Lane& lane, const base::Error& error);

    EventLog& log_;
    const CommitLimits limits_;
    base::Guarded<Lanes> lanes_;
};

/// A thread that loops on a committer. The destructor commits what is queued, then joins.
class CommitThread {
public:
    explicit CommitThread(Committer& committer);
    ~CommitThread();
    CommitThread(const CommitThread&) = delete;
    CommitThread& operator=(const CommitThread&) = delete;

private:
    Committer& committer_;
    std::thread thread_;
};

}  // namespace engine
