#pragma once

#include "base/limits.hpp"
#include "base/result.hpp"
#include "catalog/catalog.hpp"
#include "engine/model.hpp"
#include "jobs/job.hpp"
#include "jobs/outcome.hpp"

#include <string>
#include <string_view>

/// From a transition to a job, and from a job's outcome to a result.
namespace transitions {

/// The shapes that a result takes (nets.md, Results).
inline constexpr std::string_view call_reply = "call";
inline constexpr std::string_view command_reply = "command";

/// A job without attempt and content, as an operation's record keeps it.
struct PlannedJob {
    jobs::Job job;
    std::string reply;
    bool operator==(const PlannedJob&) const = default;
};
std::string to_call_json(const PlannedJob& planned);
base::Result<PlannedJob> from_call_json(std::string_view call);
/// The text for the record, after `from_call_json` has read it back: `limit` for a call that it
/// refuses, with every fault.
base::Result<std::string> readable_call_json(const PlannedJob& planned);

/// What a command token says: `{"executor","command","args"}`, strictly read.
struct CommandToken {
    bool bash = false;  ///< `bash exec`: `script` is run by bash
    std::string script;
    std::string tool_id;  ///< of `script invoke`
    std::string version;  ///< asked for, or empty
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::optional<std::string> input;  ///< canonical JSON for stdin
    std::optional<std::int64_t> timeout_ms;
};
base::Result<CommandToken> read_command(std::string_view json);

/// The job that a catalog item runs, with its caps; one function a binding type. `unsupported` when
/// this binary does not know the type.
base::Result<jobs::Job> job_for(const catalog::Item& item);

struct Contract;

/// What an outcome is read with.
struct OutcomeContext {
    base::AttemptId attempt;
    std::string reply;
    std::string tool_id;
    std::string version_hash;
    std::uint64_t fencing = 0;
    bool stale = false;
    bool never_came = false;                ///< a stream that was to be uploaded was not
    const Contract* contract = nullptr;     ///< of the tool, for an outcome in force. Borrowed
    const std::string* uploaded = nullptr;  ///< the bytes of stdout, see `reads_upload`. Borrowed
};
/// True when stdout went to the blob store and what it says must be read from there.
bool reads_upload(const jobs::Outcome& outcome, const OutcomeContext& context);
/// `outcome` as the engine takes it: result and meta, or the error. It names bytes that
/// `to_be_kept` (transitions/streams.hpp) asks for: they are in the blob store before it is
/// settled.
engine::Outcome to_engine(const jobs::Outcome& outcome, const OutcomeContext& context);

}  // namespace transitions
