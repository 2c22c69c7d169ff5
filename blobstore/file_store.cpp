#include "blobstore/file_store.hpp"

#include "base/log.hpp"
#include "blobstore/file_reader.hpp"
#include "blobstore/file_upload.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

namespace blobstore {

namespace {

// A record lock, not flock: a forked child does not inherit it, so a child that outlives a killed
// process cannot keep the store shut.
base::Result<base::FileDescriptor> lock(const std::filesystem::path& path) {
    base::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return base::fail(base::errno_error("open " + path.string()));
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(file.value(), F_SETLK, &whole) == 0) return file;
    if (errno != EACCES && errno != EAGAIN) {
        return base::fail(base::errno_error("lock " + path.string()));
    }
    return base::fail(
        base::ErrorCode::conflict,
        fmt::format("another process has the blob store {} open", path.parent_path().string()),
        "stop it, or use its API"
    );
}

base::Result<void> sweep(const std::filesystem::path& temporary_folder) {
    std::error_code error;
    std::size_t swept = 0;
    auto entry = std::filesystem::directory_iterator(temporary_folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (::unlink(entry->path().c_str()) != 0) {
            return base::fail(base::errno_error("remove " + entry->path().string()));
        }
        ++swept;
    }
    if (error) {
        return base::fail(
            base::ErrorCode::internal,
            fmt::format("list folder {}: {}", temporary_folder.string(), error.message())
        );
    }
    if (swept > 0) {
        base::log_info(fmt::format("blob store: removed {} unfinished uploads", swept));
    }
    return {};
}

// Who reads may have to promise that it will succeed before the first byte (the status of an HTTP
// response): damage is found before.
base::Result<void> drain(Reader& reader) {
    for (;;) {
        const auto piece = reader.next();
        if (!piece) return base::fail(piece.error());
        if (piece->empty()) return {};
    }
}

BlobStat blob_stat(const base::Digest& digest, const FileStat& status) {
    return {digest, status.size, status.modified};
}

}  // namespace

FileStore::FileStore(const FileStoreOptions& options)
    : layout_(options.folder),
      folders_(layout_),
      clock_(options.clock),
      quota_(options.bytes_quota),
      read_only_(options.read_only) {}

base::Result<std::unique_ptr<FileStore>> FileStore::open(const FileStoreOptions& options) {
    if (options.read_only) return std::unique_ptr<FileStore>(new FileStore(options));
    std::error_code error;
    const auto folder = std::filesystem::absolute(options.folder, error);
    if (!folder.parent_path().empty()) {
        std::filesystem::create_directories(folder.parent_path(), error);
    }
    std::unique_ptr<FileStore> store(new FileStore(options));
    if (auto made = make_folder(options.folder); !made) return base::fail(made.error());
    auto locked = lock(store->layout_.lock_file());
    if (!locked) return base::fail(locked.error());
    store->lock_ = std::move(*locked);
    if (auto prepared = store->prepare_folders(); !prepared) return base::fail(prepared.error());
    for (std::size_t index = 0; index < Layout::folder_count; ++index) {
        if (auto counted = store->count_folder(index); !counted) {
            return base::fail(counted.error());
        }
    }
    return store;
}

base::Result<void> FileStore::prepare_folders() {
    if (auto made = make_folder(layout_.temporary_folder()); !made) return made;
    if (auto opened = folders_.open(); !opened) return opened;
    if (auto synced = base::sync_folder(layout_.root() / ".."); !synced) return synced;
    return sweep(layout_.temporary_folder());
}

base::Result<void> FileStore::count_folder(std::size_t index) {
    const auto digests = blobs_in(layout_, index);
    if (!digests) return base::fail(digests.error());
    for (const auto& digest : *digests) {
        if (const auto status = stat_blob(layout_, digest)) {
            quota_.add(status->size);
        } else {
            base::log_warning(status.error().message);
        }
    }
    return {};
}

base::Result<std::unique_ptr<Upload>> FileStore::upload(const UploadOptions& options) {
    base::check(!read_only_, "an upload into a store that was opened to be read");
    return FileUpload::begin({layout_, folders_, pins_, quota_, clock_}, options);
}

base::Result<std::string> FileStore::bytes(const base::Digest& digest, std::uint64_t bytes_max) {
    const auto blob = open_blob(layout_, digest);
    if (!blob) return base::fail(blob.error());
    if (blob->size > bytes_max) {
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format(
                "blob {} has {} bytes; at most {} are taken here",
                base::blob_urn(digest),
                blob->size,
                bytes_max
            )
        );
    }
    return read_whole(*blob);
}

