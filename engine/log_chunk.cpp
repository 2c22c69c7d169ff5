#include "engine/log_chunk.hpp"

#include <cstring>

namespace engine {

namespace {

constexpr std::string_view archived_mark = "\xFF\xFF\xFF\xFF";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t archived_bytes = 4 + digest_bytes + 8 + 8;

void append_number(std::string& out, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i)
        out.push_back(static_cast<char>(value >> (8U * i)));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8U * i);
    return value;
}

}  // namespace

std::string archived_text(const ArchivedChunk& chunk) {
    std::string out(archived_mark);
    for (const auto byte : chunk.blob.bytes)
        out.push_back(static_cast<char>(byte));
    append_number(out, chunk.offset);
    append_number(out, chunk.size);
    return out;
}

std::optional<ArchivedChunk> archived_chunk(std::string_view stored) {
    if (stored.size() != archived_bytes || !stored.starts_with(archived_mark)) return std::nullopt;
    ArchivedChunk chunk;
    std::memcpy(chunk.blob.bytes.data(), stored.data() + archived_mark.size(), digest_bytes);
    chunk.offset = number_at(stored, archived_mark.size() + digest_bytes);
    chunk.size = number_at(stored, archived_mark.size() + digest_bytes + 8);
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
    std::size_t size = 0;
    for (unsigned i = 0; i < 4; ++i) {
        size |= std::size_t{static_cast<unsigned char>(rest_[i])} << (8U * i);
    }
    if (rest_.size() - frame_header_bytes < size) return std::nullopt;
    StoredRecord record{.seq = seq_, .bytes = rest_.substr(frame_header_bytes, size), .hash = {}};
    std::memcpy(record.hash.bytes.data(), rest_.data() + 4, record.hash.bytes.size());
    rest_.remove_prefix(frame_header_bytes + size);
    ++seq_;
    return record;
}

}  // namespace engine
