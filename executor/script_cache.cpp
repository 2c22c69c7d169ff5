#include "executor/script_cache.hpp"

#include "base/log.hpp"
#include "executor/open_beneath.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

base::Result<ScriptCache> ScriptCache::open(const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, fmt::format("make {}: {}", folder.string(), failed.message())
        );
    }
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
    base::FileDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!handle) return base::fail(base::errno_error("open " + folder.string()));
    return ScriptCache(folder, std::move(handle));
}

base::Result<std::string> ScriptCache::intact(const base::Digest& sha256) const {
    const auto file = open_beneath(handle_.value(), sha256.hex(), O_RDONLY | O_NONBLOCK);
    if (!file) return base::fail(file.error());
    struct stat status{};
    if (::fstat(file->value(), &status) != 0) return base::fail(base::errno_error("stat"));
    const bool own_plain_file =
        S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_nlink == 1;
    if (own_plain_file) {
        auto bytes =
            base::read_file(fmt::format("/proc/self/fd/{}", file->value()), script_bytes_max);
        if (bytes && base::sha256(*bytes) == sha256) return bytes;
    }
    return base::fail(
        base::ErrorCode::tamper, "the cached script " + sha256.hex() + " was altered"
    );
}

base::Result<std::string> ScriptCache::verified(
    const base::Digest& sha256, std::uint64_t size, const Content& content
) {
    auto cached = intact(sha256);
    if (cached) return cached;
    if (cached.error().code == base::ErrorCode::tamper) {
        base::log_warning(cached.error().message + "; it is written anew");
    }
    auto bytes = content();
    if (!bytes) return bytes;
    if (bytes->size() != size || base::sha256(*bytes) != sha256) {
        return base::fail(
            base::ErrorCode::tamper,
            fmt::format(
                "the script does not hash to its pin {}: it has {} bytes and hashes to {}",
                sha256.hex(),
                bytes->size(),
                base::sha256(*bytes).hex()
            )
        );
    }
    const auto path = folder_ / sha256.hex();
    std::error_code ignored;
    // A folder or link in its place would stop the rename.
    std::filesystem::remove_all(path, ignored);
    if (auto written = base::write_file_atomically(path, *bytes, 0444); !written) {
        return base::fail(written.error());
    }
    return bytes;
}

}  // namespace executor
