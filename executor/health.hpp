#pragma once

#include <filesystem>
#include <string>

/// Whether the machine still gives what jobs need. Each says what is wrong; empty: nothing.
namespace executor {

/// Little space or no files are left where the executor works: less than a sixteenth of the disk,
/// and less than 8 MiB. Does not block for long.
std::string disk_shortage(const std::filesystem::path& work);
/// By trying: something is written, synced and removed. Blocks on the disk.
std::string disk_refusal(const std::filesystem::path& work);

std::string missing_program(const std::filesystem::path& program);

}  // namespace executor
