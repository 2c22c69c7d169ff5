#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "engine/log.hpp"

#include <string>
#include <vector>

/// The life of an operation as its model's log tells it: also of one that is over, of which the
/// state knows no more than its case shows.
namespace server {

/// How far behind its beginning the end of an operation is looked for.
inline constexpr std::size_t history_records_max = 500'000;

struct RunHistory {
    std::vector<base::Json> records;  ///< of the operation itself, in order
    bool over = false;                ///< the last of them says how it ended
};
/// Reads from record `id.seq` to `last` at most. `not_found` where no operation begins there,
/// `limit` where its end is too far away. Blocks on the disk.
base::Result<RunHistory> run_history(
    engine::EventLog& log, const std::string& model, base::OperationId id, base::Seq last
);
/// The records of late results that `seqs` name. Blocks on the disk.
base::Result<std::vector<base::Json>> late_records(
    engine::EventLog& log, const std::string& model, const std::vector<base::Seq>& seqs
);

/// `{id, net, transition, state, attempt, toolId?, versionHash?, effect?, case?, started, ended,
/// seq, error?, executor?}` of one that is over.
base::Json ended_view(base::OperationId id, const RunHistory& history);
/// `[{attempt, at, seq, executor, outcome, digest, output?, result?, error?}]`
base::Json late_view(const std::vector<base::Json>& records);
/// `[{attempt, outcome, seq, at, executor?, output?, error?, progress?}]`, one entry an attempt
/// that ended, and the late ones.
base::Json attempts_view(const RunHistory& history, const std::vector<base::Json>& late);

}  // namespace server
