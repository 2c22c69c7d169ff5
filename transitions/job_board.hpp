#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "jobs/sync.hpp"
#include "transitions/lease_seal.hpp"
#include "transitions/refusals.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace transitions {

/// An attempt that waits for, or has, an executor. `job` carries no content: that is read when the
/// lease ships.
struct Task {
    std::uint32_t epoch = 0;  ///< of the model; fencing numbers begin with it
    jobs::Job job;
    std::string reply;  ///< the shape that its result takes: `call` or `command`
    Refusals refusals = {};
    /// Recovered: of the newest lease of the operation that the log knows; 0 = none. No older one
    /// is in force.
    jobs::Fencing fencing = 0;
    [[nodiscard]] std::pair<std::string, base::AttemptId> key() const {
        return {job.model, job.attempt};
    }
};

/// What the board wants known. `Granted` and `Ended` are recorded, nobody waits for them.
struct Granted {
    jobs::LeaseRef ref;
    std::string executor;
};
struct Ended {
    jobs::LeaseRef ref;
    std::string executor;
    std::string reason;
};
/// A result came. Once it is settled, say so with `JobBoard::settled`. `stale`: the lease was not
/// in force any more, so it may only be kept as evidence.
struct Reported {
    jobs::LeaseRef ref;
    std::string executor;
    jobs::Outcome outcome;
    std::string reply;  ///< as Task::reply
    bool stale = false;
};
/// What a running attempt says of its progress, at most every `progress_interval`.
struct Progressed {
    jobs::LeaseRef ref;
    std::string executor;
    jobs::Progress progress;
};
/// Which report a verdict is about: a result, or evidence (`stale`), which never touches a lease.
struct ReportedLease {
    jobs::LeaseId lease;
    std::string executor;
    bool stale = false;
};
/// Nobody will ever say how the attempt ended.
struct Lost {
    std::string model;
    base::AttemptId attempt;
    std::string reason;
};
/// The executors that may hold leases changed: to be kept, so that a restart knows whom to ask.
struct ExecutorsChanged {};
using BoardEvent = std::variant<Granted, Ended, Reported, Progressed, Lost, ExecutorsChanged>;

/// Names an open sync; given by whoever holds the connection.
using Ticket = std::uint64_t;
struct Answer {
    Ticket ticket = 0;
    jobs::SyncReply reply;
};

struct BoardOptions {
    std::string master;     ///< names this run of the master
    std::string lease_key;  ///< the same in every run: see LeaseSeal
    base::Duration lease = base::seconds(30);
    base::Duration silence_max = base::seconds(2);
};

struct ExecutorView {
    std::string id;
    std::string state;  ///< connected | silent (for over `silence_max`) | draining
    jobs::Introduction introduction;
    std::vector<jobs::LeaseRef> leases;
    base::Timestamp last_seen;
};

/// The master's side of jobs and leases: which attempt waits, which executor holds which, until
/// when, under which fencing number. Pure: it remembers no time, so whatever can grant, answer or
/// end a lease is told what time it is; what is to be done goes out by `take_events` and
/// `take_answers`. One strand or lock. See jobs/sync.hpp for the protocol.
class JobBoard {
public:
    explicit JobBoard(BoardOptions options)
        : options_(std::move(options)), seal_(options_.lease_key) {}

    struct Now {
        base::Duration elapsed;  ///< for leases
        base::Timestamp wall;    ///< for people
    };

    /// Executors that may hold leases of an earlier life of the master; before the first `recover`.
    void expect(std::set<std::string> executors) { expected_ = std::move(executors); }
    [[nodiscard]] std::set<std::string> executors() const;

    /// The model was opened anew: all that is known of its attempts is void, and those under way
    /// are about to be recovered.
    void forget(std::string_view model);
    void offer(Task task, const Now& now);
    /// An attempt of an earlier life (of the master, or of the model that failed and was opened
    /// again): whoever reports it, under a lease that proves itself, keeps it; when all expected
    /// executors have come back and none knows it, it is offered (a `once` attempt whose lease is
    /// in the log is lost); after one lease time it is lost. A loss that was told before and could
    /// not be recorded is told again.
    void recover(Task task, const Now& now);
    /// Nobody wants the attempt any more: its lease is cancelled, its result refused.
    void withdraw(std::string_view model, base::OperationId operation, const Now& now);

