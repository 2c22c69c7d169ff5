#pragma once

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "jobs/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jobs {

/// What a lost attempt means: `pure` and `idempotent` may be tried again, `once` may not.
enum class Effect : std::uint8_t { pure, idempotent, once };
enum class Runtime : std::uint8_t { node, sh, bash, python3 };
enum class Network : std::uint8_t { deny, allow };

std::string_view name(Effect effect);
std::string_view name(Runtime runtime);
std::string_view name(Network network);
std::optional<Effect> effect(std::string_view name);
std::optional<Runtime> runtime(std::string_view name);
std::optional<Network> network(std::string_view name);

/// A function that the executor answers itself, without a process. `noop` does nothing and has the
/// canonical text of `Job::args` as its standard output.
struct Builtin {
    std::string function;
    bool operator==(const Builtin&) const = default;
};

/// A pinned script. `content` travels inline up to `content_inline_bytes_max`; when it is absent
/// the executor fetches it over `routes::content_path`. Either way it runs only when it hashes to
/// `sha256` and has `size` bytes; otherwise the outcome is `rejected` with the code `tamper`.
struct Script {
    Runtime runtime = Runtime::sh;
    std::string filename;  ///< one path component, see `valid_filename`
    base::Digest sha256;
    std::uint64_t size = 0;
    std::optional<std::string> content;
    bool operator==(const Script&) const = default;
};

/// `bash exec`: the text is run by `bash -c`, with `argv` as its $1, $2, ...
struct Command {
    std::string script;
    bool operator==(const Command&) const = default;
};

using Binding = std::variant<Builtin, Script, Command>;

/// What one attempt may use at most. `output_bytes` is per stream: what goes beyond is counted and
/// thrown away, head and tail are kept.
struct Caps {
    std::int64_t wall_ms = 30'000;
    std::int64_t cpu_ms = 10'000;
    std::int64_t memory_mb = 512;
    std::int64_t pids = 64;
    std::int64_t output_bytes = std::int64_t{4} << 20U;
    std::int64_t artifact_bytes = std::int64_t{64} << 20U;
    double cpus = 1;
    bool operator==(const Caps&) const = default;
};

/// One attempt as an executor sees it: all that it needs to run it, and nothing else.
struct Job {
    std::string model;
    base::AttemptId attempt;   ///< unique in its model
    std::string tool_id;       ///< empty for a command that names no tool
    std::string version_hash;  ///< of the tool version; empty when there is no tool
    Effect effect = Effect::once;
    Binding binding;
    std::vector<std::string> argv;           ///< arguments behind the script
    std::map<std::string, std::string> env;  ///< see `env_name_allowed`
    std::optional<std::string> input;        ///< bytes for stdin; absent = stdin is closed
    std::string args = "{}";                 ///< JSON text of the call's arguments, for builtins
    Caps caps;
    Network network = Network::deny;
    std::string idempotency_key;  ///< the same for every attempt of one operation
    bool operator==(const Job&) const = default;
};

// See base/limits.hpp.
using base::limits::args_bytes_max;
using base::limits::argv_count_max;
using base::limits::command_bytes_max;
using base::limits::content_inline_bytes_max;
using base::limits::env_count_max;
using base::limits::input_bytes_max;

/// One path component of letters, digits, `.`, `_` and `-`, not starting with a dot or a dash, at
/// most 128 bytes.
bool valid_filename(std::string_view filename);

/// What a job's env may set: `TOOL_` and more of `A-Z a-z 0-9 _`, and the few variables that tell
/// programs how to speak and not what to run (TZ, LANG, LC_*, TERM, NO_COLOR and the like). Of all
/// others nobody knows which program or library takes orders from them. Read is also what earlier
/// versions allowed; it is not run.
bool env_name_allowed(std::string_view name);

/// At least as many bytes as the job has in JSON, its script's content included; not many more.
std::size_t bytes_on_the_wire(const Job& job);

base::Json to_json(const Job& job);
base::Result<Job> job_from_json(const base::Json& json);
/// For readers of documents that hold a job: faults are added with pointers below `pointer`.
Job read_job(const base::Json& json, const std::string& pointer, wire::Faults& faults);

}  // namespace jobs
