#pragma once

#include "engine/log.hpp"
#include "engine/model.hpp"
#include "engine/snapshot_store.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace engine {

struct FoldInfo {
    Seq snapshot_seq = 0;  ///< 0 = folded from the first record
    std::size_t snapshot_size = 0;
    std::size_t tail_bytes = 0;  ///< read after the snapshot
    /// The record that cannot be folded, whoever tries: it does not hash to what its hash says, or
    /// does not fit the state before it. 0 = another try may do better.
    Seq refused = 0;
    /// Damaged, or not of this log: skipped.
    std::vector<Seq> bad_snapshots;
};

/// What becomes of the log's index of cases while a model is folded.
enum class CaseIndex : std::uint8_t {
    as_it_is,
    mended,  ///< cases that it lacks are written: by the model's writer alone
};

/// The head that the log had after record `seq`; `tamper` when it ends before.
base::Result<LogHead> log_head_at(EventLog& log, std::string_view model, Seq seq);

/// The model as of record `seq`: the newest good snapshot at or before it, and the records after
/// it, each checked against the hash chain. Not live. `tamper` when a record is not what was
/// written or cannot be folded, `unsupported` when a newer version wrote it: `info` says which one
/// it is.
base::Result<std::unique_ptr<Model>> fold(
    EventLog& log,
    SnapshotStore& snapshots,
    std::string_view model,
    Seq seq,
    CaseIndex index = CaseIndex::as_it_is,
    FoldInfo* info = nullptr
);

}  // namespace engine
