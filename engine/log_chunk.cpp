#include "engine/log_chunk.hpp"

#include "engine/little_endian.hpp"

#include <cstring>

namespace engine {

namespace {

constexpr std::string_view archived_mark = "\xFF\xFF\xFF\xFF";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t archived_bytes = 4 + digest_bytes + 8 + 8;

}  // namespace

std::string archived_text(const ArchivedChunk& chunk) {
    std::string out(archived_mark);
    for (const auto byte : chunk.blob.bytes)
        out.push_back(static_cast<char>(byte));
    append_little_endian(out, chunk.offset, 8);
    append_little_endian(out, chunk.size, 8);
    return out;
}

std::optional<ArchivedChunk> archived_chunk(std::string_view stored) {
    if (stored.size() != archived_bytes || !stored.starts_with(archived_mark)) return std::nullopt;
    ArchivedChunk chunk;
    std::memcpy(chunk.blob.bytes.data(), stored.data() + archived_mark.size(), digest_bytes);
    stored.remove_prefix(archived_mark.size() + digest_bytes);
    chunk.offset = little_endian(stored.substr(0, 8));
    chunk.size = little_endian(stored.substr(8));
    return chunk;
}

FrameHeader frame_header(std::size_t size, const base::Digest& hash) {
    FrameHeader header;
    for (unsigned i = 0; i < 4; ++i)
        header[i] = static_cast<char>(size >> (8U * i));
    std::memcpy(header.data() + 4, hash.bytes.data(), hash.bytes.size());
    return header;
}

std::optional<StoredRecord> ChunkReader::next() {
    if (rest_.size() < frame_header_bytes) return std::nullopt;
    const std::size_t size = little_endian(rest_.substr(0, 4));
    if (rest_.size() - frame_header_bytes < size) return std::nullopt;
    StoredRecord record{.seq = seq_, .bytes = rest_.substr(frame_header_bytes, size), .hash = {}};
    std::memcpy(record.hash.bytes.data(), rest_.data() + 4, record.hash.bytes.size());
    rest_.remove_prefix(frame_header_bytes + size);
    ++seq_;
    return record;
}

}  // namespace engine
