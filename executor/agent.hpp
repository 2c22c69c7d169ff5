#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "executor/job_control.hpp"
#include "jobs/lease.hpp"
#include "jobs/outcome.hpp"
#include "jobs/sync.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace executor {

struct AgentOptions {
    std::uint64_t session = 1;  ///< greater than that of any earlier run of this executor
    jobs::Introduction introduction;
    std::uint64_t seed = 1;  ///< of the jitter
    base::Duration stop_grace = base::seconds(2);
    base::Duration resend = base::seconds(5);  ///< of a result that was answered and not dropped
    base::Duration backoff_min = base::milliseconds(100);
    base::Duration backoff_max = base::seconds(5);
};

/// What an earlier run of this executor left.
struct LeftOver {
    std::vector<jobs::Done> done;         ///< finished, not dropped
    std::vector<jobs::LeaseRef> pending;  ///< finished; its `finished` call comes (upload first)
    std::vector<jobs::LeaseRef> lost;     ///< started, no result
};

struct StartJob {
    jobs::Lease lease;
};
struct StopJob {
    jobs::LeaseId lease;
    StopOrder order;
};
/// Nothing about this lease needs to be kept on disk any more.
struct ForgetLease {
    jobs::LeaseId lease;
    std::optional<jobs::Verdict> verdict;  ///< of its result; none when it was reported lost
};
using Action = std::variant<StartJob, StopJob, ForgetLease>;
using Actions = std::vector<Action>;

/// A sync to send now.
struct OutgoingSync {
    /// Shared: it is written to a connection while the agent keeps it for a repetition.
    std::shared_ptr<const jobs::SyncRequest> request;
    base::Duration timeout;  ///< give up and call `failed` after this
};

struct SyncFailure {
    base::Error error;
    std::optional<base::Duration> retry_after;  ///< as the master said
};

/// The executor's side of the protocol in jobs/sync.hpp, as a pure state machine: time and
/// everything that happens are given to it, what shall be done is given back. `now` is
/// CLOCK_BOOTTIME and never goes back. One strand.
class Agent {
public:
    Agent(AgentOptions options, LeftOver left_over);

    // What happens.
    [[nodiscard]] Actions replied(std::uint64_t seq, jobs::SyncReply reply, base::Duration now);
    void failed(std::uint64_t seq, const SyncFailure& failure, base::Duration now);
    /// The job is over and its result is safe (on disk, or not worth it).
    void finished(const jobs::LeaseId& lease, jobs::Outcome outcome);
    /// How a running job is doing; told with the next sync.
    void show(const jobs::LeaseId& lease, const JobView& view);
    /// What the executor can do changed: told at once.
    void introduce(jobs::Introduction introduction);
    /// Take no new leases.
    void drain() { draining_ = true; }
    /// Jobs whose lease runs out before it could be renewed must stop.
    [[nodiscard]] Actions tick(base::Duration now);

    // What shall be done.
    /// Ask again after each event and at `wake_at`, until there is none.
    [[nodiscard]] std::optional<OutgoingSync> next_sync(base::Duration now);
    /// When `tick` and `next_sync` must be called next if nothing happens.
    [[nodiscard]] base::Duration wake_at(base::Duration now) const;

    [[nodiscard]] std::size_t held() const { return held_.size(); }
    [[nodiscard]] bool draining() const { return draining_; }
    /// Nothing runs, and nothing is left to be told.
    [[nodiscard]] bool idle() const;
    /// Draining, and everything is told and acknowledged.
    [[nodiscard]] bool drained() const;
    /// Why this session is over for good, if it is: another run of this executor has begun, or the
    /// master does not take it for who it says it is.
    [[nodiscard]] const std::optional<base::Error>& ended() const { return ended_; }

private:
    struct Open {
        std::shared_ptr<const jobs::SyncRequest> request;
        base::Duration first_sent;
        bool in_flight = true;
        base::Duration retry_at;
        int failures = 0;
        std::uint64_t introduction = 0;  ///< its number, when it carries one
    };
    struct Held {
        jobs::LeaseRef ref;
        base::Duration ttl;
        std::optional<base::Duration> deadline;  ///< none: finished in an earlier run
        bool stopping = false;
        JobView view;
        std::optional<jobs::Progress> progress_told;
        base::Duration progress_told_at;
    };
    struct Result {
        jobs::Done done;
        std::size_t bytes = 0;      ///< about, in a sync's body
        std::uint64_t sent_in = 0;  ///< 0 = not since the master last changed
        std::optional<base::Duration> answered_at;
    };

    [[nodiscard]] std::uint64_t answered() const;
    [[nodiscard]] bool due(const Result& result, base::Duration now) const;
    [[nodiscard]] bool news(base::Duration now) const;
    /// The newest introduction has not been told, and is not being told.
    [[nodiscard]] bool must_introduce() const;
    [[nodiscard]] bool progress_due(base::Duration now) const;
    [[nodiscard]] std::optional<base::Duration> shortest_remaining(base::Duration now) const;
    [[nodiscard]] OutgoingSync outgoing(const Open& open, base::Duration now) const;
    [[nodiscard]] base::Duration backoff(int failures, base::Duration now);
    OutgoingSync send_new(base::Duration now);
    void fill(jobs::SyncRequest& request, base::Duration now);

    void renew(const Open& open);
    void note_master(const std::string& master);
    void note_answered(const Open& open, base::Duration now, Actions& actions);
    void apply_drops(const std::vector<jobs::Drop>& drops, Actions& actions);
    void apply_cancels(const std::vector<jobs::Cancel>& cancels, Actions& actions);
    void take(jobs::Lease lease, base::Duration granted, base::Duration now, Actions& actions);
    void pace(const Open& open, const jobs::SyncReply& reply, base::Duration now);
    void refuse(jobs::RefusedLease refused);
    void give_back(const jobs::LeaseRef& ref, std::string why);

    AgentOptions options_;
    std::uint64_t next_seq_ = 1;
    std::map<std::uint64_t, Open> open_;
    std::map<jobs::LeaseId, Held> held_;
    std::map<jobs::LeaseId, Result> results_;
    std::vector<jobs::LeaseRef> lost_;
    std::string master_;
    std::uint64_t introduction_ = 1;       ///< the number of the one in `options_`
    std::uint64_t introduction_told_ = 0;  ///< the last one that the master has; 0 = none
    bool draining_ = false;
    bool draining_told_ = false;
    base::Duration not_before_;
    int quick_answers_ = 0;
    std::uint64_t random_;
    std::optional<base::Error> ended_;
};

}  // namespace executor