    /// `fenced` when the session was ended by a newer one. Else the answer comes by `take_answers`,
    /// now or later.
    base::Result<void> sync(
        std::string_view executor, Ticket ticket, jobs::SyncRequest request, const Now& now
    );
    /// The connection of an open sync closed before its answer.
    void closed(Ticket ticket, const Now& now);
    void settled(const ReportedLease& report, jobs::Verdict verdict, const Now& now);
    /// The result could not be taken now: it is as if it had not been sent.
    void unreported(const ReportedLease& report);
    /// The executor gets no more work and is told to stop when what it holds is done; until it
    /// begins a new session. `not_found` when it was never seen.
    base::Result<void> drain(std::string_view executor, const Now& now);
    /// The executor has a new key, so its memory of the leases it held is gone: they are lost.
    void renewed(std::string_view executor, const Now& now);
    /// The loss of an attempt is durable, or it is not (the model failed, and will be recovered).
    /// Until it is, an executor that told of it gets no answer, so that it does not forget it.
    void loss_settled(
        const std::string& model, base::AttemptId attempt, bool durable, const Now& now
    );
    /// Content that a grant needs could not be read: the lease ends before it ships.
    void unshippable(const jobs::LeaseId& lease, const base::Error& error);

    /// What is due by time alone. Call it at `next_due`, or more often.
    void tick(const Now& now);
    [[nodiscard]] std::optional<base::Duration> next_due(const Now& now) const;
    /// Answers every open sync: the master stops.
    void answer_all(const Now& now);

    std::vector<BoardEvent> take_events() { return std::exchange(events_, {}); }
    std::vector<Answer> take_answers() { return std::exchange(answers_, {}); }

