#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "jobs/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jobs {

/// How an attempt ended.
enum class OutcomeClass : std::uint8_t {
    done,       ///< exit status 0, no limit hit that spoils the result
    infra,      ///< the sandbox did not start it: another executor may try
    job,        ///< the job's own failure: exit status not 0, or a signal
    limit,      ///< ended by a cap (see `limits`), or a process of it was killed for memory
    cancelled,  ///< ended because the master said so
    rejected,   ///< not begun: pin mismatch, unsupported runtime or cap, a full disk
    /// The executor stopped it for reasons that are not the job's: its lease could not be renewed,
    /// or the executor was shut down. How far it got is not known, as when an executor dies.
    interrupted,
};
enum class LimitKind : std::uint8_t { wall, cpu, memory, pids, output, disk };

std::string_view name(OutcomeClass outcome_class);
std::string_view name(LimitKind limit);
std::optional<OutcomeClass> outcome_class(std::string_view name);
std::optional<LimitKind> limit_kind(std::string_view name);

/// What was used so far, or in all. 0 = not known.
struct Usage {
    std::int64_t wall_ms = 0;
    std::int64_t cpu_ms = 0;
    std::int64_t memory_peak_bytes = 0;
    std::int64_t pids_peak = 0;
    bool operator==(const Usage&) const = default;
};
base::Json to_json(const Usage& usage);
Usage read_usage(const base::Json& json, const std::string& pointer, wire::Faults& faults);

/// The one inline limit: kept bytes above it are uploaded, see routes.hpp.
inline constexpr std::size_t output_inline_bytes_max = std::size_t{128} << 10U;
/// Length of `Output::text` and `Output::tail` of an uploaded stream: bytes, cut at a character.
inline constexpr std::size_t output_preview_bytes = 2000;

/// One stream (stdout or stderr) of a finished job.
struct Output {
    std::uint64_t bytes_total = 0;  ///< what the job wrote
    std::uint64_t bytes_kept = 0;   ///< what was kept: the blob's size, or that of `text`
    /// When something was left out (`truncated`): so many of the kept bytes are the beginning of
    /// the stream, all others its end.
    std::uint64_t bytes_head = 0;
    /// All kept bytes (maybe not UTF-8); of an uploaded stream a preview of the beginning (UTF-8,
    /// invalid bytes replaced).
    std::string text;
    std::string tail;                    ///< of an uploaded stream: a preview of the end
    std::optional<base::Digest> sha256;  ///< of the kept bytes, when they were uploaded
    [[nodiscard]] bool truncated() const { return bytes_kept < bytes_total; }
    /// Of an upload that did not come about: `text` is all that there is.
    void keep_preview_only();
    bool operator==(const Output&) const = default;
};

/// What the job ran in; recorded, so that nobody needs to believe it.
struct Sandbox {
    std::string backend;  ///< `bwrap`, `none` (unsandboxed) or `builtin`
    std::string version;  ///< of the backend
    std::string cgroup;   ///< `v1`, `hybrid`, `v2` or `none`
    /// The caps that were enforced, by name (`memory`), and what enforced them (`cgroup`,
    /// `watched`, `rlimit`); a cap that is absent was not enforced.
    std::map<std::string, std::string> enforced;
    bool operator==(const Sandbox&) const = default;
};

struct OutcomeError {
    base::ErrorCode code = base::ErrorCode::internal;
    std::string message;
    bool operator==(const OutcomeError&) const = default;
};

inline constexpr std::size_t progress_message_bytes_max = 1000;

/// A line `::progress 40 message` of stderr.
struct Progress {
    std::int64_t percent = 0;
    std::string message;
    bool operator==(const Progress&) const = default;
};
base::Json to_json(const Progress& progress);
Progress read_progress(const base::Json& json, const std::string& pointer, wire::Faults& faults);

struct Outcome {
    OutcomeClass outcome_class = OutcomeClass::done;
    std::optional<int> exit_code;  ///< when the job's process exited
    std::optional<int> signal;     ///< when a signal ended it
    Output standard_output;
    Output standard_error;
    std::int64_t duration_ms = 0;
    Usage usage;
    std::vector<LimitKind> limits;      ///< every cap that was hit, also when it did no harm
    std::optional<OutcomeError> error;  ///< always when the class is not `done`
    Sandbox sandbox;
    std::optional<Progress> progress;  ///< the newest

    /// The lease is as if never granted: nothing was started, for a reason that is the executor's
    /// (no room, it came too late, it is ending, a full disk, no sandbox). Another may take it.
    [[nodiscard]] bool given_back() const;
    bool operator==(const Outcome&) const = default;
};

/// The outcome that says so; `sandbox` tells of none.
Outcome given_back(std::string why);

base::Json to_json(const Outcome& outcome);
Outcome read_outcome(const base::Json& json, const std::string& pointer, wire::Faults& faults);
base::Result<Outcome> outcome_from_json(const base::Json& json);

/// sha256 of the canonical JSON. A result sent again has the same digest; another digest for the
/// same lease is a conflict.
base::Digest digest(const Outcome& outcome);

}  // namespace jobs
