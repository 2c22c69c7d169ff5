#include "blobstore/file_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <vector>

namespace blobstore {

namespace {

base::Error changed_size(const OpenBlob& blob) {
    return damaged(blob.digest, fmt::format("it no longer has {} bytes", blob.size));
}

base::Result<bool> ends_at(const OpenBlob& blob, std::uint64_t offset) {
    char beyond = 0;
    const auto count = read_at(blob, std::span(&beyond, 1), offset);
    if (!count) return base::fail(count.error());
    return *count == 0;
}

class WholeReader final : public Reader {
public:
    explicit WholeReader(OpenBlob blob)
        : blob_(std::move(blob)),
          buffer_(static_cast<std::size_t>(
              std::clamp<std::uint64_t>(blob_.size, 1, ChunkDigests::chunk_bytes)
          )) {}

    [[nodiscard]] std::uint64_t size() const override { return blob_.size; }

    // An error stays: what comes after it would not be held against the digest.
    base::Result<std::string_view> next() override {
        if (!failed_) {
            if (verified_) return std::string_view();
            auto piece = read_next();
            if (piece) return piece;
            failed_ = std::move(piece.error());
        }
        return base::fail(*failed_);
    }

private:
    base::Result<std::string_view> read_next() {
        const auto count = read_at(blob_, buffer_, offset_);
        if (!count) return base::fail(count.error());
        offset_ += *count;
        const std::string_view piece(buffer_.data(), *count);
        hasher_.update(piece);
        const bool short_piece = *count < buffer_.size();
        if (offset_ > blob_.size || (short_piece && offset_ < blob_.size)) {
            return base::fail(changed_size(blob_));
        }
        if (offset_ < blob_.size) return piece;
        if (auto verified = verify_end(); !verified) return base::fail(verified.error());
        return piece;
    }

    base::Result<void> verify_end() {
        const auto ended = ends_at(blob_, offset_);
        if (!ended) return base::fail(ended.error());
        if (!*ended) return base::fail(changed_size(blob_));
        const auto digest = hasher_.finish();
        if (digest != blob_.digest) {
            return base::fail(damaged(blob_.digest, "its bytes hash to sha256 " + digest.hex()));
        }
        verified_ = true;
        return {};
    }

    OpenBlob blob_;
    std::vector<char> buffer_;
    base::Sha256 hasher_;
    std::uint64_t offset_ = 0;
    bool verified_ = false;
    std::optional<base::Error> failed_;
};

class RangeReader final : public Reader {
public:
    RangeReader(OpenBlob blob, std::shared_ptr<const ChunkDigests> chunks, Range range)
        : blob_(std::move(blob)),
          chunks_(std::move(chunks)),
          size_(*range.length),
          offset_(range.offset),
          end_(range.offset + *range.length),
          buffer_(ChunkDigests::chunk_bytes) {}

    [[nodiscard]] std::uint64_t size() const override { return size_; }

    base::Result<std::string_view> next() override {
        if (offset_ == end_) return std::string_view();
        const std::uint64_t index = offset_ / ChunkDigests::chunk_bytes;
        const std::uint64_t begin = index * ChunkDigests::chunk_bytes;
        const auto count = read_at(blob_, buffer_, begin);
        if (!count) return base::fail(count.error());
        const std::string_view chunk(buffer_.data(), *count);
        if (base::sha256(chunk) != chunks_->digests[static_cast<std::size_t>(index)]) {
            return base::fail(damaged(
                blob_.digest, fmt::format("the {} bytes from {} on are altered", *count, begin)
            ));
        }
        const auto skip = static_cast<std::size_t>(offset_ - begin);
        const auto wanted = std::min<std::uint64_t>(chunk.size() - skip, end_ - offset_);
        offset_ += wanted;
        return chunk.substr(skip, static_cast<std::size_t>(wanted));
    }

private:
    OpenBlob blob_;
    std::shared_ptr<const ChunkDigests> chunks_;
    std::uint64_t size_;
    std::uint64_t offset_;
    std::uint64_t end_;
    std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<Reader> whole_reader(OpenBlob blob) {
    return std::make_unique<WholeReader>(std::move(blob));
}

std::unique_ptr<Reader> range_reader(
    OpenBlob blob, std::shared_ptr<const ChunkDigests> chunks, Range range
) {
    return std::make_unique<RangeReader>(std::move(blob), std::move(chunks), range);
}

base::Result<std::string> read_whole(const OpenBlob& blob) {
    std::string bytes(static_cast<std::size_t>(blob.size), '\0');
    const auto count = read_at(blob, bytes, 0);
    if (!count) return base::fail(count.error());
    const auto ended = ends_at(blob, blob.size);
    if (!ended) return base::fail(ended.error());
    if (*count != bytes.size() || !*ended) return base::fail(changed_size(blob));
    if (const auto digest = base::sha256(bytes); digest != blob.digest) {
        return base::fail(damaged(blob.digest, "its bytes hash to sha256 " + digest.hex()));
    }
    return bytes;
}

}  // namespace blobstore
