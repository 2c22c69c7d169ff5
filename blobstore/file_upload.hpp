#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"
#include "blobstore/disk.hpp"
#include "blobstore/quota.hpp"
#include "blobstore/store.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace blobstore {

/// What an upload borrows from its store.
struct UploadTarget {
    const Layout& layout;
    BlobFolders& folders;
    PinTable& pins;
    Quota& quota;
    const base::Clock& clock;
};

/// A file in `tmp` that becomes a blob: hashed while written, made durable, renamed. The rename
/// also happens when the blob exists: that heals a damaged one, and its new time keeps it through
/// the grace of a collection.
class FileUpload final : public Upload {
public:
    static base::Result<std::unique_ptr<Upload>> begin(
        UploadTarget target, const UploadOptions& options
    );
    FileUpload(
        UploadTarget target,
        UploadOptions options,
        std::filesystem::path path,
        base::FileDescriptor file
    );
    ~FileUpload() override;
    FileUpload(const FileUpload&) = delete;
    FileUpload& operator=(const FileUpload&) = delete;

    base::Result<void> append(std::string_view bytes) override;
    [[nodiscard]] std::uint64_t offset() const override { return offset_; }
    base::Result<Pinned> finish() override;

private:
    base::Result<base::Timestamp> make_file_durable();
    base::Result<void> move_into_place(const base::Digest& digest);
    void abandon();

    UploadTarget target_;
    UploadOptions options_;
    std::filesystem::path path_;
    base::FileDescriptor file_;
    base::Sha256 hasher_;
    std::uint64_t offset_ = 0;
    std::uint64_t reserved_ = 0;
};

}  // namespace blobstore
