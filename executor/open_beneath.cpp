#include "executor/open_beneath.hpp"

#include <cstdint>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace executor {

base::Result<base::FileDescriptor> open_beneath(
    int folder_fd, const std::string& relative, int flags, unsigned mode
) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags) | O_CLOEXEC);
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    base::FileDescriptor file(
        static_cast<int>(::syscall(SYS_openat2, folder_fd, relative.c_str(), &how, sizeof how))
    );
    if (!file) return base::fail(base::errno_error("open " + relative));
    return file;
}

base::Result<base::FileDescriptor> open_folder(const std::filesystem::path& folder) {
    base::FileDescriptor handle(
        ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    );
    if (!handle) return base::fail(base::errno_error("open " + folder.string()));
    return handle;
}

}  // namespace executor