    /// The lease is in force and its executor is this one; `fenced` otherwise.
    [[nodiscard]] base::Result<jobs::LeaseRef> in_force(
        std::string_view executor, const jobs::LeaseId& lease, jobs::Fencing fencing
    ) const;
    [[nodiscard]] const jobs::Job* job_of(const jobs::LeaseId& lease) const;
    [[nodiscard]] std::vector<ExecutorView> view(const Now& now) const;
    /// Why the attempt waits; empty when an executor that is not silent has it (then `holder` names
    /// it), or it is unknown.
    [[nodiscard]] std::string why_waiting(
        const std::string& model, base::AttemptId attempt, const Now& now
    ) const;
    [[nodiscard]] std::string holder(const std::string& model, base::AttemptId attempt) const;
    [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
    [[nodiscard]] std::size_t leased() const { return leases_.size(); }

private:
    using Key = std::pair<std::string, base::AttemptId>;
    struct LeaseState {
        jobs::LeaseRef ref;
        Task task;
        std::string executor;
        std::uint64_t granted_seq = 0;  ///< of the sync whose answer carried it; 0 = adopted
        base::Duration expires;
        bool received = false;  ///< its executor has it: named it, or acknowledged the answer
        bool ran = false;       ///< its executor said that it runs
        bool reported = false;
        std::optional<jobs::Progress> progress;
        base::Duration progress_at;
        base::Digest digest;
    };
    struct Open {
        Ticket ticket = 0;
        base::Duration arrived;
        base::Duration deadline;
        std::int64_t capacity = 0;
        bool draining = false;
    };
    struct Session {
        std::uint64_t number = 0;  ///< 0: none yet
        bool introduced = false;
        jobs::Introduction introduction;
        std::uint64_t highest_seq = 0;
        std::map<std::uint64_t, Open> open;
        std::map<std::uint64_t, jobs::SyncReply> replies;
        std::map<jobs::LeaseId, jobs::Verdict> drops;
        std::set<jobs::LeaseId> fenced;              ///< it still runs these, and must not
        std::set<jobs::LeaseId> told;                ///< of these, what it has been told
        std::optional<base::Duration> silent_since;  ///< its connection closed
        std::optional<base::Duration> quiet_since;   ///< it has no sync open
        base::Timestamp last_seen;
        bool draining = false;
        bool drain = false;  ///< it is to drain
        bool drain_told = false;
        std::uint64_t answered_from = 0;  ///< the first one that this master answered
        bool heard = false;               ///< it told all that it has, no answer under way
        std::set<Key> lost;               ///< it says that it lost these
        /// Results not in force that are being recorded.
        std::map<jobs::LeaseId, std::pair<jobs::LeaseRef, base::Digest>> evidence;
    };

    // job_board_sync.cpp
    Session* session_of(std::string_view executor, const jobs::SyncRequest& request);
    void take_done(
        const std::string& executor, Session& session, jobs::Done done, base::Duration now
    );
    void take_lost(const std::string& executor, const jobs::LeaseRef& ref, base::Duration now);
    /// True when the attempt is offered again.
    bool take_back(
        const std::string& executor, LeaseState& lease, const jobs::Done& done, base::Duration now
    );
    struct ProgressAt {
        const jobs::Progress& progress;
        base::Duration now;
        bool last = false;  ///< the attempt is over
    };
    void note_progress(const std::string& executor, LeaseState& lease, const ProgressAt& told);
    [[nodiscard]] bool silent(const Session& session, base::Duration now) const;
    void take_evidence(const std::string& executor, Session& session, jobs::Done done);
    void take_running(
        const std::string& executor,
        Session& session,
        const jobs::SyncRequest& request,
        base::Duration arrived
    );
    /// Of the executor's free slots, how many this request leaves when the leases are counted that
    /// answers still under way to it bring.
    [[nodiscard]] std::int64_t room(const Session& session, const jobs::SyncRequest& request) const;
    void forget_unknown(const std::string& executor, const jobs::SyncRequest& request, bool first);
    [[nodiscard]] bool losing(const Session& session) const;
    void tell_lost(const Key& key, const std::string& reason);
    void adopt(const std::string& executor, const jobs::LeaseRef& ref, base::Duration now);
    void came_back(const std::string& executor);
    void answer_where_possible(base::Duration now);
    bool answer(const std::string& executor, Session& session, base::Duration now, bool must);
    void grant(
        const std::string& executor,
        Session& session,
        std::uint64_t seq,
        jobs::SyncReply& reply,
        base::Duration now
    );
    void reply_to(Session& session, std::uint64_t seq, jobs::SyncReply reply, base::Duration now);

    void end_lease(const jobs::LeaseId& lease, const std::string& reason);
    void lose(const jobs::LeaseId& lease, const std::string& reason);
    void offer_again(const jobs::LeaseId& lease, const std::string& reason);
    void remember_settled(const jobs::LeaseRef& ref, const base::Digest& digest);
    void remember_ended(const jobs::LeaseRef& ref, const std::string& executor);

    BoardOptions options_;
    LeaseSeal seal_;
    std::uint32_t counter_ = 0;
    std::deque<Task> queue_;
    std::map<jobs::LeaseId, LeaseState> leases_;
    std::map<Key, jobs::LeaseId> by_attempt_;
    struct Unsettled {
        Task task;
        base::Duration until;
    };
    std::map<Key, Unsettled> unsettled_;
    /// Told as `Lost`, not yet durable.
    struct Loss {
        std::string reason;
        bool refused = false;  ///< could not be recorded: told again when the model is recovered
    };
    std::map<Key, Loss> losing_;
    std::map<jobs::LeaseId, std::pair<jobs::LeaseRef, base::Digest>> settled_;  ///< newest results
    std::deque<jobs::LeaseId> settled_order_;
    std::map<std::string, Session, std::less<>> sessions_;  ///< by executor
    std::set<std::string> expected_;
    std::set<base::Duration> holds_end_;  ///< executors that refused a task may be asked again
    std::vector<BoardEvent> events_;
    std::vector<Answer> answers_;
};

}  // namespace transitions
