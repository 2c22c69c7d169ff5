#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <string>

namespace executor {

/// Opens `relative` below the folder `folder_fd` with openat2: no symlink is followed, nothing
/// leads out of the folder. `flags` as for open(2); O_CLOEXEC is added.
base::Result<base::FileDescriptor> open_beneath(
    int folder_fd, const std::string& relative, int flags, unsigned mode = 0
);

base::Result<base::FileDescriptor> open_folder(const std::filesystem::path& folder);

}  // namespace executor
