#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

using base::Seq;

/// Grows each time a model gets a new writer; an older epoch can no longer append. The first is 1.
using Epoch = std::uint32_t;

/// Where a model's log ends. seq 0 = no record yet; `hash` is then the first record's `prev`.
struct LogHead {
    Seq seq = 0;
    base::Digest hash;
    bool operator==(const LogHead&) const = default;
};

/// A record as the model's strand renders it: canonical form, without `hash`, and with 64 times '0'
/// in place of `prev`, `prev_offset` bytes after the record's start. See engine/chain.hpp.
struct UnchainedRecord {
    Seq seq = 0;
    base::Timestamp ts;
    std::uint32_t prev_offset = 0;
    std::uint32_t size = 0;
};

/// A case that is over and left memory, as engine/retire.hpp writes it.
struct IndexedCase {
    base::CaseId id;
    std::string text;
};

/// Consecutive records of one model, end to end in one buffer, and the cases that they made leave.
struct RecordBatch {
    std::string bytes;
    std::vector<UnchainedRecord> records;
    std::vector<IndexedCase> cases;

    [[nodiscard]] bool empty() const { return records.empty(); }
};

/// The same with every `prev` filled in, and the hash of every record.
struct ChainedBatch {
    RecordBatch batch;
    std::vector<base::Digest> hashes;
};

/// What one model wants appended. `expected_seq` is the seq that the log must end with: the first
/// record has the next one.
struct Append {
    std::string_view model;
    Epoch epoch = 0;
    Seq expected_seq = 0;
    std::span<const ChainedBatch> batches;

    /// The hash of the last record: through the chain it names all that came before it, so an
    /// append whose key is already the log's head was done before and is answered `committed`
    /// again.
    [[nodiscard]] const base::Digest& idempotency_key() const {
        return batches.back().hashes.back();
    }
};

enum class AppendStatus : std::uint8_t {
    /// Durable (or written, where durability is relaxed).
    committed,
    /// The log does not end with `expected_seq`; nothing was written for this model.
    conflict,
    /// A newer epoch owns the model; nothing was written for this model.
    fenced,
    /// The write failed and may or may not survive: own the model anew and read its head.
    unknown,
};

struct AppendOutcome {
    AppendStatus status = AppendStatus::unknown;
    /// committed: the last seq appended. conflict: the seq that the log ends with.
    Seq seq = 0;
    /// For a person, when not committed.
    std::string message;
};

/// `bytes` are the bytes that were hashed. They borrow from the page.
struct StoredRecord {
    Seq seq = 0;
    std::string_view bytes;
    base::Digest hash;
};

/// Consecutive records, and what they borrow from. Movable, not copyable.
struct RecordPage {
    std::vector<std::string> storage;
    std::vector<StoredRecord> records;

    RecordPage() = default;
    RecordPage(RecordPage&&) = default;
    RecordPage& operator=(RecordPage&&) = default;
    RecordPage(const RecordPage&) = delete;
    RecordPage& operator=(const RecordPage&) = delete;
};

struct ReadLimit {
    std::size_t records_max = 10'000;
    /// A page ends with the record that reaches this.
    std::size_t bytes_max = std::size_t{4} << 20U;
};

/// What `EventLog::archive` did.
struct Archived {
    Seq to = 0;  ///< the last record that went; 0 = none did
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blobs = 0;
};

/// Damage of the storage itself, which need not have hit a record.
struct StorageFault {
    /// Empty: the models that it concerns are not known.
    std::string model;
    /// What may be concerned; 0 = not known.
    Seq first = 0;
    Seq last = 0;
    std::string message;
};

/// The append-only logs of all models. Every function may be called from any thread and may block
/// on the disk; `append` is called by one thread at a time (the committer's).
class EventLog {
public:
    virtual ~EventLog() = default;

    /// All requests in one atomic, synced write; one outcome a request, in order. A model occurs at
    /// most once. A request that is refused (conflict, fenced) does not hold back the others.
    virtual std::vector<AppendOutcome> append(std::span<const Append> requests) = 0;

    /// The records from `from` (at least 1) on, at least one when there is one. Behind the head,
    /// and for a model that does not exist, an empty page. Stops before a record that cannot be
    /// read; when that is the first one wanted: `tamper`. Does not check hashes (engine/audit.hpp
    /// does).
    virtual base::Result<RecordPage> read(
        std::string_view model, Seq from, const ReadLimit& limit
    ) = 0;

    /// The first seq from `from` on that can be read; 0 when there is none.
    virtual base::Result<Seq> next_readable(std::string_view model, Seq from) = 0;

    /// seq 0 for a model that does not exist.
    virtual base::Result<LogHead> head(std::string_view model) = 0;

    /// The head that was noted apart from the log after a commit: never ahead of what was durable,
    /// so a log that ends before it has lost its tail. It may lag after a loss of power; seq 0 =
    /// none.
    virtual base::Result<LogHead> head_kept_apart(std::string_view model) = 0;

    /// Models that have a record (in the log, or according to the heads kept apart), sorted.
    virtual base::Result<std::vector<std::string>> models() = 0;

    /// Checks all that is stored, below the level of records. Reads everything: for audits.
    virtual base::Result<std::vector<StorageFault>> storage_faults() = 0;

    /// Takes the model over and fences earlier owners. Durable at once, save for a model without a
    /// record, which stays non-existent until its first append. Refuses with `tamper` when the
    /// log's tail is missing.
    virtual base::Result<Epoch> own(std::string_view model) = 0;

    /// The cases in the index after case `after`, in the order of their ids. They are written in
    /// the same atomic write as the records that made them leave.
    virtual base::Result<std::vector<IndexedCase>> cases(
        std::string_view model, base::CaseId after, std::size_t limit
    ) = 0;
    /// Writes again what a replay found to have left: the index follows from the log.
    virtual base::Result<void> restore_cases(
        std::string_view model, std::span<const IndexedCase> cases
    ) = 0;

    /// Moves records before `before` into the blob store, whole chunks only, and frees what they
    /// took here. Reading finds them as before. Killed at any moment it loses nothing: the same
    /// again goes on. Takes long.
    virtual base::Result<Archived> archive(std::string_view model, Seq before) = 0;
    /// The blobs that hold records: to be kept for ever.
    virtual base::Result<std::vector<base::Digest>> archived_blobs(std::string_view model) = 0;

    /// A consistent copy of all logs as they are now, in `folder` (which must not exist), that
    /// opens as a log. Appends go on meanwhile. `unsupported` for a log that is not on a disk.
    virtual base::Result<void> copy_to(const std::filesystem::path& folder) = 0;
};

/// The last record with ts <= `at`; 0 when there is none.
base::Result<Seq> seq_at(EventLog& log, std::string_view model, base::Timestamp at);

}  // namespace engine
