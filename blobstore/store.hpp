#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "blobstore/pins.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace blobstore {

struct BlobStat {
    base::Digest digest;
    std::uint64_t size = 0;
    /// When these bytes were last put.
    base::Timestamp put_at;
};

/// A blob that exists, durably, and that garbage collection leaves alone while `pin` lives.
struct Pinned {
    BlobStat stat;
    Pin pin;
};

struct UploadOptions {
    /// `finish` refuses bytes that hash to anything else.
    std::optional<base::Digest> expected = std::nullopt;
    std::uint64_t bytes_max = std::uint64_t{16} << 30U;
};

/// A blob that is being written. Nothing is visible to readers before `finish`; an object that ends
/// without it leaves nothing behind. One thread at a time; may be kept open for long (its bytes
/// count against the quota); must not outlive the store.
class Upload {
public:
    virtual ~Upload() = default;
    /// too_large above `bytes_max`, limit above the store's quota or on a full disk. After an error
    /// the upload can only be dropped.
    virtual base::Result<void> append(std::string_view bytes) = 0;
    /// Bytes taken so far: where the next `append` goes.
    [[nodiscard]] virtual std::uint64_t offset() const = 0;
    /// Makes the blob durable; validation when the bytes are not the expected ones: the caller
    /// announced others. Called once.
    virtual base::Result<Pinned> finish() = 0;
};

/// A stream of verified bytes. One thread at a time. Needs neither the store nor a pin: a blob that
/// is collected meanwhile is still read to its end.
class Reader {
public:
    virtual ~Reader() = default;
    /// Bytes that the whole stream has.
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// The next piece (at most 128 KiB, valid until the next call); empty at the end. A damaged
    /// blob is `tamper`, naming the URN.
    virtual base::Result<std::string_view> next() = 0;
};

struct Range {
    std::uint64_t offset = 0;
    /// Absent, or reaching beyond the end: to the end.
    std::optional<std::uint64_t> length = std::nullopt;
};

struct Usage {
    std::uint64_t blobs = 0;
    std::uint64_t bytes = 0;
    /// Held by uploads that are not finished: bytes that are put again count twice until they are.
    std::uint64_t bytes_reserved = 0;
    std::uint64_t bytes_quota = 0;
};

struct Collection {
    /// Blobs put within this time are kept, whoever refers to them.
    base::Duration grace = base::seconds(3600);
    /// Count only.
    bool dry_run = false;
    /// Called after each removal (or, in a dry run, for each blob that would go).
    std::function<void(const BlobStat&)> collected = {};
};

struct CollectionReport {
    std::uint64_t blobs_kept = 0;
    std::uint64_t blobs_collected = 0;
    std::uint64_t bytes_collected = 0;
};

/// Everything that is referred to: by the log, by running jobs, by uploads in progress.
using Mark = std::function<base::Result<std::unordered_set<base::Digest>>()>;

/// Immutable bytes by their sha256: the same bytes are one blob. Thread-safe. Every call may block
/// on the disk: use the worker pool.
///
/// A reference to a blob may be made durable only while a pin on it is held (from `finish` or
/// `pin`); then no collection loses it, however the two interleave.
class Store {
public:
    virtual ~Store() = default;

    virtual base::Result<std::unique_ptr<Upload>> upload(const UploadOptions& options) = 0;

    /// All bytes, verified; too_large when there are more than `bytes_max`.
    virtual base::Result<std::string> bytes(
        const base::Digest& digest, std::uint64_t bytes_max
    ) = 0;
    /// The whole blob, hashed while it is read: the last piece is handed out only when the digest
    /// is right, so whoever takes a stream that ended well has the right bytes. A blob of one piece
    /// is verified before anything of it is seen.
    virtual base::Result<std::unique_ptr<Reader>> read(const base::Digest& digest) = 0;
    /// A part; every piece is verified before it is handed out. The first such read of a blob
    /// hashes the whole of it. validation when the offset is beyond the end.
    virtual base::Result<std::unique_ptr<Reader>> read_range(
        const base::Digest& digest, Range range
    ) = 0;

    /// not_found when there is no such blob. Says nothing about the bytes being right.
    virtual base::Result<BlobStat> stat(const base::Digest& digest) = 0;
    /// As `stat`, and keeps the blob while the pin lives.
    virtual base::Result<Pinned> pin(const base::Digest& digest) = 0;

    /// At most `count_max` blobs with digests greater than `after`, in order.
    virtual base::Result<std::vector<BlobStat>> list(
        std::optional<base::Digest> after, std::size_t count_max
    ) = 0;
    [[nodiscard]] virtual Usage usage() const = 0;

    /// Removes what `mark` does not name, is not pinned, was neither pinned nor put since this call
    /// began, and is older than the grace. `mark` is called once. conflict when one is running.
    virtual base::Result<CollectionReport> collect(
        const Collection& collection, const Mark& mark
    ) = 0;
};

/// All of `bytes` as one blob.
base::Result<Pinned> put(Store& store, std::string_view bytes);

/// Reads the whole blob and says whether it is what its name says.
base::Result<void> verify(Store& store, const base::Digest& digest);

}  // namespace blobstore
