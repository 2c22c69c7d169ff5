#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// Reading and writing the small files of a cgroup file system.
namespace executor::cgroup_files {

using Path = std::filesystem::path;

base::Result<void> write(const Path& file, std::string_view value);
/// The number that the file holds; `max` and what cannot be read are nothing.
std::optional<std::int64_t> number(const Path& file);
/// The number behind `key` in a file of `key value` lines.
std::optional<std::int64_t> keyed_number(const Path& file, std::string_view key);
std::vector<pid_t> processes(const Path& group);

/// Makes the folder; one that exists already is good too.
base::Result<void> make_folder(const Path& folder);
/// Removes an empty group, waiting a moment for the kernel to see that it is. False: still there.
bool remove_folder(const Path& folder);
std::vector<std::string> children(const Path& folder);
base::Result<base::FileDescriptor> open_entry(const Path& group);

}  // namespace executor::cgroup_files