base::Result<std::unique_ptr<Reader>> FileStore::read(const base::Digest& digest) {
    auto blob = open_blob(layout_, digest);
    if (!blob) return base::fail(std::move(blob.error()));
    auto again = open_blob(layout_, digest);
    if (!again) return base::fail(std::move(again.error()));
    if (auto whole = drain(*whole_reader(std::move(*blob))); !whole)
        return base::fail(whole.error());
    return whole_reader(std::move(*again));
}

base::Result<std::unique_ptr<Reader>> FileStore::read_range(
    const base::Digest& digest, Range range
) {
    auto blob = open_blob(layout_, digest);
    if (!blob) return base::fail(std::move(blob.error()));
    auto chunks = chunk_digests_.digests(*blob);
    if (!chunks) return base::fail(std::move(chunks.error()));
    const std::uint64_t size = (*chunks)->size;
    if (blob->size != size) {
        return base::fail(damaged(digest, fmt::format("it no longer has {} bytes", size)));
    }
    if (range.offset > size) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format(
                "blob {} has {} bytes; there is nothing at {}",
                base::blob_urn(digest),
                size,
                range.offset
            )
        );
    }
    const std::uint64_t rest = size - range.offset;
    range.length = std::min(range.length.value_or(rest), rest);
    auto again = open_blob(layout_, digest);
    if (!again) return base::fail(std::move(again.error()));
    if (auto whole = drain(*range_reader(std::move(*blob), *chunks, range)); !whole)
        return base::fail(whole.error());
    return range_reader(std::move(*again), std::move(*chunks), range);
}

base::Result<BlobStat> FileStore::stat(const base::Digest& digest) {
    const auto status = stat_blob(layout_, digest);
    if (!status) return base::fail(status.error());
    return blob_stat(digest, *status);
}

base::Result<Pinned> FileStore::pin(const base::Digest& digest) {
    auto pin = pins_.pin(digest);
    const auto status = stat_blob(layout_, digest);
    if (!status) return base::fail(status.error());
    return Pinned{blob_stat(digest, *status), std::move(pin)};
}

base::Result<std::vector<BlobStat>> FileStore::list(
    std::optional<base::Digest> after, std::size_t count_max
) {
    std::vector<BlobStat> page;
    for (std::size_t index = after ? after->bytes[0] : 0; index < Layout::folder_count; ++index) {
        const auto digests = blobs_in(layout_, index);
        if (!digests) return base::fail(digests.error());
        for (const auto& digest : *digests) {
            if (after && digest <= *after) continue;
            if (page.size() == count_max) return page;
            // One that was collected meanwhile is not an error of the list.
            if (const auto status = stat_blob(layout_, digest)) {
                page.push_back(blob_stat(digest, *status));
            }
        }
    }
    return page;
}

base::Result<CollectionReport> FileStore::collect(const Collection& collection, const Mark& mark) {
    base::check(!read_only_, "a collection of a store that was opened to be read");
    if (!pins_.begin_collection()) {
        return base::fail(base::ErrorCode::conflict, "a collection of the blob store is running");
    }
    struct End {
        PinTable& pins;
        ~End() { pins.end_collection(); }
    };
    const End end{pins_};
    const auto marked = mark();
    if (!marked) return base::fail(marked.error());
    CollectionReport report;
    for (std::size_t index = 0; index < Layout::folder_count; ++index) {
        const auto digests = blobs_in(layout_, index);
        if (!digests) return base::fail(digests.error());
        for (const auto& digest : *digests) {
            std::optional<BlobStat> gone;
            if (!marked->contains(digest)) {
                auto removed = remove_if_due(digest, collection);
                if (!removed) return base::fail(removed.error());
                gone = *removed;
            }
            if (!gone) {
                ++report.blobs_kept;
                continue;
            }
            ++report.blobs_collected;
            report.bytes_collected += gone->size;
            if (collection.collected) collection.collected(*gone);
        }
    }
    return report;
}

base::Result<std::optional<BlobStat>> FileStore::remove_if_due(
    const base::Digest& digest, const Collection& collection
) {
    const auto claim = pins_.claim_for_removal(digest);
    if (!claim) return std::nullopt;
    const auto status = stat_blob(layout_, digest);
    if (!status) {
        base::log_warning(status.error().message);
        return std::nullopt;
    }
    if (status->modified > clock_.now() - collection.grace) return std::nullopt;
    if (!collection.dry_run) {
        if (::unlink(layout_.blob(digest).c_str()) != 0) {
            return base::fail(base::errno_error("remove blob " + base::blob_urn(digest)));
        }
        quota_.remove(status->size);
    }
    return blob_stat(digest, *status);
}

}  // namespace blobstore
