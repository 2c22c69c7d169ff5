#include "blobstore/disk.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace blobstore {

namespace {

FileStat file_stat(const struct stat& status) {
    return {
        .size = static_cast<std::uint64_t>(status.st_size),
        .modified = {status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1000}
    };
}

std::optional<base::Digest> digest_of(std::size_t folder_index, const std::string& name) {
    return base::Digest::from_hex(fmt::format("{:02x}{}", folder_index, name));
}

}  // namespace

std::filesystem::path Layout::folder(std::size_t index) const {
    return root_ / fmt::format("{:02x}", index);
}

std::filesystem::path Layout::blob(const base::Digest& digest) const {
    return folder(digest) / digest.hex().substr(2);
}

base::Result<void> make_folder(const std::filesystem::path& folder) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return base::fail(base::errno_error("make folder " + folder.string()));
    }
    return {};
}

base::Result<void> BlobFolders::open() {
    std::bitset<Layout::folder_count> present;
    for (std::size_t index = 0; index < Layout::folder_count; ++index) {
        present[index] = std::filesystem::is_directory(layout_.folder(index));
    }
    // Whoever made them, or put something there, may have died before it was durable. What is seen
    // from here on must be.
    if (auto synced = base::sync_folder(layout_.root()); !synced) return synced;
    for (std::size_t index = 0; index < Layout::folder_count; ++index) {
        if (!present[index]) continue;
        if (auto synced = base::sync_folder(layout_.folder(index)); !synced) return synced;
    }
    durable_.with([&](auto& durable) { durable = present; });
    return {};
}

base::Result<void> BlobFolders::provide(std::size_t index) {
    if (durable_.with([&](const auto& durable) { return durable.test(index); })) return {};
    // Several threads may come here at once; each syncs, so none relies on another's fsync.
    if (auto made = make_folder(layout_.folder(index)); !made) return made;
    if (auto synced = base::sync_folder(layout_.root()); !synced) return synced;
    durable_.with([&](auto& durable) { durable.set(index); });
    return {};
}

base::Result<std::vector<base::Digest>> blobs_in(const Layout& layout, std::size_t index) {
    const auto folder = layout.folder(index);
    std::vector<base::Digest> digests;
    std::error_code error;
    auto entry = std::filesystem::directory_iterator(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto digest = digest_of(index, entry->path().filename().string());
        if (digest) {
            digests.push_back(*digest);
        } else {
            base::log_warning(
                fmt::format("{} is not a blob and is left alone", entry->path().string())
            );
        }
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return base::fail(
            base::ErrorCode::internal,
            fmt::format("list folder {}: {}", folder.string(), error.message())
        );
    }
    std::ranges::sort(digests);
    return digests;
}

base::Result<FileStat> stat_blob(const Layout& layout, const base::Digest& digest) {
    struct stat status{};
    if (::lstat(layout.blob(digest).c_str(), &status) != 0) {
        if (errno == ENOENT) return base::fail(absent(digest));
        return base::fail(base::errno_error("stat blob " + base::blob_urn(digest)));
    }
    if (!S_ISREG(status.st_mode)) {
        return base::fail(damaged(digest, "what lies in its place is not a regular file"));
    }
    return file_stat(status);
}

base::Result<OpenBlob> open_blob(const Layout& layout, const base::Digest& digest) {
    base::FileDescriptor file(
        ::open(layout.blob(digest).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    );
    if (!file) {
        if (errno == ENOENT) return base::fail(absent(digest));
        if (errno == ELOOP) return base::fail(damaged(digest, "a symbolic link lies in its place"));
        return base::fail(base::errno_error("open blob " + base::blob_urn(digest)));
    }
    struct stat status{};
    if (::fstat(file.value(), &status) != 0) {
        return base::fail(base::errno_error("stat blob " + base::blob_urn(digest)));
    }
    if (!S_ISREG(status.st_mode)) {
        return base::fail(damaged(digest, "what lies in its place is not a regular file"));
    }
    return OpenBlob{digest, std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

base::Result<std::size_t> read_at(
    const OpenBlob& blob, std::span<char> buffer, std::uint64_t offset
) {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const auto rest = buffer.subspan(filled);
        const ssize_t count = ::pread(
            blob.file.value(), rest.data(), rest.size(), static_cast<off_t>(offset + filled)
        );
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            return base::fail(base::errno_error("read blob " + base::blob_urn(blob.digest)));
        }
        if (count == 0) break;
        filled += static_cast<std::size_t>(count);
    }
    return filled;
}

base::Result<void> append_to_file(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int number = errno;
            auto error = base::errno_error("write a blob");
            if (number == ENOSPC || number == EDQUOT || number == EFBIG) {
                error.code = base::ErrorCode::limit;
                error.next = "free space on the disk, or run 'netwright blob gc'";
            }
            return base::fail(std::move(error));
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

base::Result<void> sync_all(const std::filesystem::path& folder) {
    const base::FileDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!handle || ::syncfs(handle.value()) != 0) {
        return base::fail(base::errno_error("sync " + folder.string()));
    }
    return {};
}

void empty_folder(const std::filesystem::path& folder) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        std::filesystem::remove_all(entry.path(), error);
}

base::Error damaged(const base::Digest& digest, std::string_view why) {
    return {
        base::ErrorCode::tamper,
        fmt::format("blob {} is damaged: {}", base::blob_urn(digest), why),
        "put the same bytes again, or restore them from a backup",
        {}
    };
}

base::Error absent(const base::Digest& digest) {
    return {
        base::ErrorCode::not_found,
        fmt::format("blob {} is not in this store", base::blob_urn(digest)),
        "put its bytes, or restore them from a backup",
        {}
    };
}

}  // namespace blobstore
