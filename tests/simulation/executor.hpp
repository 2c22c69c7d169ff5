#pragma once

#include "executor/agent.hpp"
#include "tests/simulation/master.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace simulation {

/// An executor's process: the real agent, a runner whose jobs take a random time, a journal that
/// survives, and connections to the master that lose, double, delay and reorder. As
/// executor/daemon.cpp, its threads turned into events.
class Executor {
public:
    Executor(World& world, Master& master, Ledger& ledger, std::string id, std::int64_t slots);

    void start();
    void crash();
    /// SIGSTOP and SIGCONT: the daemon stands still, its jobs do not.
    void pause();
    void resume();
    [[nodiscard]] bool up() const { return up_; }
    [[nodiscard]] const std::string& id() const { return id_; }
    /// Nothing runs and nothing is left to tell.
    [[nodiscard]] bool idle() const { return jobs_.empty() && agent_->held() == 0; }

private:
    struct JobState {
        jobs::Lease lease;
        bool process = false;
        bool over = false;
        bool stopping = false;
        std::uint64_t number = 0;
    };
    struct Kept {
        jobs::LeaseRef ref;
        std::optional<jobs::Outcome> outcome;
    };

    void soon(base::Duration delay, std::move_only_function<void()> what);
    void pump();
    void perform(executor::Actions actions);
    void begin(jobs::Lease lease);
    void set_up(const jobs::LeaseId& lease);
    void run_process(JobState& job);
    void end(const jobs::LeaseId& lease, std::uint64_t number, jobs::Outcome outcome);
    void stop(JobState& job, const executor::StopOrder& order);
    void forget(const jobs::LeaseId& lease);
    void journal_synced() { unsynced_forgotten_.clear(); }

    void send(executor::OutgoingSync out);
    void deliver(std::uint64_t connection, const jobs::SyncRequest& request);
    /// The master learns after a while that nobody waits there any more.
    void close(std::uint64_t connection);
    void answered(std::uint64_t connection, std::uint64_t seq, base::Result<jobs::SyncReply> reply);
    [[nodiscard]] base::Duration travel();

    World& world_;
    Master& master_;
    Ledger& ledger_;
    std::string id_;
    std::int64_t slots_;
    base::Duration boot_;  ///< its clock began elsewhere
    bool up_ = false;
    bool paused_ = false;
    std::uint64_t life_ = 0;
    std::uint64_t numbers_ = 0;
    std::deque<std::move_only_function<void()>> deferred_;
    std::unique_ptr<executor::Agent> agent_;
    std::map<jobs::LeaseId, JobState> jobs_;
    std::map<jobs::LeaseId, Kept> journal_;
    std::map<jobs::LeaseId, Kept> unsynced_forgotten_;
    std::map<std::uint64_t, std::uint64_t> connections_;  ///< seq -> connection
    /// The tickets of a connection, in the life of the master that gave them.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<transitions::Ticket>>> tickets_;
    base::Duration wake_;

    [[nodiscard]] base::Duration clock() const { return world_.elapsed() + boot_; }
};

}  // namespace simulation
