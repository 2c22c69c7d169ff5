#pragma once

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "blobstore/store.hpp"
#include "jobs/lease.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace transitions {

/// Output of running jobs on its way into the blob store, by lease and stream. Flat in memory.
/// Thread-safe; blocks on the disk. See jobs/routes.hpp for the rules.
class Uploads {
public:
    explicit Uploads(blobstore::Store& store) : store_(store) {}

    struct Chunk {
        jobs::LeaseId lease;
        std::string stream;
        std::uint64_t offset = 0;
        std::string bytes;
        std::uint64_t bytes_max = 0;         ///< of the whole stream
        std::optional<base::Digest> sha256;  ///< of the whole, with the last chunk
        std::uint64_t size = 0;              ///< of the whole, with the last chunk
    };
    struct State {
        std::uint64_t size = 0;
        bool finished = false;
    };
    base::Result<State> add(Chunk chunk);

    /// Bytes that came inline, kept as if they had been uploaded.
    base::Result<void> keep(
        const jobs::LeaseId& lease, const std::string& stream, std::string_view bytes
    );

    /// True when the lease uploaded these bytes as this stream.
    [[nodiscard]] bool has(
        const jobs::LeaseId& lease, const std::string& stream, const base::Digest& digest
    ) const;
    /// The lease is over and its result durable: pins and rests go.
    void forget(const jobs::LeaseId& lease);
    [[nodiscard]] std::unordered_set<base::Digest> referenced() const;

private:
    struct Stream {
        std::mutex busy;
        std::unique_ptr<blobstore::Upload> upload;
        std::optional<blobstore::Pinned> done;
    };
    using Key = std::pair<jobs::LeaseId, std::string>;
    std::shared_ptr<Stream> stream_of(const Key& key);
    static base::Result<State> finish(Stream& stream, const Chunk& chunk);

    blobstore::Store& store_;
    base::Guarded<std::map<Key, std::shared_ptr<Stream>>>
        streams_;  // shared: one request may still use it
};

}  // namespace transitions
