#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "jobs/capabilities.hpp"
#include "jobs/lease.hpp"
#include "jobs/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The one call by which an executor and the master agree. The executor says what is, the master
/// answers what should be.
///
/// Order. A session is one run of the executor's process. Its number grows from run to run of one
/// executor, so that a request of a dead run that was under way for long is known for what it is,
/// also by a master that restarted in between. Its syncs are
/// numbered 1, 2, 3, ... and at most `open_syncs_max` are open (sent and not answered) at a time,
/// on connections of their own. A sync that fails is sent again with the same number and the same
/// body, after the earlier connection was closed, until it is answered: none is given up. The
/// master keeps the answers of the numbers above `answered` and gives the same answer to the same
/// (session, seq); if the first request is still open, the second takes its place.
///
/// A sync is answered as soon as the master has something to say (leases, cancel, drop), at the
/// latest after `wait`, and at once when a sync with a higher number of the same session arrives:
/// that is how a finished job is told at once although a poll is open. A sync that arrives after
/// one with a higher number: `done` and `lost` count as ever, the rest of it is out of date and is
/// ignored, and it is answered at once, without leases.
///
/// The next sync but the first is sent only when the first one of the session was answered.
///
/// Capacity. `capacity` is how the executor sees it with the answers up to `answered`: leases that
/// the master granted in later answers count against it.
///
/// What is in force. `running` lists every lease that the executor holds and has not finished;
/// `done` and `lost` end one. A lease granted in the answer to seq s that is in none of the three
/// counts as unknown to the executor only in a request with `answered` >= s and `answered` == `seq`
/// - 1 (no other answer under way). The first sync of a session tells all that is left of earlier
/// ones: a lease of theirs that it does not name was never started, since the executor writes down
/// a lease (durably, unless the job is pure or builtin) before it starts it. A new session of the
/// same executor ends the one before, whose syncs are from then on refused with 409 `fenced`.
///
/// Time. A grant runs from the moment the master wrote it into an answer, and every sync that lists
/// the lease in `running` renews it from the moment it first arrived. The executor counts from
/// earlier moments: a grant from (first sent + `held`), a renewal from (first sent). It stops a job
/// by itself before its count is over.
///
/// Results. `done` may be sent any number of times; the same digest again is the same result. A
/// result is deleted on the executor only when `drop` names it. An executor sends a result again
/// when it was answered but not dropped for a while, or when `master` in the answer has changed.
namespace jobs {

inline constexpr std::int64_t session_max = std::int64_t{1} << 53U;
inline constexpr std::size_t open_syncs_max = 2;
inline constexpr std::size_t leases_held_max = 4096;
inline constexpr std::size_t labels_max = 64;
/// Neither body is longer: what does not fit goes with the next sync.
inline constexpr std::size_t sync_body_bytes_max = std::size_t{32} << 20U;
/// A sender stops adding leases or results beyond this, so that the limit above holds.
inline constexpr std::size_t sync_body_bytes_aim = std::size_t{8} << 20U;
/// Short, although an answer comes at once when there is work: an executor that asks no more is
/// then known to be silent within three seconds, wherever it stopped.
inline constexpr base::Duration sync_wait_max = base::seconds(1);

enum class Phase : std::uint8_t { preparing, running, stopping, collecting };
std::string_view name(Phase phase);
std::optional<Phase> phase(std::string_view name);

struct Running {
    LeaseRef ref;
    Phase phase = Phase::preparing;
    Usage usage;
    std::optional<Progress> progress;  ///< the newest `::progress 40 message` of stderr
    bool operator==(const Running&) const = default;
};

struct Done {
    LeaseRef ref;
    Outcome outcome;
    bool operator==(const Done&) const = default;
};

/// Told in the first sync of a session; a master that does not have it (restart) asks again with
/// `SyncReply::introduce`.
struct Introduction {
    std::int64_t slots = 1;  ///< in all, busy or not
    std::map<std::string, std::string> labels;
    Capabilities capabilities;
    bool operator==(const Introduction&) const = default;
};

struct SyncRequest {
    std::uint64_t session = 0;   ///< 1 to `session_max`
    std::uint64_t seq = 0;       ///< from 1
    std::uint64_t answered = 0;  ///< every sync up to this one has been answered and applied
    std::int64_t capacity = 0;   ///< so many more leases may be granted in the answer
    base::Duration wait;         ///< the answer may be held back so long; at most `sync_wait_max`
    bool draining = false;       ///< the executor is stopping: no new leases, whatever `capacity`
    std::optional<Introduction> introduction;
    std::vector<Running> running;
    std::vector<Done> done;
    std::vector<LeaseRef> lost;  ///< may have been started, and will never have a result
    bool operator==(const SyncRequest&) const = default;
};

/// What became of a result.
enum class Verdict : std::uint8_t {
    applied,    ///< durable and in force
    duplicate,  ///< was applied before (same digest)
    fenced,     ///< the lease was not in force any more: kept as evidence
    conflict,   ///< another result (other digest) was applied before
    unknown,    ///< no such lease, model or operation
};
std::string_view name(Verdict verdict);
std::optional<Verdict> verdict(std::string_view name);

/// The result is the master's now (or nobody's): the executor deletes its copy.
struct Drop {
    LeaseId lease;
    Verdict verdict = Verdict::applied;
    bool operator==(const Drop&) const = default;
};

enum class CancelReason : std::uint8_t {
    requested,  ///< somebody wants it to stop: TERM, grace, KILL, then `done` with `cancelled`
    fenced,     ///< the lease is in force no more: the same, and the result is only evidence
};
std::string_view name(CancelReason reason);
std::optional<CancelReason> cancel_reason(std::string_view name);

/// Repeated in every answer until the lease is gone from `running`.
struct Cancel {
    LeaseId lease;
    CancelReason reason = CancelReason::requested;
    bool operator==(const Cancel&) const = default;
};

/// A lease that this reader does not understand, although it can tell which it is.
struct RefusedLease {
    LeaseRef ref;
    std::string why;
    bool operator==(const RefusedLease&) const = default;
};

struct SyncReply {
    std::string master;        ///< names the run of the master's process; changes when it restarts
    std::uint64_t seq = 0;     ///< of the request
    base::Duration held;       ///< how long the request was held before this answer was written
    bool introduce = false;    ///< the next sync must carry an introduction; no leases before
    bool drain = false;        ///< take no more: finish what runs, then stop
    base::Duration next_sync;  ///< no sync without news (done, lost) for so long; 0 = at once
    std::vector<Lease> leases;
    std::vector<Cancel> cancel;
    std::vector<Drop> drop;
    std::vector<RefusedLease> refused;  ///< never sent: `leases` that could not be read
    bool operator==(const SyncReply&) const = default;
};

base::Json to_json(const SyncRequest& request);
base::Json to_json(const SyncReply& reply);
base::Result<SyncRequest> sync_request_from_json(const base::Json& json);
base::Result<SyncReply> sync_reply_from_json(const base::Json& json);

}  // namespace jobs
