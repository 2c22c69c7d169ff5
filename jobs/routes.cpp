#include "jobs/routes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace jobs::routes {

bool valid_executor_id(std::string_view id) {
    if (id.empty() || id.size() > 64) return false;
    const auto letter_or_digit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    };
    return letter_or_digit(id.front()) && std::ranges::all_of(id, [&](char c) {
               return letter_or_digit(c) || c == '.' || c == '_' || c == '-';
           });
}

std::string sync_path(std::string_view executor) {
    return fmt::format("/api/executors/{}/sync", executor);
}

std::string output_path(std::string_view executor, const OutputChunk& chunk) {
    return fmt::format(
        "/api/executors/{}/leases/{}/output/{}?fencing={}&offset={}",
        executor,
        chunk.lease.text,
        chunk.stream,
        chunk.fencing,
        chunk.offset
    );
}

std::string last_output_path(
    std::string_view executor,
    const OutputChunk& chunk,
    const base::Digest& sha256,
    std::uint64_t size
) {
    return fmt::format("{}&sha256={}&size={}", output_path(executor, chunk), sha256.hex(), size);
}

std::string content_path(
    std::string_view executor, const LeaseRef& lease, const base::Digest& sha256
) {
    return fmt::format(
        "/api/executors/{}/leases/{}/content/{}?fencing={}",
        executor,
        lease.lease.text,
        sha256.hex(),
        lease.fencing
    );
}

}  // namespace jobs::routes
