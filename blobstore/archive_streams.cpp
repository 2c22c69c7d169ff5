#include "base/files.hpp"
#include "blobstore/archive.hpp"

#include <cerrno>
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

}  // namespace blobstore
