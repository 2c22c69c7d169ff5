#pragma once

#include "blobstore/store.hpp"
#include "engine/log_chunk.hpp"
#include "engine/rocks_store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// Walks the chunks of one model. Not valid: either there is no further chunk (`why` is OK) or the
/// next one cannot be read.
class ChunkCursor {
public:
    /// `blobs`: where archived chunks are; null when they are not at hand.
    ChunkCursor(rocksdb::DB& database, blobstore::Store* blobs, std::string_view model);

    /// The chunk that would hold `seq`: the last one that begins at or before it.
    void seek_holder(Seq seq) { iterator_->SeekForPrev(rocks_chunk_key(model_, seq)); }
    /// The first chunk that begins at `seq` or after it.
    void seek_start(Seq seq) { iterator_->Seek(rocks_chunk_key(model_, seq)); }
    void next() { iterator_->Next(); }

    [[nodiscard]] bool valid() const { return iterator_->Valid(); }
    [[nodiscard]] Seq first() const;
    /// As it is stored: the chunk, or where it was archived.
    [[nodiscard]] std::string_view stored() const;
    /// The chunk, borrowed until the next call. `tamper` when it was archived and its blob is
    /// damaged or gone.
    base::Result<std::string_view> chunk();
    [[nodiscard]] std::string why() const { return iterator_->status().ToString(); }

private:
    blobstore::Store* blobs_;
    std::string_view model_;
    std::string prefix_;
    std::string end_;
    rocksdb::Slice prefix_slice_;
    rocksdb::Slice end_slice_;
    std::unique_ptr<rocksdb::Iterator> iterator_;
    std::string archived_;
};

}  // namespace engine
