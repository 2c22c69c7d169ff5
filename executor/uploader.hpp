#pragma once

#include "executor/job_runner.hpp"
#include "executor/transport.hpp"
#include "jobs/lease.hpp"

#include <functional>

namespace executor {

/// Sends the spooled streams of a finished job in chunks, going on where the master stands, as long
/// as it takes. Holds one chunk in memory. What the master will not take (the lease is fenced) is
/// cut down to its preview in `finished`.
class Uploader {
public:
    /// `pause(n)` waits before the n-th repetition in a row; false = give up (the executor stops).
    using Pause = std::function<bool(int)>;
    Uploader(Connection& connection, Pause pause)
        : connection_(connection), pause_(std::move(pause)) {}

    /// False: given up; nothing is lost, it can be done again later.
    bool upload(const jobs::LeaseRef& lease, FinishedJob& finished);

private:
    enum class Sent { all, refused, given_up };
    Sent send(
        const jobs::routes::OutputChunk& stream,
        const std::filesystem::path& spool,
        const jobs::Output& output
    );

    Connection& connection_;
    Pause pause_;
};

}  // namespace executor
