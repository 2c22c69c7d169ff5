#pragma once

#include "base/sha256.hpp"
#include "jobs/lease.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The addresses an executor calls; its token opens these and no others.
namespace jobs::routes {

/// As the router of the master takes them.
inline constexpr std::string_view sync_pattern = "/api/executors/{id}/sync";
inline constexpr std::string_view output_pattern =
    "/api/executors/{id}/leases/{lease}/output/{stream}";
inline constexpr std::string_view content_pattern =
    "/api/executors/{id}/leases/{lease}/content/{sha256}";

inline constexpr std::string_view stdout_stream = "stdout";
inline constexpr std::string_view stderr_stream = "stderr";

/// Executor ids: `[a-z0-9][a-z0-9._-]*`, at most 64 bytes.
bool valid_executor_id(std::string_view id);

/// `POST`, body and answer JSON (`SyncRequest`, `SyncReply`). 409 `fenced`: the session was ended
/// by a newer one of the same executor.
std::string sync_path(std::string_view executor);

inline constexpr std::size_t output_chunk_bytes = std::size_t{1} << 20U;

/// One chunk of a stream.
struct OutputChunk {
    LeaseId lease;
    std::string_view stream;    ///< `stdout_stream` or `stderr_stream`
    std::uint64_t fencing = 0;  ///< of the lease
    std::uint64_t offset = 0;   ///< of the body's first byte in the stream
};

/// `POST <path>?fencing=F&offset=N`, body `application/octet-stream`, at most `output_chunk_bytes`,
/// may be empty. Answers `{"size": bytes that the master holds}`.
/// - offset = size: appended. offset < size: what is already there is compared, the rest appended
///   (a repeated chunk does no harm; other bytes are 409 `conflict`). offset > size: 409 `conflict`
///   with the size in the message's details; the executor goes on from `size`, which it learns with
///   an empty chunk at offset 0.
/// - the last call adds `&sha256=HEX&size=N`: the master checks length and digest of the whole,
/// makes
///   it a blob, and answers `{"size", "urn"}`. Wrong: 409 `conflict`, the upload starts anew from
///   0. Repeating the last call answers the same.
/// - a fencing number that is not in force: 409 `fenced`; what came is kept as evidence or dropped,
///   as the master likes, and the executor sends its `done` with the preview only.
std::string output_path(std::string_view executor, const OutputChunk& chunk);
std::string last_output_path(
    std::string_view executor,
    const OutputChunk& chunk,
    const base::Digest& sha256,
    std::uint64_t size
);

/// `GET` with `Range: bytes=A-B` (one range): 206 with the part, or 200 with all. Only content that
/// the job of the lease names; anything else is 404. `?fencing=F` as above.
std::string content_path(
    std::string_view executor, const LeaseRef& lease, const base::Digest& sha256
);

}  // namespace jobs::routes
