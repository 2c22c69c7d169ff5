#include "blobstore/file_upload.hpp"

#include "base/random.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace blobstore {

base::Result<std::unique_ptr<Upload>> FileUpload::begin(
    UploadTarget target, const UploadOptions& options
) {
    auto path = target.layout.temporary_folder() / base::random_hex(16);
    base::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return base::fail(base::errno_error("create " + path.string()));
    return std::make_unique<FileUpload>(target, options, std::move(path), std::move(file));
}

FileUpload::FileUpload(
    UploadTarget target,
    UploadOptions options,
    std::filesystem::path path,
    base::FileDescriptor file
)
    : target_(target), options_(options), path_(std::move(path)), file_(std::move(file)) {}

FileUpload::~FileUpload() {
    abandon();
}

void FileUpload::abandon() {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
    file_.reset();
    target_.quota.release(std::exchange(reserved_, 0));
}

base::Result<void> FileUpload::append(std::string_view bytes) {
    base::check(static_cast<bool>(file_), "append to an upload that is over");
    if (bytes.size() > options_.bytes_max - offset_) {
        abandon();
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format("the upload has more than the {} bytes it may have", options_.bytes_max)
        );
    }
    if (auto room = target_.quota.reserve(bytes.size()); !room) {
        abandon();
        return room;
    }
    reserved_ += bytes.size();
    if (auto written = append_to_file(file_.value(), bytes); !written) {
        abandon();
        return written;
    }
    hasher_.update(bytes);
    offset_ += bytes.size();
    return {};
}

base::Result<Pinned> FileUpload::finish() {
    base::check(static_cast<bool>(file_), "finish an upload that is over");
    const auto digest = hasher_.finish();
    if (options_.expected && *options_.expected != digest) {
        abandon();
        return base::fail(
            base::ErrorCode::validation,
            fmt::format(
                "the {} bytes uploaded hash to sha256 {}, not to the expected {}",
                offset_,
                digest.hex(),
                options_.expected->hex()
            ),
            "upload the bytes that were announced, or announce the right sha256"
        );
    }
    const auto put_at = make_file_durable();
    if (!put_at) {
        abandon();
        return base::fail(put_at.error());
    }
    const auto claim = target_.pins.claim(digest);
    if (auto moved = move_into_place(digest); !moved) {
        abandon();
        return base::fail(moved.error());
    }
    return Pinned{{digest, offset_, *put_at}, target_.pins.pin(claim)};
}

base::Result<base::Timestamp> FileUpload::make_file_durable() {
    const auto now = target_.clock.now();
    const timespec time{
        .tv_sec = static_cast<time_t>(now.us / 1'000'000),
        .tv_nsec = static_cast<long>(now.us % 1'000'000 * 1000)
    };
    const timespec times[2] = {time, time};
    if (::fchmod(file_.value(), 0400) != 0 || ::futimens(file_.value(), times) != 0 ||
        ::fsync(file_.value()) != 0) {
        return base::fail(base::errno_error("fsync " + path_.string()));
    }
    return now;
}

base::Result<void> FileUpload::move_into_place(const base::Digest& digest) {
    if (auto provided = target_.folders.provide(digest.bytes[0]); !provided) return provided;
    const auto before = stat_blob(target_.layout, digest);
    if (::rename(path_.c_str(), target_.layout.blob(digest).c_str()) != 0) {
        return base::fail(base::errno_error("rename to blob " + base::blob_urn(digest)));
    }
    path_.clear();
    file_.reset();
    target_.quota.commit(
        std::exchange(reserved_, 0), before ? std::optional(before->size) : std::nullopt
    );
    return base::sync_folder(target_.layout.folder(digest));
}

}  // namespace blobstore
