#include "executor/uploader.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace executor {

namespace {

// A digest that is refused again and again will not become right.
constexpr int fresh_starts_max = 3;

bool never(base::ErrorCode code) {
    return code == base::ErrorCode::fenced || code == base::ErrorCode::not_found ||
           code == base::ErrorCode::validation || code == base::ErrorCode::too_large;
}

base::Result<std::string> chunk_of(int file, std::uint64_t offset) {
    std::string bytes(jobs::routes::output_chunk_bytes, '\0');
    std::size_t count = 0;
    while (count < bytes.size()) {
        const ssize_t got = ::pread(
            file, bytes.data() + count, bytes.size() - count, static_cast<off_t>(offset + count)
        );
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return base::fail(base::errno_error("read spooled output"));
        if (got == 0) break;
        count += static_cast<std::size_t>(got);
    }
    bytes.resize(count);
    return bytes;
}

}  // namespace

bool Uploader::upload(const jobs::LeaseRef& lease, FinishedJob& finished) {
    struct Stream {
        std::string_view name;
        const std::optional<std::filesystem::path>& spool;
        jobs::Output& output;
    };
    for (const Stream& stream :
         {Stream{
              jobs::routes::stdout_stream, finished.stdout_spool, finished.outcome.standard_output
          },
          Stream{
              jobs::routes::stderr_stream, finished.stderr_spool, finished.outcome.standard_error
          }}) {
        if (!stream.spool) continue;
        const auto sent =
            send({lease.lease, stream.name, lease.fencing, 0}, *stream.spool, stream.output);
        if (sent == Sent::given_up) return false;
        if (sent == Sent::refused) stream.output.keep_preview_only();
    }
    return true;
}

Uploader::Sent Uploader::send(
    const jobs::routes::OutputChunk& stream,
    const std::filesystem::path& spool,
    const jobs::Output& output
) {
    const base::FileDescriptor file(::open(spool.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        base::log_error(base::errno_error("open " + spool.string()).message);
        return Sent::refused;
    }
    int failures = 0;
    int fresh_starts = 0;
    for (auto chunk = stream;;) {
        const auto bytes = chunk_of(file.value(), chunk.offset);
        if (!bytes || (bytes->empty() && chunk.offset < output.bytes_kept)) return Sent::refused;
        std::optional<UploadEnd> end;
        if (chunk.offset + bytes->size() >= output.bytes_kept) {
            end = UploadEnd{*output.sha256, output.bytes_kept};
        }
        const auto size = connection_.upload(chunk, *bytes, end);
        if (size && end && *size == output.bytes_kept) return Sent::all;
        if (size && *size > chunk.offset && *size <= output.bytes_kept) {
            chunk.offset = *size;
            failures = 0;
            continue;
        }
        if (!size && never(size.error().code)) return Sent::refused;
        const bool other_bytes = !size && (size.error().code == base::ErrorCode::conflict ||
                                           size.error().code == base::ErrorCode::tamper);
        if (other_bytes && ++fresh_starts > fresh_starts_max) return Sent::refused;
        // From the start: chunks that are there are compared, not appended twice.
        chunk.offset = 0;
        if (!pause_(++failures)) return Sent::given_up;
    }
}

}  // namespace executor
