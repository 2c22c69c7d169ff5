#pragma once

#include "engine/log.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A chunk is what is stored under one key: consecutive records of one model, each framed as its
/// size (4 bytes, little-endian), its hash (32 bytes) and its bytes. A chunk ends with the record
/// that reaches `chunk_bytes_max`.
inline constexpr std::size_t chunk_bytes_max = std::size_t{64} << 10U;
inline constexpr std::size_t frame_header_bytes = 4 + 32;

/// What stands in a chunk's place once it was archived: where its bytes are. 4 bytes 0xFF (no
/// record is that long), the blob's sha256, offset and size (8 bytes each, little-endian).
struct ArchivedChunk {
    base::Digest blob;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};
std::string archived_text(const ArchivedChunk& chunk);
/// Nothing when it is a chunk.
std::optional<ArchivedChunk> archived_chunk(std::string_view stored);

using FrameHeader = std::array<char, frame_header_bytes>;
FrameHeader frame_header(std::size_t size, const base::Digest& hash);

/// Reads frames off the front of a chunk.
class ChunkReader {
public:
    ChunkReader(std::string_view chunk, Seq first) : rest_(chunk), seq_(first) {}

    /// The next record, borrowing from the chunk. Nothing at the end, and where the frames are
    /// broken.
    std::optional<StoredRecord> next();
    /// After `next` returned nothing: the chunk ended where a frame ends.
    [[nodiscard]] bool whole() const { return rest_.empty(); }

private:
    std::string_view rest_;
    Seq seq_;
};

}  // namespace engine
