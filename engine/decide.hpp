#pragma once

#include "base/json.hpp"
#include "engine/model.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The decisions: each looks at the model, refuses or writes events. Errors leave the model as it
/// was. The caller pumps afterwards.
namespace engine {

/// The record that answered this request before, if the key is known: not a new decision is due.
/// `conflict` when the key was used for something else.
base::Result<std::optional<Seq>> answered(const Model& model, const Asker& asker);

struct DeployOptions {
    bool forced = false;  ///< recorded: who deployed although the check found errors
};
struct Deployed {
    Seq seq = 0;
    bool changed = false;  ///< false: this very document was the current version already
};
/// Compiled by the caller, off the strand.
base::Result<Deployed> deploy(
    Model& model,
    std::shared_ptr<const nets::Net> net,
    const DeployOptions& options,
    const Asker& asker
);
/// Refused while its places hold tokens or firings are in flight.
base::Result<Seq> undeploy(Model& model, std::string_view net, const Asker& asker);

struct PutToken {
    std::string data;  ///< canonical JSON
    base::CaseId case_id;
};
/// All or none. The ids are t<seq>-0, t<seq>-1, ...
base::Result<Seq> put_tokens(
    Model& model, const PlaceName& place, std::vector<PutToken> tokens, const Asker& asker
);
base::Result<Seq> remove_token(Model& model, base::TokenId token, const Asker& asker);

/// `input` is canonical JSON. The case's id is c<seq>.
base::Result<Seq> start_case(
    Model& model, std::string_view net, std::string input, const Asker& asker
);
base::Result<Seq> cancel_case(Model& model, base::CaseId case_id, const Asker& asker);
base::Error case_is_over(base::CaseId case_id, CaseState state);

base::Result<Seq> redrive(Model& model, base::TokenId dead_letter, const Asker& asker);
base::Result<Seq> drop(Model& model, base::TokenId dead_letter, const Asker& asker);

/// The claim's preparation came back. Nothing happens when the claim is gone.
void prepared(Model& model, ClaimId claim, base::Result<Prepared> result, const Asker& asker);

enum class Settled : std::uint8_t {
    applied,
    late,     ///< kept as evidence, changed nothing
    unknown,  ///< no such operation was ever begun
};
Settled settle(Model& model, Outcome outcome, const Asker& asker);

/// An operator ends an operation whose outcome nobody knows, or that waits for room; its tokens go
/// the `fail` way, or where that has no room either to the dead letters. Without a case also one
/// whose attempt runs or is to come, which nothing else would end; else `conflict` for those.
base::Result<Seq> abandon(
    Model& model, base::OperationId operation, std::string_view reason, const Asker& asker
);

/// The place that has no room for what a returned operation makes. May run expressions.
std::optional<places::PlaceId> waits_for_room(const Model& model, const Operation& operation);

// Work packets of `agent` transitions. They wait for ever (or until the transition's `timeout`); a
// claim that runs out makes its packet available again.

/// The right to work on a packet, for a while.
struct WorkHold {
    base::OperationId operation;
    std::string claim;  ///< names the claim: a later one has another
};
struct WorkRequest {
    std::string agent;            ///< who claims
    base::OperationId operation;  ///< this packet; none = the oldest that fits
    std::string skill;            ///< only packets of this skill; empty = any
    base::Duration length = base::seconds(60);
};
/// True when an agent may claim it.
bool work_available(const Operation& operation);
/// Without an operation when no packet fits. `conflict` when the one asked for is claimed.
base::Result<WorkHold> claim_work(Model& model, const WorkRequest& request, const Asker& asker);

struct WorkProgress {
    base::Duration length = base::seconds(60);  ///< from now on
    std::uint64_t steps = 0;  ///< taken so far; over the packet's maximum it fails with `limit`
    std::string note;
};
/// These are `fenced` when the claim is not in force.
base::Result<Seq> extend_work(
    Model& model, const WorkHold& hold, const WorkProgress& progress, const Asker& asker
);
base::Result<Seq> release_work(
    Model& model, const WorkHold& hold, std::string_view reason, const Asker& asker
);
struct WorkResult {
    std::string result;  ///< canonical JSON
    std::optional<base::Error> error;
    std::uint64_t steps = 0;
};
base::Result<Seq> finish_work(
    Model& model, const WorkHold& hold, WorkResult result, const Asker& asker
);

/// `not_found` for one that no version in force has.
base::Result<TransitionId> transition_in_force(
    const State& state, std::string_view net, std::string_view transition
);

/// Holds back new firings of a transition, of a net (no transition) or of the model (neither);
/// firings in flight go on, timers pass their turns over. Nothing is written when it is so already.
base::Result<Seq> pause(
    Model& model, std::string_view net, std::string_view transition, const Asker& asker
);
base::Result<Seq> resume(
    Model& model, std::string_view net, std::string_view transition, const Asker& asker
);
/// One firing of a transition, paused or not. `conflict` when it is not enabled.
base::Result<Seq> fire_once(
    Model& model, std::string_view net, std::string_view transition, const Asker& asker
);

/// What the next firing of a transition would do. Nothing is changed.
struct DryRun {
    Binding binding;
    std::optional<Event> event;           ///< of a firing without effect: what it would write
    std::string input;                    ///< of one with an effect: what it would be given
    std::optional<base::Error> error;     ///< why that input cannot be made
    std::optional<places::PlaceId> full;  ///< the place that has no room
    std::vector<places::Slot> resets;     ///< tokens that its reset arcs would take
};
/// `conflict` when it is not enabled.
base::Result<DryRun> dry_run(
    const Model& model, std::string_view net, std::string_view transition, base::Timestamp now
);

/// A lease began; appended with the next batch, waited for by nobody.
struct LeaseGrant {
    base::OperationId operation;
    std::uint32_t attempt = 1;
    std::uint64_t fencing = 0;
    std::string lease;
    std::string executor;
};
void lease_granted(Model& model, const LeaseGrant& grant, const Asker& asker);
void lease_ended(
    Model& model, const LeaseGrant& grant, std::string_view reason, const Asker& asker
);

/// How far an attempt says that it is. Nothing happens when it is not the one under way.
struct ProgressNote {
    base::OperationId operation;
    std::uint32_t attempt = 1;
    std::string executor;
    std::int64_t percent = 0;
    std::string message;
};
void progressed(Model& model, const ProgressNote& note, const Asker& asker);

/// A change that somebody above the engine decided: tokens of shared places are taken and put in
/// one record of type `tool.*`.
struct Change {
    EventType type = EventType::tool_registered;
    std::vector<base::TokenId> consumed;
    std::vector<std::pair<std::string, std::string>> produced;  ///< shared place, canonical JSON
    std::string info;                                           ///< canonical JSON, or empty
};
Seq write(Model& model, const Change& change, const Asker& asker);

/// `{"code","message",...}` as records and expressions have it.
/// `details` and `usage` (of an attempt that ran) are canonical JSON, or empty.
std::string error_json(
    const base::Error& error,
    std::uint32_t attempt,
    std::string_view details,
    std::string_view usage = {}
);

}  // namespace engine
