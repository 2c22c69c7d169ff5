#pragma once

#include "base/guarded.hpp"
#include "engine/heads_file.hpp"
#include "engine/log_chunk.hpp"
#include "engine/rocks_log.hpp"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// `env`: the disk; a test puts one there that loses what was not synced.
base::Result<std::unique_ptr<EventLog>> open_rocks_log_on(
    rocksdb::Env& env, const std::filesystem::path& folder, const RocksLogOptions& options
);

/// What is kept beside a model's chunks, written in the same batch as they are.
struct RocksHead {
    Epoch epoch = 0;
    LogHead head;
};

// Keys: `c` model 0 seq (8 bytes, big-endian) -> chunk; `e` model 0 case (8 bytes, big-endian) ->
// IndexedCase::text; `a` model 0 seq -> hex digest of the blob that chunks from there on were
// archived in; `h` model -> RocksHead.
std::string rocks_chunk_prefix(std::string_view model);
std::string rocks_chunk_key(std::string_view model, Seq first);
std::string rocks_archive_key(std::string_view model, Seq first);
std::string rocks_case_key(std::string_view model, base::CaseId id);
/// The seq at the end of a key.
Seq rocks_key_seq(std::string_view key);
std::string rocks_head_key(std::string_view model);
std::string rocks_head_value(const RocksHead& head);
std::optional<RocksHead> rocks_head(std::string_view value);

base::Error rocks_error(std::string_view doing, const rocksdb::Status& status);

/// The same of a write to the log: `overloaded`, since it may be taken later.
base::Error rocks_write_error(const rocksdb::Status& status);

/// Where a log is, and how it is opened.
struct RocksPlace {
    rocksdb::Env& env;
    std::filesystem::path folder;
    RocksLogOptions options;
};

/// What becomes of the records that opening finds in the WAL.
enum class Recovered : std::uint8_t {
    flushed,
    /// They stay there: opening needs little space on the disk.
    left_in_wal,
};

/// A RocksDB opened for the log, and the damage that opening found.
struct RocksDatabase {
    std::unique_ptr<rocksdb::DB> database;
    std::vector<StorageFault> faults;
};
base::Result<RocksDatabase> open_rocks_database(
    const RocksPlace& place, const HeadsFile& heads, Recovered recovered
);
/// The checksum kept for every file of the database: its sha256, which costs less here than
/// RocksDB's own crc32c (Debian's build computes that without the processor's help).
std::shared_ptr<rocksdb::FileChecksumGenFactory> rocks_checksums();
/// Files of the database whose bytes are no longer those that were written.
std::vector<StorageFault> rocks_file_faults(rocksdb::DB& database);
/// The head that the database holds; of an unknown model an empty one. `tamper` when damaged.
base::Result<RocksHead> read_rocks_head(rocksdb::DB& database, std::string_view model);

class RocksLog final : public EventLog {
public:
    RocksLog(RocksPlace place, RocksDatabase opened, HeadsFile heads);
    ~RocksLog() override;

    std::vector<AppendOutcome> append(std::span<const Append> requests) override;
    base::Result<RecordPage> read(std::string_view model, Seq from, const ReadLimit& limit)
        override;
    base::Result<Seq> next_readable(std::string_view model, Seq from) override;
    base::Result<LogHead> head(std::string_view model) override;
    base::Result<LogHead> head_kept_apart(std::string_view model) override;
    base::Result<std::vector<std::string>> models() override;
    base::Result<std::vector<StorageFault>> storage_faults() override;
    base::Result<Epoch> own(std::string_view model) override;
    base::Result<std::vector<IndexedCase>> cases(
        std::string_view model, base::CaseId after, std::size_t limit
    ) override;
    base::Result<void> restore_cases(std::string_view model, std::span<const IndexedCase> cases)
        override;
    base::Result<Archived> archive(std::string_view model, Seq before) override;
    base::Result<std::vector<base::Digest>> archived_blobs(std::string_view model) override;
    base::Result<void> copy_to(const std::filesystem::path& folder) override;

private:
    using Heads = std::map<std::string, RocksHead, std::less<>>;

    /// Runs `action` while the database stays open. Not to be called with `writing_` held.
    template <class Action>
    auto reading(Action&& action) -> decltype(action());
    base::Result<RecordPage> read_page(std::string_view model, Seq from, const ReadLimit& limit);
    base::Result<Seq> find_readable(std::string_view model, Seq from);
    /// Reopens the database if a write failed. Refused while the disk takes no writes; then the old
    /// database stays open for readers. Needs `writing_`, as do the next two.
    base::Result<void> make_writable();
    base::Result<void> reopen();
    /// Notes how to undo the write in `batch_`, which failed.
    void remember_refused(std::span<const Append> requests);
    base::Result<void> take_writing_and_make_writable();
    /// The last seq that reading may find: that of the head, or when the head cannot be read, of
    /// the one kept apart.
    base::Result<Seq> last_seq(std::string_view model);
    base::Result<RocksHead> known_head(std::string_view model);
    AppendOutcome judge(const Append& request);
    void put(const Append& request);
    [[nodiscard]] rocksdb::WriteOptions write_options() const;
    /// A synced write that appends nothing.
    base::Result<void> write_apart(rocksdb::WriteBatch& batch);
    void reclaim(std::string_view model);
    void put_chunk(std::string_view model, Seq first);
    void after_write(std::span<const Append> requests, std::vector<AppendOutcome>& outcomes);

    const RocksPlace place_;
    const std::vector<StorageFault> found_at_opening_;
    HeadsFile heads_;
    /// Held while the database is written: an append and a change of owner must not pass each
    /// other. Guards what only writers use. Readers never take it.
    std::mutex writing_;
    /// Guards that the database is open: held shared while it is read, alone while it is reopened
    /// (which needs `writing_`, too).
    std::shared_mutex open_;
    /// Nothing when it could not be reopened.
    std::unique_ptr<rocksdb::DB> database_;
    /// A write failed: RocksDB takes no other before it is reopened.
    bool failed_ = false;
    /// Undoes refused writes: one whose sync failed may be found in the WAL.
    rocksdb::WriteBatch undo_;
    /// What the database holds for the models in use, and the epochs of owners that have not yet
    /// appended.
    base::Guarded<Heads> known_;
    /// The write that is being put together, and the pieces of its current chunk: kept, so that
    /// their memory is used again.
    rocksdb::WriteBatch batch_;
    std::vector<FrameHeader> frame_headers_;
    std::vector<rocksdb::Slice> frames_;
};

template <class Action>
auto RocksLog::reading(Action&& action) -> decltype(action()) {
    std::shared_lock lock(open_);
    if (!database_) {
        lock.unlock();
        if (auto opened = take_writing_and_make_writable(); !opened) {
            return base::fail(std::move(opened.error()));
        }
        lock.lock();
        if (!database_) return base::fail(base::ErrorCode::overloaded, "the log is being reopened");
    }
    return action();
}

}  // namespace engine
