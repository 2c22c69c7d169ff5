#pragma once

#include "base/guarded.hpp"
#include "engine/log.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A log in memory, for tests, benchmarks and the simulator: it can lose what was not synced, fail,
/// and be damaged on purpose.
class MemoryLog final : public EventLog {
public:
    struct Options {
        /// false: nothing is durable until `sync`.
        bool sync = true;
    };

    MemoryLog();
    explicit MemoryLog(Options options);
    ~MemoryLog() override;

    std::vector<AppendOutcome> append(std::span<const Append> requests) override;
    base::Result<RecordPage> read(std::string_view model, Seq from, const ReadLimit& limit)
        override;
    base::Result<Seq> next_readable(std::string_view model, Seq from) override;
    base::Result<LogHead> head(std::string_view model) override;
    base::Result<LogHead> head_kept_apart(std::string_view model) override;
    base::Result<std::vector<std::string>> models() override;
    base::Result<std::vector<StorageFault>> storage_faults() override { return {}; }
    base::Result<Epoch> own(std::string_view model) override;
    base::Result<std::vector<IndexedCase>> cases(
        std::string_view model, base::CaseId after, std::size_t limit
    ) override;
    base::Result<void> restore_cases(std::string_view model, std::span<const IndexedCase> cases)
        override;
    base::Result<Archived> archive(std::string_view model, Seq before) override;
    base::Result<std::vector<base::Digest>> archived_blobs(std::string_view model) override;
    base::Result<void> copy_to(const std::filesystem::path& folder) override;

    /// What becomes of an append that fails; its outcome is `unknown` either way.
    enum class Failure : std::uint8_t {
        /// Nothing reached the disk.
        lost,
        /// It reached the disk, but the answer was lost.
        kept,
        /// It was on its way when the power went: `lose_power` decides.
        torn,
    };
    /// The `nth` append from now (1 = the next) fails, and after it every one until `lose_power` or
    /// `own`.
    void fail_append(std::size_t nth, Failure failure);

    /// What a machine finds after the loss of power: all synced writes and the first
    /// `unsynced_kept` of the others. A write is atomic: a torn one is gone.
    void lose_power(std::size_t unsynced_kept = 0);
    [[nodiscard]] std::size_t unsynced() const;
    void sync();

    /// Damage, for tests of the audit. `bytes` replaces the stored record and leaves its hash.
    void overwrite(std::string_view model, Seq seq, std::string bytes);
    void overwrite_hash(std::string_view model, Seq seq, const base::Digest& hash);
    /// The record can no longer be read.
    void make_unreadable(std::string_view model, Seq seq);
    /// The log ends with `last` although the head kept apart says otherwise.
    void cut_tail(std::string_view model, Seq last);

private:
    struct Store;
    const Options options_;
    base::Guarded<std::unique_ptr<Store>> store_;
};

}  // namespace engine
