#pragma once

#include "base/files.hpp"
#include "base/result.hpp"
#include "executor/public_folder.hpp"
#include "executor/spawner.hpp"
#include "jobs/job.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace executor {

/// Where a job finds things inside a sandbox.
inline constexpr const char* sandbox_work = "/job";
inline constexpr const char* sandbox_tool = "/tool";

/// The ends of a job's pipes that its processes get. Borrowed.
struct JobPipes {
    int standard_input = -1;
    int standard_output = -1;
    int standard_error = -1;
    int status = -1;  ///< bwrap's JSON status
    int report = -1;  ///< init's report, see sandbox_init/wire.h
};

/// What shall run inside.
struct SandboxOrder {
    Program program;  ///< `folder` = `sandbox_work`
    /// Verified content of the file `sandbox_tool`/`filename`, handed over as bytes: what was
    /// hashed is what runs.
    std::optional<std::string> script;
    std::string filename;
    jobs::Network network = jobs::Network::deny;
    std::int64_t work_bytes = 0;  ///< size of the job's own file system at `sandbox_work`
};

/// A process ready to be spawned, with the descriptors that it borrows from here.
struct PreparedSpawn {
    SpawnOrder order;
    std::vector<base::FileDescriptor> owned;
};

/// Writes bubblewrap's command line. All that is the same for every job (open folders, the
/// system-call filter, a small /etc) is prepared once. Immutable afterwards.
class Sandbox {
public:
    struct Options {
        std::filesystem::path bwrap = "/usr/bin/bwrap";
        std::filesystem::path helper;
        std::filesystem::path work;  ///< the executor's folder, which names what is made elsewhere
    };
    static base::Result<Sandbox> open(const Options& options);

    [[nodiscard]] base::Result<PreparedSpawn> prepare(
        const SandboxOrder& order, const JobPipes& pipes
    ) const;

private:
    Sandbox() = default;

    std::string bwrap_;
    base::FileDescriptor usr_;
    PublicFolder public_;       ///< the small /etc and the helper
    base::FileDescriptor etc_;  ///< the same, open
    std::string filter_;
    std::vector<std::string> links_;  ///< `bin`, `lib64`, ...: links into /usr
};

/// The same job without a sandbox: init is started directly, in `folder`.
base::Result<PreparedSpawn> prepare_unsandboxed(
    const std::filesystem::path& helper, const Program& program, const JobPipes& pipes
);

}  // namespace executor
