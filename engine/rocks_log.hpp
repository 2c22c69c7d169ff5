#pragma once

#include "blobstore/store.hpp"
#include "engine/log.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace engine {

enum class Durability : std::uint8_t {
    /// A commit is answered after an fdatasync.
    sync,
    /// No sync: for experiments; a crash of the machine loses acknowledged records.
    relaxed,
};

enum class LogAccess : std::uint8_t {
    read_write,
    /// For `audit` of a stopped directory: writes nothing, and reads around damage.
    read_only,
};

struct RocksLogOptions {
    Durability durability = Durability::sync;
    LogAccess access = LogAccess::read_write;
    /// Where archived records go and are read from; outlives the log.
    blobstore::Store* blobs = nullptr;
};

/// A log in RocksDB, in `folder` (made when it does not exist): `db/` and `heads`, the heads kept
/// apart. docs/log-format.md describes both. Refuses with `tamper` when acknowledged records are
/// damaged so that opening would lose what can still be read.
base::Result<std::unique_ptr<EventLog>> open_rocks_log(
    const std::filesystem::path& folder, const RocksLogOptions& options = {}
);

}  // namespace engine
