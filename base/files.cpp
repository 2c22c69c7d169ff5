#include "base/files.hpp"

#include "base/random.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace base {

void FileDescriptor::reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

Error errno_error(std::string_view doing) {
    const int number = errno;
    const auto code = number == ENOENT ? ErrorCode::not_found : ErrorCode::internal;
    const std::string why = std::error_code(number, std::generic_category()).message();
    return Error{code, fmt::format("{}: {}", doing, why), {}, {}};
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return fail(errno_error("open " + path.string()));
    struct stat status{};
    if (::fstat(file.value(), &status) != 0) return fail(errno_error("stat " + path.string()));
    if (S_ISDIR(status.st_mode)) return fail(ErrorCode::validation, path.string() + " is a folder");
    std::string bytes;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::read(file.value(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(errno_error("read " + path.string()));
        if (count == 0) return bytes;
        bytes.append(buffer, static_cast<std::size_t>(count));
        if (bytes.size() > bytes_max) {
            return fail(
                ErrorCode::too_large,
                fmt::format("{} has more than {} bytes", path.string(), bytes_max)
            );
        }
    }
}

Result<void> write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(errno_error("write"));
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

Result<void> sync_folder(const std::filesystem::path& folder) {
    const FileDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!handle) return fail(errno_error("open " + folder.string()));
    if (::fsync(handle.value()) != 0) return fail(errno_error("fsync " + folder.string()));
    return {};
}

Result<void> write_file_atomically(
    const std::filesystem::path& path, std::string_view bytes, unsigned mode
) {
    const std::filesystem::path temporary = path.string() + ".tmp-" + random_hex(8);
    const auto give_up = [&](Error error) {
        ::unlink(temporary.c_str());
        return fail(std::move(error));
    };
    FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file) return fail(errno_error("create " + temporary.string()));
    if (auto written = write_all(file.value(), bytes); !written) return give_up(written.error());
    if (::fsync(file.value()) != 0) return give_up(errno_error("fsync " + temporary.string()));
    file.reset();
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return give_up(errno_error("rename to " + path.string()));
    }
    const auto folder = path.parent_path();
    return sync_folder(folder.empty() ? "." : folder);
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / (std::string(prefix) + "-XXXXXX")).string();
    check(::mkdtemp(pattern.data()) != nullptr, "cannot make a temporary folder");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace base
