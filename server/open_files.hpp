#pragma once

#include <cstddef>
#include <cstdint>

namespace server {

/// Descriptors that connections leave to the rest of the master: the log's files (RocksDB opens up
/// to 512), blobs, uploads, snapshots, child processes.
inline constexpr std::uint64_t files_reserve = 768;

/// Raises this process's soft limit of open files to the hard one; returns what it then is.
std::uint64_t raise_open_files();

/// How many connections fit beside the reserve, `wanted` at most. Where there are fewer files than
/// twice the reserve, a quarter of them.
std::size_t connections_for(std::uint64_t open_files, std::size_t wanted);

}  // namespace server
