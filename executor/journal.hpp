#pragma once

#include "base/files.hpp"
#include "base/guarded.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "executor/job_runner.hpp"
#include "jobs/lease.hpp"
#include "jobs/outcome.hpp"
#include "jobs/sync.hpp"

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace executor {

/// A finished job as it is kept until the master has it.
struct KeptResult {
    jobs::LeaseRef ref;
    FinishedJob finished;
};

/// What survives the executor: which leases were started, and the results that the master has not
/// acknowledged. One file, a JSON line an event, synced before `started` and `finished` return;
/// many threads share one sync. After a write that failed (a full disk) the next one writes the
/// whole file again, so that the journal works again as soon as the disk does. Thread-safe.
class Journal {
public:
    /// Reads what is there. A last line that was cut (the machine lost power while it was written)
    /// is as if it had never been; any other damage is an error that names the line.
    static base::Result<std::unique_ptr<Journal>> open(const std::filesystem::path& file);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// What an earlier run left; call it once, before anything else.
    struct Left {
        std::vector<KeptResult> results;
        std::vector<jobs::LeaseRef> lost;  ///< started, without a result
    };
    [[nodiscard]] Left left() const;

    /// Durable before the job's first process is started; after an error it is as if not called.
    base::Result<void> started(const jobs::LeaseRef& ref);
    /// Durable before the result is sent. Spool files must be synced already.
    base::Result<void> finished(const jobs::LeaseRef& ref, const FinishedJob& finished);
    /// Not synced: forgetting it does no harm.
    base::Result<void> forgotten(const jobs::LeaseId& lease);

private:
    struct Entry {
        jobs::LeaseRef ref;
        std::optional<std::string> finished;  ///< the line
    };
    struct State {
        base::FileDescriptor file;
        std::map<jobs::LeaseId, Entry> entries;
        std::uint64_t bytes = 0;
        std::uint64_t live_bytes = 0;
        std::uint64_t written = 0;  ///< lines
        std::uint64_t synced = 0;   ///< lines
        bool syncing = false;
        bool suspect = false;  ///< a write failed: nobody knows what the disk has
    };
    explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}
    base::Result<void> read();
    base::Result<void> apply(const base::Json& line, std::string_view text);
    using Lock = std::unique_lock<std::mutex>;
    base::Result<void> append(Lock& lock, const std::string& line, bool durable);
    base::Result<void> sync(Lock& lock, std::uint64_t mine);
    base::Result<void> rewrite();

    std::filesystem::path path_;
    // A plain mutex: a thread waits for the sync of another with the lock released.
    std::mutex mutex_;
    std::condition_variable synced_;
    State state_;
};

}  // namespace executor
