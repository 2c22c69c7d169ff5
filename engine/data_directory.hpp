#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

#include <filesystem>

namespace engine {

/// The format that this binary writes. A directory of a newer one is refused, an older one
/// upgraded.
inline constexpr int data_format_version = 2;

/// The master's directory, locked for this process until the object ends. A killed master's lock
/// ends with it.
class DataDirectory {
public:
    /// Makes it (0700) when it does not exist. `conflict` when another process holds it, naming its
    /// pid; `unsupported` when it is of a newer format.
    static base::Result<DataDirectory> open(const std::filesystem::path& path);

    DataDirectory(DataDirectory&&) noexcept = default;
    DataDirectory& operator=(DataDirectory&&) noexcept = default;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path log() const { return path_ / "log"; }
    [[nodiscard]] std::filesystem::path blobs() const { return path_ / "blobs"; }
    [[nodiscard]] std::filesystem::path snapshots() const { return path_ / "snapshots"; }
    [[nodiscard]] std::filesystem::path endpoint_file() const { return path_ / "endpoint.json"; }
    [[nodiscard]] std::filesystem::path admin_token_file() const { return path_ / "admin.token"; }
    [[nodiscard]] std::filesystem::path executor_keys_file() const {
        return path_ / "executor-keys.json";
    }
    [[nodiscard]] std::filesystem::path lease_key_file() const { return path_ / "lease.key"; }

private:
    DataDirectory(std::filesystem::path path, base::FileDescriptor lock);
    std::filesystem::path path_;
    base::FileDescriptor lock_;
};

}  // namespace engine
