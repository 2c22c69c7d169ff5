#pragma once

#include "base/files.hpp"
#include "base/guarded.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace executor {

/// A program with all that it is given; nothing is inherited.
struct Program {
    std::string path;
    std::vector<std::string> argv;  ///< with the program's own name first
    std::vector<std::string> env;   ///< `NAME=value`
    std::string folder;             ///< to start in; empty = stay
    bool subreaper = false;         ///< for init outside a sandbox: orphans become its children
};

/// `program` in a memfd, as the helper reads it.
base::Result<base::FileDescriptor> program_file(const Program& program);

/// A memfd with these bytes, read from the start, that nobody can change any more.
base::Result<base::FileDescriptor> sealed_file(const std::string& name, std::string_view bytes);

struct ProcessLimits {
    std::optional<std::uint64_t> cpu_seconds;
    std::optional<std::uint64_t> file_bytes;
    std::optional<std::uint64_t> open_files;
    std::optional<std::uint64_t> processes;
};

struct SpawnOrder {
    Program program;
    std::vector<int> cgroup_entries;   ///< open `cgroup.procs` files that the child joins; borrowed
    std::vector<int> descriptors;      ///< become 0, 1, 2, ... in the child; borrowed
    std::optional<std::uint32_t> uid;  ///< user and group to become; never 0
    ProcessLimits limits;
};

struct Child {
    base::FileDescriptor pidfd;
    pid_t pid = 0;
};

/// The fork server: one small single-threaded process beside the executor that starts everything
/// else. It and all that runs in its sandboxes end when this object does. Thread-safe.
class Spawner {
public:
    /// `helper` is the program netwright-sandbox-init.
    static base::Result<std::unique_ptr<Spawner>> start(const std::filesystem::path& helper);
    ~Spawner();
    Spawner(const Spawner&) = delete;
    Spawner& operator=(const Spawner&) = delete;

    /// Returns once the child has executed its program. The error says which step failed: nothing
    /// of the program has run then.
    base::Result<Child> spawn(const SpawnOrder& order);

private:
    Spawner(base::FileDescriptor socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

    base::Guarded<base::FileDescriptor> socket_;
    pid_t pid_;
};

/// The helper program: `$NETWRIGHT_SANDBOX_INIT`, else netwright-sandbox-init beside the running
/// program.
std::filesystem::path helper_path();

}  // namespace executor
