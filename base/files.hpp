#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace base {

/// Owns a file descriptor; -1 = none.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor() { reset(); }
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }

    [[nodiscard]] int value() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    void reset(int fd = -1);

private:
    int fd_ = -1;
};

/// The whole file; too_large when it has more than `bytes_max`, not_found when it does not exist.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);

/// Replaces the file so that a reader, or a machine that loses power, sees the old bytes or the new
/// ones and nothing between: temporary file, fsync, rename, fsync of the folder.
Result<void> write_file_atomically(
    const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0644
);

Result<void> write_all(int fd, std::string_view bytes);
Result<void> sync_folder(const std::filesystem::path& folder);

/// A folder of its own, removed with all in it when the object ends.
class TemporaryFolder {
public:
    explicit TemporaryFolder(std::string_view prefix = "netwright");
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// An error from `errno`, saying what was being done: "open /x/y: Permission denied".
Error errno_error(std::string_view doing);

}  // namespace base
