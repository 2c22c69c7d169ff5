#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "base/running_clock.hpp"
#include "blobstore/chunk_digests.hpp"
#include "blobstore/disk.hpp"
#include "blobstore/pins.hpp"
#include "blobstore/quota.hpp"
#include "blobstore/store.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace blobstore {

struct FileStoreOptions {
    /// The store's own folder, made (0700) when it does not exist; nothing else may write there.
    std::filesystem::path folder;
    std::uint64_t bytes_quota = std::uint64_t{1} << 40U;
    /// Changes nothing in the folder, and does not lock it: whoever opens it keeps writers away.
    bool read_only = false;
    /// Must outlive the store.
    const base::Clock& clock = base::system_clock();
};

/// Blobs as files, see Layout. A process killed at any moment leaves of each blob nothing or a
/// complete one; what is left in `tmp` is removed by the next `open`.
class FileStore final : public Store {
public:
    /// Sweeps `tmp` and counts what is there. conflict when another process has the store open.
    static base::Result<std::unique_ptr<FileStore>> open(const FileStoreOptions& options);

    base::Result<std::unique_ptr<Upload>> upload(const UploadOptions& options) override;
    base::Result<std::string> bytes(const base::Digest& digest, std::uint64_t bytes_max) override;
    /// Both ways of reading find damage before they return (they read twice), and what is damaged
    /// after that while it is read.
    base::Result<std::unique_ptr<Reader>> read(const base::Digest& digest) override;
    base::Result<std::unique_ptr<Reader>> read_range(const base::Digest& digest, Range range)
        override;
    base::Result<BlobStat> stat(const base::Digest& digest) override;
    base::Result<Pinned> pin(const base::Digest& digest) override;
    base::Result<std::vector<BlobStat>> list(
        std::optional<base::Digest> after, std::size_t count_max
    ) override;
    [[nodiscard]] Usage usage() const override { return quota_.usage(); }
    base::Result<CollectionReport> collect(const Collection& collection, const Mark& mark) override;

private:
    explicit FileStore(const FileStoreOptions& options);
    base::Result<void> prepare_folders();
    base::Result<void> count_folder(std::size_t index);
    /// The blob, when it was due and is gone (or would be, in a dry run).
    base::Result<std::optional<BlobStat>> remove_if_due(
        const base::Digest& digest, const Collection& collection
    );

    Layout layout_;
    BlobFolders folders_;
    base::RunningClock clock_;  // set ahead, it would make all that is being put old
    base::FileDescriptor lock_;
    PinTable pins_;
    Quota quota_;
    bool read_only_;
    ChunkDigestCache chunk_digests_;
};

}  // namespace blobstore
