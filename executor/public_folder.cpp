#include "executor/public_folder.hpp"

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace executor {

namespace {

constexpr int make_tries = 10;

// Held as long as the folder is in use, also by a process that is about to be killed.
base::FileDescriptor locked(const std::filesystem::path& folder) {
    base::FileDescriptor handle(
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    );
    if (handle && ::flock(handle.value(), LOCK_EX | LOCK_NB) != 0) handle.reset();
    return handle;
}

// What killed executors left, whatever their work folder was: folders that nobody holds.
void sweep(const std::filesystem::path& parent, const std::string& prefix) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(parent, failed)) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        struct stat status{};
        const bool own = ::lstat(entry.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                         status.st_uid == ::geteuid();
        const auto lock = own ? locked(entry.path()) : base::FileDescriptor();
        std::error_code ignored;
        if (lock) std::filesystem::remove_all(entry.path(), ignored);
    }
}

}  // namespace

base::Result<PublicFolder> PublicFolder::make(
    const std::filesystem::path& parent, std::string_view purpose, const std::filesystem::path& work
) {
    std::error_code ignored;
    const auto id = base::sha256(std::filesystem::absolute(work, ignored).string()).hex();
    const auto prefix = fmt::format("netwright-{}-", purpose);
    for (int i = 0; i < make_tries; ++i) {
        sweep(parent, prefix);
        // A name of its own: what stands under another's name, left over and not removable or held
        // in another container, or a trap in a folder that every user may write to, is no obstacle.
        const auto path = parent / (prefix + id.substr(0, 16) + "-" + base::random_hex(8));
        if (::mkdir(path.c_str(), 0755) != 0) break;
        auto lock = locked(path);
        // Whatever the umask is: other users must be able to enter.
        if (lock && ::fchmod(lock.value(), 0755) != 0) break;
        // Another executor that started at the same moment may have swept it before it was locked.
        struct stat status{};
        const bool there = lock && ::fstat(lock.value(), &status) == 0 && status.st_nlink > 0;
        if (there) return PublicFolder(path, std::move(lock));
    }
    return base::fail(base::errno_error("make a folder in " + parent.string()));
}

PublicFolder::~PublicFolder() {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace executor
