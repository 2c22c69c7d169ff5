#pragma once

#include "engine/committer.hpp"
#include "engine/decide.hpp"
#include "engine/handler.hpp"
#include "engine/memory_log.hpp"
#include "engine/model_clock.hpp"
#include "engine/snapshot_store.hpp"
#include "jobs/sync.hpp"
#include "tests/simulation/checker.hpp"
#include "tests/simulation/world.hpp"
#include "transitions/job_board.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace simulation {

/// What survives the master.
struct Disk {
    engine::MemoryLog log;
    std::set<std::string> executors;
    engine::SnapshotStore* snapshots = nullptr;  ///< none: nothing is snapshotted
    std::map<std::string, LogChecker> logs;
};

inline constexpr base::Duration lease_length = base::seconds(6);

/// Lets a test put a defect into the master on purpose: the simulator must find it.
enum class Defect : std::uint8_t {
    none,
    effects_before_durable,
    offers_lost_again,
    lengths_by_wall_clock,
};

/// The master's process: the real model, committer and job board, on the threads of
/// engine/lane.cpp and transitions/dispatcher.cpp turned into events. What those two files decide
/// is repeated here: effects and replies only once they are durable, reopening after a failed
/// commit, what a verdict is.
class Master {
public:
    Master(World& world, Disk& disk, Defect defect);
    ~Master();

    void start();
    /// At once, or in the middle of the next append.
    void crash(bool in_append);
    [[nodiscard]] bool up() const { return up_; }
    /// Names one run of the process.
    [[nodiscard]] std::uint64_t life() const { return life_; }

    using Decide = std::function<base::Result<engine::Seq>(engine::Model&, const engine::Asker&)>;
    using Done = std::function<void(base::Result<engine::Seq>)>;
    void write(const std::string& model, engine::Asker asker, Decide decide, Done done);

    using Reply = std::function<void(base::Result<jobs::SyncReply>)>;
    transitions::Ticket sync(const std::string& executor, jobs::SyncRequest request, Reply reply);
    void closed(transitions::Ticket ticket);

    /// The model in memory; null when it is not open.
    [[nodiscard]] const engine::Model* model(const std::string& name) const;
    [[nodiscard]] const transitions::JobBoard& board() const { return *board_; }
    /// fold(log) = memory, where memory is not ahead; and = fold(snapshot + tail).
    void check_fold(const std::string& model) const;

private:
    using Completion = std::function<void(base::Result<void>)>;
    using Job = std::move_only_function<Completion(base::Result<engine::Model*>)>;
    struct Lane {
        explicit Lane(const base::Clock& clock) : time(clock) {}

        std::string name;
        engine::ModelClock time;
        std::deque<Job> jobs;
        bool scheduled = false;
        std::optional<base::Error> failure;
        engine::Seq durable = 0;
        std::unique_ptr<engine::Model> model;
        engine::CommitLane commit_lane;
        std::deque<std::pair<engine::Seq, Completion>> waiting;
        std::deque<std::pair<engine::Seq, engine::Effect>> effects;
        bool more = false;
        std::optional<base::Timestamp> timer;
    };

    void soon(base::Duration usual, std::move_only_function<void()> what);
    Lane& lane(const std::string& name);
    void post(const std::string& model, Job job);
    void schedule(Lane& lane);
    void run(Lane& lane);
    void run_jobs(Lane& lane);
    base::Result<engine::Model*> open(Lane& lane);
    void recover(const Lane& lane);
    void submit(Lane& lane);
    void collect_effects(Lane& lane);
    void hand_out(Lane& lane, engine::Effect& effect);
    void prepare(Lane& lane, const engine::Prepare& request);
    void finish_durable(Lane& lane);
    void give_up(Lane& lane, const base::Error& error);
    [[nodiscard]] base::Timestamp time_of(const Lane& lane) const;
    void tell_time(Lane& lane);
    void set_timer(Lane& lane);
    void snapshot(Lane& lane);
    void commit();
    void read_new_records();

    template <class Action>
    void with_board(Action&& action);
    void handle(transitions::BoardEvent& event);
    void report(transitions::Reported& reported);
    void ship(transitions::Answer& answer);
    void trace_sync(transitions::Ticket ticket, const jobs::SyncRequest& request) const;
    void tick();
    [[nodiscard]] transitions::JobBoard::Now now() const {
        return {world_.elapsed(), world_.now()};
    }

    World& world_;
    Disk& disk_;
    Defect defect_;
    bool up_ = false;
    std::uint64_t life_ = 0;
    bool crash_in_append_ = false;
    bool commit_scheduled_ = false;
    std::unique_ptr<engine::Committer> committer_;
    std::unique_ptr<transitions::JobBoard> board_;
    std::map<std::string, std::unique_ptr<Lane>> lanes_;
    std::map<transitions::Ticket, Reply> open_;
    transitions::Ticket last_ticket_ = 0;
};

}  // namespace simulation
