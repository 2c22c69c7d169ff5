#pragma once

#include "engine/binding.hpp"
#include "engine/event.hpp"
#include "engine/state.hpp"

#include <boost/container/small_vector.hpp>

#include <utility>
#include <vector>

namespace engine {

using Produced = boost::container::small_vector<NewToken, 4>;

/// Tokens that one firing may make.
inline constexpr std::size_t produced_max = 10'000;

/// What the rules make of what `scope` holds. Errors: what the expressions say; `unrouted` when no
/// rule takes the result; `too_large` for a token over the inline limit; `bad_output` for one that
/// does not fit its place; `limit` for more tokens than a place can ever hold, and for more bytes
/// than `firing_bytes_max`; `tamper` when a value that was asked for cannot be read.
base::Result<Produced> evaluate(
    const nets::Outputs& outputs,
    const Deployment& deployment,
    Scope& scope,
    base::CaseId case_id,
    base::Timestamp now
);

/// How many of them go to each place.
std::vector<std::pair<places::PlaceId, std::uint64_t>> by_place(const Produced& produced);

/// The dead letter that stands for the tokens of a firing which failed and has no `fail` way. A
/// token that would make it unreadable is named with `omittedBytes` in place of its `data`.
struct DeadLetter {
    const State& state;
    std::string_view net;
    std::string_view transition;
    base::OperationId operation;
    base::CaseId case_id;
    std::string_view error;            ///< canonical JSON
    std::vector<places::Slot> tokens;  ///< in the order of the arcs
};
NewToken dead_letter_token(const DeadLetter& letter);

}  // namespace engine
