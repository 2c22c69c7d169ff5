#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/guarded.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace blobstore {

/// Where things lie: `ROOT/ab/<62 hex>` is a blob (0400), `ROOT/tmp/` holds what is being written
/// (0600), `ROOT/lock` is locked by the one process that has the store open.
class Layout {
public:
    static constexpr std::size_t folder_count = 256;

    explicit Layout(std::filesystem::path root) : root_(std::move(root)) {}

    [[nodiscard]] const std::filesystem::path& root() const { return root_; }
    [[nodiscard]] std::filesystem::path temporary_folder() const { return root_ / "tmp"; }
    [[nodiscard]] std::filesystem::path lock_file() const { return root_ / "lock"; }
    [[nodiscard]] std::filesystem::path folder(std::size_t index) const;
    [[nodiscard]] std::filesystem::path folder(const base::Digest& digest) const {
        return folder(digest.bytes[0]);
    }
    [[nodiscard]] std::filesystem::path blob(const base::Digest& digest) const;

private:
    std::filesystem::path root_;
};

/// The 256 folders, made when first needed. Thread-safe.
class BlobFolders {
public:
    explicit BlobFolders(const Layout& layout) : layout_(layout) {}
    /// Makes durable what lies in the folders that exist. Once, before anything else.
    base::Result<void> open();
    /// The folder exists, durably, when this returns.
    base::Result<void> provide(std::size_t index);

private:
    const Layout& layout_;
    base::Guarded<std::bitset<Layout::folder_count>> durable_;
};

/// The blobs whose files lie in one folder, in order; none when there is no such folder. Files that
/// have no blob's name are passed over with a warning.
base::Result<std::vector<base::Digest>> blobs_in(const Layout& layout, std::size_t index);

/// 0700; not an error when it exists.
base::Result<void> make_folder(const std::filesystem::path& folder);

struct FileStat {
    std::uint64_t size = 0;
    base::Timestamp modified;
};

/// not_found when there is no such blob; tamper when what lies there is no regular file.
base::Result<FileStat> stat_blob(const Layout& layout, const base::Digest& digest);

struct OpenBlob {
    base::Digest digest;
    base::FileDescriptor file;
    std::uint64_t size = 0;
};

/// As `stat_blob`; a symbolic link is not followed, a FIFO does not block.
base::Result<OpenBlob> open_blob(const Layout& layout, const base::Digest& digest);

/// Fills `buffer` from `offset` on; fewer bytes only at the end of the file.
base::Result<std::size_t> read_at(
    const OpenBlob& blob, std::span<char> buffer, std::uint64_t offset
);

/// `limit` with the way out when the disk is full.
base::Result<void> append_to_file(int fd, std::string_view bytes);

/// All that was written below the folder is on the disk.
base::Result<void> sync_all(const std::filesystem::path& folder);
/// Removes what the folder holds, as far as it can.
void empty_folder(const std::filesystem::path& folder);

/// The error of a blob whose bytes are not what its name says.
base::Error damaged(const base::Digest& digest, std::string_view why);
base::Error absent(const base::Digest& digest);

}  // namespace blobstore
