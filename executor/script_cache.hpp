#pragma once

#include "base/files.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace executor {

/// Verified content by its sha256, on disk. A file is written once (temporary file, fsync, rename),
/// belongs to the executor's own user, is never linked into a job's tree, and is hashed again
/// before every use: what no longer hashes to its name is written anew from verified content.
/// Thread-safe.
class ScriptCache {
public:
    static constexpr std::size_t script_bytes_max = std::size_t{64} << 20U;

    static base::Result<ScriptCache> open(const std::filesystem::path& folder);

    /// What `content` returns must hash to `sha256` and have `size` bytes, else the error is
    /// `tamper`. It is called only when the cache does not have it.
    using Content = std::function<base::Result<std::string>()>;

    /// The content, read and hashed just now: these very bytes hash to `sha256`.
    base::Result<std::string> verified(
        const base::Digest& sha256, std::uint64_t size, const Content& content
    );

private:
    ScriptCache(std::filesystem::path folder, base::FileDescriptor handle)
        : folder_(std::move(folder)), handle_(std::move(handle)) {}
    [[nodiscard]] base::Result<std::string> intact(const base::Digest& sha256) const;

    std::filesystem::path folder_;
    base::FileDescriptor handle_;
};

}  // namespace executor
