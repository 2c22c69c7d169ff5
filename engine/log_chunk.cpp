#include "engine/log_chunk.hpp"

#include <cstring>

namespace engine {

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
