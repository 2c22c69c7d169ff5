#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "executor/agent.hpp"
#include "jobs/lease.hpp"
#include "jobs/routes.hpp"
#include "jobs/sync.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace executor {

/// The end of an upload.
struct UploadEnd {
    base::Digest sha256;
    std::uint64_t size = 0;
};

/// One connection to the master, used by one thread at a time; see jobs/routes.hpp for what the
/// calls mean. Every call returns in the end: by an answer, an error or `interrupt`.
class Connection {
public:
    virtual ~Connection() = default;
    virtual std::expected<jobs::SyncReply, SyncFailure> sync(
        const jobs::SyncRequest& request, base::Duration timeout
    ) = 0;
    /// The size that the master holds afterwards; `end` with the last chunk.
    virtual base::Result<std::uint64_t> upload(
        const jobs::routes::OutputChunk& chunk,
        std::string_view bytes,
        const std::optional<UploadEnd>& end
    ) = 0;
    virtual base::Result<std::string> fetch(
        const jobs::LeaseRef& lease, const base::Digest& sha256, std::size_t bytes_max
    ) = 0;
    /// Ends the call in progress and all later ones with `cancelled`. From any thread.
    virtual void interrupt() = 0;
};

/// Makes connections. Thread-safe.
class Transport {
public:
    virtual ~Transport() = default;
    virtual base::Result<std::unique_ptr<Connection>> connect() = 0;
};

}  // namespace executor
