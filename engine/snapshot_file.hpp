#pragma once

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "engine/snapshot_store.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

// A snapshot's file: the line `netwright snapshot 2`; a line of JSON {"hash","model","seq"};
// pieces, each its size (4 bytes, little-endian) and its bytes; size 0; the state's hash (32
// bytes); the content's size (8 bytes, little-endian); sha256 of everything before it.
namespace engine {

inline constexpr std::size_t snapshot_piece_bytes = std::size_t{256} << 10U;

struct SnapshotWriter::State {
    SnapshotInfo info;
    std::filesystem::path path;
    std::filesystem::path temporary;
    base::FileDescriptor file;
    base::Sha256 sum;
    /// The piece that is being filled.
    std::string piece;

    static base::Result<SnapshotWriter> create(std::filesystem::path path, SnapshotInfo info);
    ~State();
    base::Result<void> put(std::string_view bytes);
    base::Result<void> put_piece();
};

struct SnapshotReader::State {
    SnapshotInfo info;
    std::filesystem::path path;
    base::FileDescriptor file;
    base::Sha256 sum;
    base::Digest checked;
    std::string piece;
    /// What `read_exactly` has yet to take of the piece.
    std::string_view rest;
    std::uint64_t size = 0;
    bool ended = false;

    /// Reads the whole file once and checks it, then stands before its first piece.
    static base::Result<SnapshotReader> open(
        const std::filesystem::path& path, std::string_view model, Seq seq
    );
    [[nodiscard]] base::Error damaged(std::string_view how) const;
    base::Result<void> take(std::string& out, std::size_t count);
    base::Result<void> read_header(std::string_view model, Seq seq);
    /// The next piece; empty at the end, whose hashes it has then compared with what was read.
    base::Result<void> next_piece();
    base::Result<void> read_end();
};

base::Result<void> prune_snapshots(const std::filesystem::path& folder);

}  // namespace engine
