#include "blobstore/chunk_digests.hpp"

#include <string_view>

namespace blobstore {

namespace {

std::size_t bytes_of(const ChunkDigests& chunks) {
    return sizeof chunks + chunks.digests.size() * sizeof(base::Digest);
}

}  // namespace

base::Result<ChunkDigests> digest_chunks(const OpenBlob& blob) {
    ChunkDigests chunks;
    std::vector<char> buffer(ChunkDigests::chunk_bytes);
    base::Sha256 whole;
    for (;;) {
        const auto count = read_at(blob, buffer, chunks.size);
        if (!count) return base::fail(count.error());
        if (*count == 0) break;
        const std::string_view bytes(buffer.data(), *count);
        whole.update(bytes);
        chunks.digests.push_back(base::sha256(bytes));
        chunks.size += *count;
    }
    if (const auto digest = whole.finish(); digest != blob.digest) {
        return base::fail(damaged(blob.digest, "its bytes hash to sha256 " + digest.hex()));
    }
    return chunks;
}

base::Result<std::shared_ptr<const ChunkDigests>> ChunkDigestCache::digests(const OpenBlob& blob) {
    auto known = state_.with([&](State& state) { return find(state, blob.digest); });
    if (known) return known;
    auto read = digest_chunks(blob);
    if (!read) return base::fail(std::move(read.error()));
    auto chunks = std::make_shared<const ChunkDigests>(std::move(*read));
    insert(blob.digest, chunks);
    return chunks;
}

std::shared_ptr<const ChunkDigests> ChunkDigestCache::find(
    State& state, const base::Digest& digest
) {
    const auto found = state.by_digest.find(digest);
    if (found == state.by_digest.end()) return nullptr;
    state.recent.splice(state.recent.begin(), state.recent, found->second);
    return found->second->chunks;
}

void ChunkDigestCache::insert(
    const base::Digest& digest, std::shared_ptr<const ChunkDigests> chunks
) {
    state_.with([&](State& state) {
        if (find(state, digest)) return;
        state.bytes += bytes_of(*chunks);
        state.recent.push_front({digest, std::move(chunks)});
        state.by_digest[digest] = state.recent.begin();
        while (state.bytes > bytes_max_ && state.recent.size() > 1) {
            const auto& last = state.recent.back();
            state.bytes -= bytes_of(*last.chunks);
            state.by_digest.erase(last.digest);
            state.recent.pop_back();
        }
    });
}

}  // namespace blobstore
