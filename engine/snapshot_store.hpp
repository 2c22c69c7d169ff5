#pragma once

#include "base/files.hpp"
#include "engine/log.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a snapshot says of itself. `head.seq` is the last record folded into it.
struct SnapshotInfo {
    std::string model;
    LogHead head;
    /// Of the state in canonical form.
    base::Digest state_hash;
    /// Of the content, without framing.
    std::uint64_t size = 0;
};

/// Writes a snapshot in pieces; it exists only once `finish` has returned. Dropping an unfinished
/// one leaves nothing. Belongs to one thread at a time; blocks on the disk.
class SnapshotWriter {
public:
    SnapshotWriter(SnapshotWriter&&) noexcept;
    SnapshotWriter& operator=(SnapshotWriter&&) noexcept;
    ~SnapshotWriter();

    /// Any size; pieces come back as other pieces.
    base::Result<void> write(std::string_view bytes);
    base::Result<SnapshotInfo> finish(const base::Digest& state_hash);

private:
    friend class SnapshotStore;
    struct State;
    explicit SnapshotWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Reads a snapshot's content as a stream.
class SnapshotReader {
public:
    SnapshotReader(SnapshotReader&&) noexcept;
    SnapshotReader& operator=(SnapshotReader&&) noexcept;
    ~SnapshotReader();

    [[nodiscard]] const SnapshotInfo& info() const;
    /// The next piece, valid until the next call; empty at the end. `tamper` when the bytes are no
    /// longer those that were checked.
    base::Result<std::string_view> read();
    /// Exactly `size` bytes, appended to `out`; `tamper` when fewer are left.
    base::Result<void> read_exactly(std::string& out, std::size_t size);

private:
    friend class SnapshotStore;
    struct State;
    explicit SnapshotReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Snapshots as files `FOLDER/MODEL/SEQ-N.snapshot`; the N-th of its model, counted for ever.
/// Thread-safe between models; one writer a model.
class SnapshotStore {
public:
    explicit SnapshotStore(std::filesystem::path folder);

    /// `head`: the last record folded into it.
    base::Result<SnapshotWriter> create(std::string_view model, const LogHead& head);

    /// The newest good one with head.seq <= `seq`, checked as a whole. A damaged one is skipped
    /// with a warning in the diary.
    base::Result<std::optional<SnapshotReader>> newest_at_or_before(
        std::string_view model, Seq seq
    );

    /// The seqs that have a file, ascending; good or not.
    base::Result<std::vector<Seq>> list(std::string_view model) const;
    /// That very one; `tamper` when it is damaged, not_found.
    base::Result<SnapshotReader> open(std::string_view model, Seq seq);

    /// Those at `seq`: for damaged ones.
    base::Result<void> remove(std::string_view model, Seq seq);

    /// Removes all but the newest three and those whose N is a power of two; also what a crash left
    /// half written. `SnapshotWriter::finish` does it too.
    base::Result<void> prune(std::string_view model);

private:
    std::filesystem::path folder_;
};

}  // namespace engine
