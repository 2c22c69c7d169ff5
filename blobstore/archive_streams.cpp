#include "base/files.hpp"
#include "blobstore/archive.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace blobstore {

ByteSink sink_to(int fd) {
    return [fd](std::string_view bytes) { return base::write_all(fd, bytes); };
}

namespace {

constexpr std::size_t source_piece_bytes = std::size_t{128} << 10U;

}  // namespace

ByteSource source_from(int fd) {
    return [fd, buffer = std::vector<char>(source_piece_bytes)](
           ) mutable -> base::Result<std::string_view> {
        for (;;) {
            const ssize_t count = ::read(fd, buffer.data(), buffer.size());
            if (count >= 0) return std::string_view(buffer.data(), static_cast<std::size_t>(count));
            if (errno != EINTR) return base::fail(base::errno_error("read"));
        }
    };
}

ByteSource source_from(Reader& reader) {
    return [&reader] { return reader.next(); };
}

base::Result<void> ArchiveWriter::add_file(
    std::string_view name, const std::filesystem::path& file
) {
    const base::FileDescriptor handle(
        ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    );
    if (!handle) return base::fail(base::errno_error("open " + file.string()));
    struct stat status{};
    if (::fstat(handle.value(), &status) != 0) {
        return base::fail(base::errno_error("stat " + file.string()));
    }
    if (!S_ISREG(status.st_mode)) {
        return base::fail(base::ErrorCode::validation, file.string() + " is not a regular file");
    }
    return add_stream(
        name,
        static_cast<std::uint64_t>(status.st_size),
        source_from(handle.value()),
        status.st_mode & 0777U
    );
}

}  // namespace blobstore
