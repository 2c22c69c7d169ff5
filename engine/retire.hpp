#pragma once

#include "base/result.hpp"
#include "engine/state.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Cases that are over leave memory for the log's index (EventLog::cases), the one that could
/// change least long ago first. Which ones leave, and when, follows from the records alone: every
/// fold of a log does the same, so an entry of the index holds for every later seq.
namespace engine {

/// So many cases that are over and can no longer change stay in memory.
inline constexpr std::size_t retirable_kept = 500;

/// What is known of a case that left memory. Its tokens, if any are left, are where they were.
struct RetiredCase {
    base::CaseId id;
    std::string net;
    std::string version;
    CaseState state = CaseState::completed;
    std::string owner;
    base::Timestamp started;
    base::Timestamp ended;
    base::OperationId parent;
    std::vector<places::PlaceId> ends;  ///< the end places of its net
    std::vector<OperationSummary> finished;
};

/// As the index keeps it: canonical JSON.
std::string retired_text(const Case& leaving);
base::Result<RetiredCase> retired_case(std::string_view text);

/// Part of the fold: something about the case changed that may decide whether it can leave.
void reconsider(State& state, Case& changed);
/// Part of the fold, at the end of every record: moves what is beyond `retirable_kept` to
/// `State::leaving`.
void retire(State& state);

}  // namespace engine
