#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

#include <filesystem>

namespace engine {

/// The format that this binary writes. A directory of a newer one is refused, an older one
/// upgraded.
inline constexpr int data_format_version = 2;

/// A folder of this name in it holds a restore that has not finished: no master starts there.
inline constexpr const char* restoring_name = "restoring";

/// The master's directory, locked for this process until the object ends. A killed master's lock
/// ends with it.
class DataDirectory {
public:
    /// Makes it (0700) when it does not exist. Takes the rights of other users away from an empty
    /// directory or a master's own; `not_permitted` for another one that other users can enter.
    /// `conflict` when another process holds it, naming its pid; `unsupported` when it is of a
    /// newer format.
    static base::Result<DataDirectory> open(const std::filesystem::path& path);
    /// For an audit or a backup of a master that does not run: writes nothing, so it works on a
    /// read-only file system, and beside other readers. Only a directory of an older format is
    /// opened by `open`, which upgrades it.
    static base::Result<DataDirectory> open_to_read(const std::filesystem::path& path);

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
