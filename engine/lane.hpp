#pragma once

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "base/worker_pool.hpp"
#include "engine/committer.hpp"
#include "engine/handler.hpp"
#include "engine/model.hpp"
#include "engine/model_clock.hpp"
#include "engine/snapshot_store.hpp"
#include "engine/timer_thread.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace engine {

class FrozenState;
class ModelLane;

/// Runs on the strand once all that the job wrote and saw is durable, or has failed.
using LaneCompletion = std::move_only_function<void(base::Result<void>)>;
/// Runs on the strand with the open model.
using LaneJob = std::move_only_function<LaneCompletion(base::Result<Model*>)>;

struct LaneParts {
    EventLog& log;
    SnapshotStore& snapshots;
    TransitionHandler& handler;
    const base::Clock& clock;
    Committer& committer;
    base::WorkerPool& workers;
    base::WorkerPool& background;
    TimerThread& timer;
    std::size_t snapshot_bytes_min;
};

/// One model on its strand: jobs in, firings, records to the committer, effects and completions out
/// once they are durable. Opens the model at the first job; after a failed commit it is reopened
/// from the log. Shared: the committer's callbacks and the timer may outlive a look-up.
class ModelLane : public std::enable_shared_from_this<ModelLane> {
public:
    ModelLane(const LaneParts& parts, std::string model);
    ~ModelLane();
    ModelLane(const ModelLane&) = delete;
    ModelLane& operator=(const ModelLane&) = delete;

    enum class Kind : std::uint8_t {
        look,    ///< reads; a model that does not exist stays so
        decide,  ///< the model may be made by what the job writes
        follow,  ///< what was begun goes on: taken however long the queue is
        note,    ///< the same, and nobody waits: its records may wait for others to go with
    };
    void post(LaneJob job, Kind kind);
    /// Runs the strand soon.
    void schedule();
    /// Both forget whom they have not called after `at_most`.
    void when_over(
        base::CaseId case_id, base::Duration at_most, std::move_only_function<void()> call
    );
    void when_beyond(Seq seq, base::Duration at_most, std::move_only_function<void()> call);
    [[nodiscard]] Seq durable() const { return durable_.load(); }
    /// Why the model is stopped: a record of its log cannot be folded. That holds until the process
    /// starts again. Thread-safe.
    [[nodiscard]] std::optional<base::Error> stopped_by() const;
    /// Takes no more jobs; what is queued runs, then a snapshot is written when worth it. Blocks.
    void stop();

private:
    struct Posted {
        LaneJob job;
        Kind kind = Kind::look;
    };
    struct Mailbox {
        std::deque<Posted> jobs;
        bool running = false;  ///< a turn is under way or posted
        bool again = false;    ///< something came since the turn began
        bool stopped = false;
        std::optional<base::Error> failure;  ///< of a commit: the model must be reopened
        std::optional<base::Error> refused;  ///< see `stopped_by`
    };
    struct Watcher {
        base::Duration until;  ///< on the clock's `elapsed`
        std::move_only_function<void()> call;
    };
    struct Waiting {
        Seq seq;
        LaneCompletion completion;
    };

    void run();
    void run_jobs();
    base::Result<Model*> open(Kind kind);
    void recover();
    void pump();
    void submit();
    /// Only notes are to be written, and they may wait a little longer.
    bool only_notes();
    void collect_effects();
    void hand_out(Effect& effect);
    void finish_durable();
    void give_up(const base::Error& error);
    void call_watchers();
    /// Brings the model to the time that it is.
    base::Timestamp tell_time();
    void set_timer();
    void snapshot_if_due();
    void snapshot_at_stop();
    /// Writes the frozen state, which is durable: here, or on the background's thread.
    void write_frozen(bool here);
    [[nodiscard]] Performance performance(const Operation& operation, std::uint32_t attempt) const;

    LaneParts parts_;
    std::string name_;
    base::Guarded<Mailbox> mailbox_;
    std::atomic<Seq> durable_{0};

    // Of the strand.
    std::unique_ptr<Model> model_;
    ModelClock clock_;
    CommitLane commit_lane_;
    std::deque<Waiting> waiting_;
    std::deque<std::pair<Seq, Effect>> effects_;
    std::multimap<base::CaseId, Watcher> over_watchers_;
    std::multimap<Seq, Watcher> beyond_watchers_;
    bool more_ = false;
    bool over_mark_ = false;
    std::size_t notes_ = 0;  ///< of the records that are not submitted yet
    base::Duration notes_since_;
    std::optional<base::Timestamp> timer_set_;
    base::Duration open_again_;  ///< on the clock's `elapsed`: when a model given up is tried again
    std::size_t bytes_since_snapshot_ = 0;
    /// Waits until its last record is durable: under a steady load the state is always ahead of the
    /// disk.
    std::shared_ptr<const FrozenState> frozen_;
    struct SnapshotWriting {
        std::atomic<bool> running = false;
        std::atomic<std::size_t> last_size = 0;
    };
    std::shared_ptr<SnapshotWriting> snapshot_;  // shared with the thread that writes it
};

}  // namespace engine
