#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "executor/access.hpp"
#include "http/stop.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace executor {

struct Options {
    std::string master;          ///< URL; TLS when it says https
    EnrolmentSource enrolment;   ///< asked only when the master does not know the executor's key
    std::filesystem::path work;  ///< made when absent; one executor at a time works in it
    std::int64_t slots = 1;      ///< jobs at a time, 1 to `slots_max`
    std::map<std::string, std::string> labels;
    /// Name of this executor; none = kept in the work folder, made from the host's name.
    std::optional<std::string> id;
    std::optional<std::filesystem::path> ca_file;
    /// Without a working sandbox, run process jobs all the same.
    bool allow_unsandboxed = false;
    /// A root executor runs the job of slot n as user `slot_uid_base` + n.
    std::uint32_t slot_uid_base = 58000;
    bool use_cgroups = true;
    base::Duration drain = base::seconds(30);  ///< after a stop, so long may running jobs go on
};

inline constexpr std::int64_t slots_max = 1024;

/// Works for the master until `stop` is raised (then it takes no more, finishes what runs, and
/// returns), until the master has it drained, or until it is refused for good: another run of it
/// took over (`fenced`), or the master takes neither its key nor its one-time token
/// (`unauthenticated`, `not_permitted`). Blocks.
base::Result<void> run(const Options& options, const http::StopSignal& stop);

}  // namespace executor
