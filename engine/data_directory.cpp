#include "engine/data_directory.hpp"

#include "base/log.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace engine {

namespace {

constexpr std::size_t small_file_bytes_max = 64;

std::string_view trimmed(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \n\r\t");
    return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string holder(const std::filesystem::path& lock_file) {
    const auto pid = base::read_file(lock_file, small_file_bytes_max);
    const auto text = pid ? trimmed(*pid) : std::string_view{};
    return text.empty() ? "another process" : fmt::format("the process {}", text);
}

base::Error in_use(const std::filesystem::path& folder) {
    return {
        base::ErrorCode::conflict,
        fmt::format("{} is in use by {}", folder.string(), holder(folder / "lock")),
        "one master works on a directory: stop that one, or give another --data",
        {}
    };
}

base::Result<base::FileDescriptor> lock(const std::filesystem::path& folder) {
    const auto path = folder / "lock";
    base::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return base::fail(base::errno_error("open " + path.string()));
    // Not removed at the end: who waits for an open file would lock one that is no longer there.
    if (::flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return base::fail(base::errno_error("lock " + path.string()));
        return base::fail(in_use(folder));
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.value(), 0) != 0 ||
        ::pwrite(file.value(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        return base::fail(base::errno_error("write " + path.string()));
    }
    return file;
}

// A directory that no master has served from yet, such as a copy, may have no lock file.
base::Result<base::FileDescriptor> lock_to_read(const std::filesystem::path& folder) {
    const auto path = folder / "lock";
    base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT) return file;
    if (!file) return base::fail(base::errno_error("open " + path.string()));
    if (::flock(file.value(), LOCK_SH | LOCK_NB) == 0) return file;
    if (errno != EWOULDBLOCK) return base::fail(base::errno_error("lock " + path.string()));
    return base::fail(in_use(folder));
}

base::Result<void> keep_private(const std::filesystem::path& folder) {
    constexpr mode_t others = S_IRWXG | S_IRWXO;
    struct stat status{};
    if (::stat(folder.c_str(), &status) != 0) {
        return base::fail(base::errno_error("stat " + folder.string()));
    }
    const mode_t mode = status.st_mode & 07777U;
    if ((mode & others) == 0) return {};
    // A directory that holds something else, /tmp or a home, is not this program's to close.
    std::error_code ignored;
    const bool own =
        status.st_uid == ::geteuid() && (std::filesystem::exists(folder / "format", ignored) ||
                                         std::filesystem::is_empty(folder, ignored));
    if (!own) {
        return base::fail(
            base::ErrorCode::not_permitted,
            fmt::format(
                "{} has the mode {:o} and belongs to user {}: other users could read the log",
                folder.string(),
                mode,
                status.st_uid
            ),
            fmt::format(
                "close it (chmod 700) if it is for this master only, or give another one, such as "
                "--data {}",
                (folder / "netwright").string()
            )
        );
    }
    const mode_t closed = mode & ~others;
    if (::chmod(folder.c_str(), closed) != 0) {
        return base::fail(base::errno_error("chmod " + folder.string()));
    }
    base::log_warning(fmt::format(
        "{} had the mode {:o}, so other users could read the log; it has {:o} now",
        folder.string(),
        mode,
        closed
    ));
    return {};
}

base::Result<void> check_restored(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / restoring_name, ignored)) return {};
    return base::fail(
        base::ErrorCode::tamper,
        fmt::format("{} holds a restore that has not finished", folder.string()),
        "wait until `netwright restore` has ended; if it was killed, restore into a new directory"
    );
}

// 1 -> 2: snapshots hold another state (cases that are over left it), and are made again.
base::Result<void> upgrade(const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::remove_all(folder / "snapshots", failed);
    if (!failed) return {};
    return base::fail(
        base::ErrorCode::internal,
        fmt::format("remove {}: {}", (folder / "snapshots").string(), failed.message())
    );
}

/// 0 = a directory without a log, which has none.
base::Result<int> format_of(const std::filesystem::path& folder) {
    const auto path = folder / "format";
    const auto text = base::read_file(path, small_file_bytes_max);
    if (!text && text.error().code == base::ErrorCode::not_found) {
        if (std::filesystem::exists(folder / "log")) {
            return base::fail(
                base::ErrorCode::tamper,
                fmt::format("{} holds a log but no file 'format'", folder.string()),
                "restore the file, or the directory from a backup"
            );
        }
        return 0;
    }
    if (!text) return base::fail(text.error());
    const auto digits = trimmed(*text);
    int version = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), version);
    if (error != std::errc{} || end != digits.data() + digits.size() || version < 1) {
        return base::fail(
            base::ErrorCode::tamper, fmt::format("{} is not a format version", path.string())
        );
    }
    if (version > data_format_version) {
        return base::fail(
            base::ErrorCode::unsupported,
            fmt::format(
                "{} has the format {}; this netwright knows formats up to {}",
                folder.string(),
                version,
                data_format_version
            ),
            "use the netwright that wrote it, or a newer one"
        );
    }
    return version;
}

base::Result<void> check_format(const std::filesystem::path& folder) {
    const auto version = format_of(folder);
    if (!version) return base::fail(version.error());
    const auto path = folder / "format";
    const std::string current = fmt::format("{}\n", data_format_version);
    if (*version == 0) return base::write_file_atomically(path, current, 0600);
    if (*version == data_format_version) return {};
    base::log_warning(fmt::format(
        "upgrading {} from format {} to {}", folder.string(), *version, data_format_version
    ));
    if (auto done = upgrade(folder); !done) return done;
    return base::write_file_atomically(path, current, 0600);
}

}  // namespace

DataDirectory::DataDirectory(std::filesystem::path path, base::FileDescriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

base::Result<DataDirectory> DataDirectory::open(const std::filesystem::path& path) {
    std::error_code failed;
    const bool made = std::filesystem::create_directories(path, failed);
    if (!failed && made) {
        std::filesystem::permissions(path, std::filesystem::perms::owner_all, failed);
    }
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, fmt::format("make {}: {}", path.string(), failed.message())
        );
    }
    if (auto closed = keep_private(path); !closed) return base::fail(closed.error());
    auto held = lock(path);
    if (!held) return base::fail(held.error());
    if (auto whole = check_restored(path); !whole) return base::fail(whole.error());
    if (auto fits = check_format(path); !fits) return base::fail(fits.error());
    for (const char* const folder : {"log", "blobs", "snapshots"}) {
        std::filesystem::create_directory(path / folder, failed);
        if (failed) {
            return base::fail(
                base::ErrorCode::internal,
                fmt::format("make {}: {}", (path / folder).string(), failed.message())
            );
        }
    }
    return DataDirectory(path, std::move(*held));
}

base::Result<DataDirectory> DataDirectory::open_to_read(const std::filesystem::path& path) {
    auto held = lock_to_read(path);
    if (!held) return base::fail(held.error());
    if (auto whole = check_restored(path); !whole) return base::fail(whole.error());
    const auto version = format_of(path);
    if (!version) return base::fail(version.error());
    if (*version == data_format_version) return DataDirectory(path, std::move(*held));
    held->reset();
    return open(path);
}

}  // namespace engine
