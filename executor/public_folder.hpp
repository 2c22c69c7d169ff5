#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace executor {

/// A folder that every user can reach (bwrap runs as a slot's user and looks its sources up by
/// path) and only this user can change, outside the executor's own work folder, which is private.
/// Named after that one, so that what a killed executor left is found and removed. Removed with the
/// object.
class PublicFolder {
public:
    static base::Result<PublicFolder> make(
        const std::filesystem::path& parent,
        std::string_view purpose,
        const std::filesystem::path& work
    );
    PublicFolder() = default;
    ~PublicFolder();
    PublicFolder(PublicFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    PublicFolder& operator=(PublicFolder&& other) noexcept {
        std::swap(path_, other.path_);
        return *this;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    explicit PublicFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

}  // namespace executor
