#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "executor/agent.hpp"
#include "executor/job_control.hpp"
#include "executor/job_runner.hpp"
#include "executor/journal.hpp"
#include "executor/slot.hpp"
#include "executor/transport.hpp"
#include "executor/uploader.hpp"
#include "http/stop.hpp"
#include "jobs/lease.hpp"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace executor {

struct DaemonOptions {
    AgentOptions agent;
    /// After a stop: so long may running jobs go on before they are stopped.
    base::Duration drain = base::seconds(30);
    /// ... and so long are their results offered to a master that does not answer.
    base::Duration farewell = base::seconds(5);
    /// So long does one that has nothing to tell wait for the answer to its goodbye.
    base::Duration goodbye = base::milliseconds(500);
};

/// The thin shell around `Agent`: two threads that sync, one thread a busy slot, and the caller's,
/// which keeps the time. Everything it learns goes through the agent, under one mutex.
class Daemon {
public:
    struct Parts {
        Transport& transport;
        JobRunner& runner;
        Journal& journal;
        const base::Clock& clock;
    };
    Daemon(DaemonOptions options, const Parts& parts);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// Until `stop` is raised, the master has it drained, or it is refused for good (an error; see
    /// Agent::ended).
    base::Result<void> run(const http::StopSignal& stop);

private:
    struct ActiveJob {
        std::shared_ptr<JobControl> control;  // shared with the slot's thread, which may be last
        std::int64_t slot = 0;
    };
    using Lock = std::unique_lock<std::mutex>;

    base::Result<void> connect();
    void deliver_left_over();
    void keep_time();
    void sync_loop(std::size_t index);
    void sync_once(Lock& lock, Connection& connection, const OutgoingSync& out);
    void perform(Lock& lock, Actions actions);
    void start(jobs::Lease lease);
    void watch_health();
    void tell_capabilities();
    void run_job(const jobs::Lease& lease, std::int64_t slot, JobControl& control);
    void deliver(const jobs::LeaseRef& ref, FinishedJob& finished, std::size_t connection);
    void stop_all(StopReason reason);
    void forget(const std::vector<ForgetLease>& forgotten);
    void note_failure(const base::Error& error);
    [[nodiscard]] bool pause(int repetition);
    [[nodiscard]] bool stop_step(base::Duration now);
    void finish();

    DaemonOptions options_;
    Parts parts_;
    Journal::Left left_;
    // A plain mutex and condition: waits have deadlines that depend on the agent.
    std::mutex mutex_;
    std::condition_variable changed_;
    Agent agent_;  // under mutex_, as all that follows
    std::map<jobs::LeaseId, ActiveJob> active_;
    std::vector<std::int64_t> free_slots_;
    std::set<jobs::LeaseId> kept_;  // something of it may be on disk
    std::optional<base::Duration> stopping_since_;
    jobs::Capabilities told_;                   ///< the capabilities that the agent tells
    std::optional<base::Duration> over_since_;  ///< no job runs
    bool jobs_stopped_ = false;
    bool finished_ = false;
    std::string last_failure_;
    // Two that sync, one that delivers what is left over, one a slot.
    std::vector<std::unique_ptr<Connection>> connections_;
    std::array<std::thread, jobs::open_syncs_max> sync_threads_;
    std::thread health_thread_;  ///< looks whether the machine still gives what jobs need
    std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace executor
