#include "engine/rocks_chunks.hpp"

#include <rocksdb/options.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace engine {

namespace {

/// Chunks that become one blob.
constexpr std::size_t segment_bytes = std::size_t{16} << 20U;

struct Segment {
    struct Part {
        Seq first = 0;
        std::size_t size = 0;
    };
    std::string bytes;
    std::vector<Part> parts;
    Seq end = 0;   ///< the seq behind its last record
    Seq next = 0;  ///< where to go on; 0 = nothing is left
};

// The next chunks from `from` on that end before `before` and are still in the database.
base::Result<Segment> gather(ChunkCursor& cursor, Seq from, Seq before) {
    Segment segment;
    for (cursor.seek_start(from); cursor.valid();) {
        const Seq first = cursor.first();
        std::string stored(cursor.stored());
        cursor.next();
        // The last chunk of a log has no end to tell yet: it stays.
        if (!cursor.valid() || cursor.first() > before) break;
        segment.next = cursor.first();
        const bool there = !archived_chunk(stored);
        const bool gap = !segment.parts.empty() && segment.end != first;
        if (there && gap) {
            segment.next = first;
            break;
        }
        if (there) {
            segment.parts.push_back({first, stored.size()});
            segment.bytes += stored;
            segment.end = cursor.first();
        }
        if (segment.bytes.size() >= segment_bytes) return segment;
    }
    if (cursor.why() != "OK") {
        return base::fail(base::ErrorCode::tamper, "the log cannot be read: " + cursor.why());
    }
    if (segment.parts.empty()) segment.next = 0;
    return segment;
}

base::Result<blobstore::Pinned> upload(blobstore::Store& blobs, std::string_view bytes) {
    auto target = blobs.upload({});
    if (!target) return base::fail(std::move(target.error()));
    if (auto done = (*target)->append(bytes); !done) return base::fail(std::move(done.error()));
    return (*target)->finish();
}

}  // namespace

base::Result<Archived> RocksLog::archive(std::string_view model, Seq before) {
    blobstore::Store* const blobs = place_.options.blobs;
    if (blobs == nullptr) {
        return base::fail(base::ErrorCode::unsupported, "this log has no blob store beside it");
    }
    const auto end = head(model);
    if (!end) return base::fail(end.error());
    before = std::min(before, end->seq);
    Archived total;
    for (Seq from = 1; from != 0;) {
        auto segment = reading([&] {
            ChunkCursor cursor(*database_, blobs, model);
            return gather(cursor, from, before);
        });
        if (!segment) return base::fail(std::move(segment.error()));
        from = segment->next;
        if (segment->parts.empty()) continue;
        // Durable before anything points to it; kept from collection until that points to it.
        const auto stored = upload(*blobs, segment->bytes);
        if (!stored) return base::fail(stored.error());
        rocksdb::WriteBatch batch;
        std::uint64_t offset = 0;
        for (const auto& part : segment->parts) {
            const auto where = archived_text({stored->stat.digest, offset, part.size});
            batch.Put(rocks_chunk_key(model, part.first), where);
            offset += part.size;
        }
        const Seq first = segment->parts.front().first;
        batch.Put(rocks_archive_key(model, first), stored->stat.digest.hex());
        if (auto done = write_apart(batch); !done) return base::fail(std::move(done.error()));
        ++total.blobs;
        total.records += segment->end - first;
        total.bytes += segment->bytes.size();
        total.to = segment->end - 1;
    }
    if (total.blobs != 0) reclaim(model);
    return total;
}

base::Result<void> RocksLog::write_apart(rocksdb::WriteBatch& batch) {
    const std::scoped_lock lock(writing_);
    if (auto writable = make_writable(); !writable) return writable;
    const auto status = database_->Write(write_options(), &batch);
    if (status.ok()) return {};
    failed_ = true;
    return base::fail(rocks_write_error(status));
}

// What was archived still fills the database's files until they are written anew.
void RocksLog::reclaim(std::string_view model) {
    static_cast<void>(reading([&]() -> base::Result<void> {
        rocksdb::CompactRangeOptions options;
        options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
        options.blob_garbage_collection_age_cutoff = 1.0;
        options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
        const std::string first = rocks_chunk_key(model, 0);
        const std::string last = rocks_chunk_key(model, ~Seq{0});
        const rocksdb::Slice begin(first);
        const rocksdb::Slice end(last);
        const auto status = database_->CompactRange(options, &begin, &end);
        if (!status.ok()) return base::fail(rocks_error("compact the log", status));
        return {};
    }));
}

base::Result<std::vector<base::Digest>> RocksLog::archived_blobs(std::string_view model) {
    return reading([&]() -> base::Result<std::vector<base::Digest>> {
        const std::string last = rocks_archive_key(model, ~Seq{0});
        const rocksdb::Slice end(last);
        rocksdb::ReadOptions options;
        options.iterate_upper_bound = &end;
        std::vector<base::Digest> digests;
        const std::unique_ptr<rocksdb::Iterator> entry(database_->NewIterator(options));
        for (entry->Seek(rocks_archive_key(model, 0)); entry->Valid(); entry->Next()) {
            const auto digest = base::Digest::from_hex(entry->value().ToStringView());
            if (!digest) return base::fail(base::ErrorCode::tamper, "an archived segment's name");
            digests.push_back(*digest);
        }
        if (!entry->status().ok())
            return base::fail(rocks_error("read the archived segments", entry->status()));
        return digests;
    });
}

}  // namespace engine
