#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace bench {

struct BareCommitOptions {
    /// Where the database goes; must not exist.
    std::filesystem::path folder;
    std::size_t records = 1'000'000;
    std::size_t group_records = 4096;
    bool sync = true;
};

/// The program against which durable firings are measured, with nothing of an engine in it: one
/// thread renders a JSON record of 290 bytes a firing and chains it by sha256, the other commits
/// groups of some thousands to RocksDB, a key a record. Returns records per second.
double bare_commit(const BareCommitOptions& options);

}  // namespace bench
