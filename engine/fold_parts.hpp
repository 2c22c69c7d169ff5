#pragma once

#include "engine/state.hpp"

#include <memory>

/// The parts of the fold, one file a subject. Only `apply` (engine/state.hpp) calls them.
namespace engine {

/// What may arrive in the places of the deployment and how they keep it, by the nets that are
/// deployed now. Derived: after a deployment changed, and after a snapshot was read.
void settle_places(State& state, const Deployment& deployment);

/// The case goes on under this version of its net: its end places count.
void adopt_case(State& state, Case& value, const std::shared_ptr<const Deployment>& made);

/// The operation came to be, or changed: if agents wait for it, they find it by what it is now.
void index_work(State& state, const Operation& operation);
void forget_work(State& state, const Operation& operation);
base::Result<void> apply_work(State& state, const Event& event);
base::Result<void> apply_pause(State& state, const Event& event, const RecordHead& head);

/// A token came (+1) or went (-1): keeps the counts of its case and of the dead letters.
void count_token(State& state, const places::Token& token, int direction);

// fold_nets.cpp
base::Result<void> apply_deployed(State& state, const Event& event, const RecordHead& head);
base::Result<void> apply_undeployed(State& state, const Event& event);

// fold_cases.cpp
base::Result<void> apply_case_started(State& state, const Event& event, const RecordHead& head);
base::Result<void> apply_case_over(State& state, const Event& event, const RecordHead& head);
base::Result<void> apply_redriven(State& state, const Event& event);
base::Result<void> apply_fired(State& state, const Event& event);

// fold_operations.cpp
base::Result<void> apply_invoking(State& state, const Event& event, const RecordHead& head);
base::Result<void> apply_held_up(State& state, const Event& event);
base::Result<void> apply_returned(State& state, const Event& event, const RecordHead& head);
base::Result<void> apply_over(State& state, const Event& event, const RecordHead& head);
/// The operations that the record's reset arcs ended; what they held and was not reset is free.
base::Result<void> apply_reset(State& state, const Event& event);
base::Result<void> apply_late_result(State& state, const Event& event, const RecordHead& head);
base::Result<void> apply_progress(State& state, const Event& event);
base::Result<void> apply_lease(State& state, const Event& event);

}  // namespace engine
