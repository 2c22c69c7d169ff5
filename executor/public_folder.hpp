#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace executor {

/// A folder that every user can reach (bwrap runs as a slot's user and looks its sources up by
/// path) and only this user can change, outside the executor's own work folder, which is private.
/// Locked while it is in use; what killed executors left is removed by the next one that starts.
/// Removed with the object.
class PublicFolder {
public:
    static base::Result<PublicFolder> make(
        const std::filesystem::path& parent,
        std::string_view purpose,
        const std::filesystem::path& work
    );
    PublicFolder() = default;
    ~PublicFolder();
    PublicFolder(PublicFolder&& other) noexcept
        : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
    PublicFolder& operator=(PublicFolder&& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(lock_, other.lock_);
        return *this;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    PublicFolder(std::filesystem::path path, base::FileDescriptor lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}
    std::filesystem::path path_;
    base::FileDescriptor lock_;
};

}  // namespace executor
