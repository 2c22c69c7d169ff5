#include "blobstore/quota.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blobstore {

namespace {

// A file that was altered behind our back may be counted with another size than it was added with:
// never below zero.
void subtract(std::uint64_t& from, std::uint64_t amount) {
    from -= std::min(from, amount);
}

}  // namespace

base::Result<void> Quota::reserve(std::uint64_t bytes) {
    return usage_.with([&](Usage& usage) -> base::Result<void> {
        const std::uint64_t taken = usage.bytes + usage.bytes_reserved;
        if (taken > usage.bytes_quota || bytes > usage.bytes_quota - taken) {
            return base::fail(
                base::ErrorCode::limit,
                fmt::format(
                    "the blob store holds {} bytes; its quota of {} bytes leaves no room for {} "
                    "more",
                    taken,
                    usage.bytes_quota,
                    bytes
                ),
                "run 'netwright blob gc', or start the server with a larger blob quota"
            );
        }
        usage.bytes_reserved += bytes;
        return {};
    });
}

void Quota::release(std::uint64_t bytes) {
    usage_.with([&](Usage& usage) { usage.bytes_reserved -= bytes; });
}

void Quota::commit(std::uint64_t bytes, std::optional<std::uint64_t> replaced) {
    usage_.with([&](Usage& usage) {
        usage.bytes_reserved -= bytes;
        usage.bytes += bytes;
        if (replaced) {
            subtract(usage.bytes, *replaced);
        } else {
            ++usage.blobs;
        }
    });
}

void Quota::add(std::uint64_t bytes) {
    usage_.with([&](Usage& usage) {
        usage.bytes += bytes;
        ++usage.blobs;
    });
}

void Quota::remove(std::uint64_t bytes) {
    usage_.with([&](Usage& usage) {
        subtract(usage.bytes, bytes);
        subtract(usage.blobs, 1);
    });
}

Usage Quota::usage() const {
    return usage_.with([](const Usage& usage) { return usage; });
}

}  // namespace blobstore
