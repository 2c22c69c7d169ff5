#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "engine/log.hpp"
#include "nets/net.hpp"
#include "places/token.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a record says happened. The names (see `name`) are part of the log format for ever.
enum class EventType : std::uint8_t {
    net_deployed,
    net_undeployed,
    tokens_put,
    tokens_removed,
    case_started,
    case_ended,
    case_cancelled,
    fired,
    operation_invoking,
    operation_retrying,
    operation_uncertain,
    operation_finalized,
    operation_failed,
    operation_abandoned,
    operation_cancelled,
    operation_late_result,
    lease_granted,
    lease_ended,
    dead_letter_added,
    dead_letter_redriven,
    dead_letter_dropped,
    timer_set,
    tool_registered,
    tool_changed,
    tool_tamper_detected,
    work_claimed,
    work_extended,
    work_released,
    scheduling_paused,
    scheduling_resumed,
    operation_returned,
    operation_progress,
};

std::string_view name(EventType type);
std::optional<EventType> event_type(std::string_view name);

/// A place by its names: `net` is empty for a shared place.
struct PlaceName {
    std::string net;
    std::string name;
    auto operator<=>(const PlaceName&) const = default;
};

/// A token that the record makes; its id is the record's seq and its position here.
struct NewToken {
    places::PlaceId place = 0;
    base::CaseId case_id;
    base::Timestamp visible_at;  ///< 0 = at once
    places::Payload data;
};

/// One event: what a record holds, with places and transitions already looked up. Everything that a
/// replay needs is in here: the fold evaluates no expression and reads no clock.
struct Event {
    EventType type = EventType::fired;
    std::string actor = "engine";
    /// Canonical JSON, or empty: the request that asked for it, `{"digest","key"}`.
    std::string cause;

    std::uint32_t attempt = 0;
    std::string call;  ///< canonical JSON: what an operation runs
    /// Operations that a reset arc ended: what they hold is reset or free again.
    std::vector<base::OperationId> cancelled;
    base::CaseId case_id;
    boost::container::small_vector<base::TokenId, 4> consumed;
    std::string effect;         ///< of the tool: pure | idempotent | once
    std::string error;          ///< canonical JSON, or empty
    std::string executor;       ///< of a lease; of a claim the agent
    std::uint64_t fencing = 0;  ///< of a lease or a late result
    /// Canonical JSON of what is particular to the type, or empty.
    std::string info;
    std::string lease;
    std::string net;
    base::Timestamp next;  ///< retry or timer due, or a claim's end
    base::OperationId operation;
    boost::container::small_vector<NewToken, 4> produced;
    /// Tokens that were read, not taken: for provenance.
    boost::container::small_vector<base::TokenId, 2> read;
    /// Of an operation: the tokens it holds, one list an input arc.
    std::vector<std::vector<base::TokenId>> reserved;
    /// Tokens that reset arcs took away.
    std::vector<base::TokenId> reset;
    std::string tool_id;
    std::string transition;
    /// Canonical JSON, alias -> data: what an operation's read arcs saw. Or empty.
    std::string values;
    std::string version_hash;
    /// The deployment (its record) whose rules this firing or case follows.
    Seq deployment = 0;

    /// Of `net.deployed`, when it is at hand already; else the fold compiles `info`'s document.
    std::shared_ptr<const nets::Net> compiled;  // shared: it becomes the deployment's
};

/// Who wrote a record and where it stands.
struct RecordHead {
    Seq seq = 0;
    base::Timestamp ts;
    Epoch epoch = 0;
};

}  // namespace engine
