#include "engine/rocks_chunks.hpp"

namespace engine {

namespace {

base::Result<std::string> fetch(blobstore::Store& blobs, const ArchivedChunk& chunk) {
    auto reader = blobs.read_range(chunk.blob, {.offset = chunk.offset, .length = chunk.size});
    if (!reader) return base::fail(std::move(reader.error()));
    std::string bytes;
    bytes.reserve(chunk.size);
    for (;;) {
        const auto piece = (*reader)->next();
        if (!piece) return base::fail(piece.error());
        if (piece->empty()) break;
        bytes.append(*piece);
    }
    if (bytes.size() == chunk.size) return bytes;
    return base::fail(base::ErrorCode::tamper, "the blob of an archived chunk is too short");
}

}  // namespace

ChunkCursor::ChunkCursor(rocksdb::DB& database, blobstore::Store* blobs, std::string_view model)
    : blobs_(blobs), model_(model), prefix_(rocks_chunk_prefix(model)), end_(prefix_) {
    end_.back() = '\1';
    end_slice_ = end_;
    prefix_slice_ = prefix_;
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &prefix_slice_;
    options.iterate_upper_bound = &end_slice_;
    iterator_.reset(database.NewIterator(options));
}

Seq ChunkCursor::first() const {
    return rocks_key_seq(iterator_->key().ToStringView());
}

std::string_view ChunkCursor::stored() const {
    return iterator_->value().ToStringView();
}

base::Result<std::string_view> ChunkCursor::chunk() {
    const auto archived = archived_chunk(stored());
    if (!archived) return stored();
    if (blobs_ == nullptr) {
        return base::fail(
            base::ErrorCode::not_found, "it was archived, and the blob store is not at hand"
        );
    }
    auto fetched = fetch(*blobs_, *archived);
    if (!fetched) return base::fail(std::move(fetched.error()));
    archived_ = std::move(*fetched);
    return archived_;
}

}  // namespace engine
