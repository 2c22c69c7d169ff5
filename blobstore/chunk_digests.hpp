#pragma once

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "blobstore/disk.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace blobstore {

/// What a part of a blob is held against when only that part is read. One digest a chunk, taken in
/// the same pass that showed the whole file to hash to the blob's name, and kept in memory only.
///
/// Why not a file beside the blob: it could be damaged or altered together with it, so it would
/// have to be proved by reading the whole blob anyway. And why not "verified, and since then inode,
/// size and times are the same": a decaying disk changes none of them. With the list in memory a
/// chunk that was right once can be told from any other bytes at any later time, for one pass over
/// the blob per process and 256 KiB of list per GiB.
struct ChunkDigests {
    static constexpr std::size_t chunk_bytes = std::size_t{128} << 10U;
    std::uint64_t size = 0;
    std::vector<base::Digest> digests;
};

/// Reads the whole blob; tamper when it does not hash to its name.
base::Result<ChunkDigests> digest_chunks(const OpenBlob& blob);

/// The lists of the blobs last read in part; the longest unused go first. Thread-safe.
class ChunkDigestCache {
public:
    explicit ChunkDigestCache(std::size_t bytes_max = std::size_t{16} << 20U)
        : bytes_max_(bytes_max) {}

    /// From the cache, or by reading the blob. Shared because a reader may still be using a list
    /// that the cache has let go.
    base::Result<std::shared_ptr<const ChunkDigests>> digests(const OpenBlob& blob);

private:
    struct Entry {
        base::Digest digest;
        std::shared_ptr<const ChunkDigests> chunks;
    };
    struct State {
        std::list<Entry> recent;  // the last used first
        std::unordered_map<base::Digest, std::list<Entry>::iterator> by_digest;
        std::size_t bytes = 0;
    };
    static std::shared_ptr<const ChunkDigests> find(State& state, const base::Digest& digest);
    void insert(const base::Digest& digest, std::shared_ptr<const ChunkDigests> chunks);

    std::size_t bytes_max_;
    base::Guarded<State> state_;
};

}  // namespace blobstore
