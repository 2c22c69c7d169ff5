#include "executor/health.hpp"

#include "base/files.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace executor {

namespace {

constexpr std::uint64_t free_bytes_min = std::uint64_t{8} << 20U;
constexpr std::uint64_t free_part_min = 16;
constexpr std::size_t probe_bytes = std::size_t{256} << 10U;

}  // namespace

std::string disk_shortage(const std::filesystem::path& work) {
    struct statvfs disk{};
    if (::statvfs(work.c_str(), &disk) != 0) return base::errno_error(work.string()).message;
    const std::uint64_t all = disk.f_blocks * disk.f_frsize;
    const std::uint64_t free = disk.f_bavail * disk.f_frsize;
    const auto needed = std::min(free_bytes_min, all / free_part_min);
    if (free < needed) {
        return fmt::format(
            "the disk of {} is full: {} bytes are free, {} are needed", work.string(), free, needed
        );
    }
    // File systems without a fixed number of files say 0 of 0.
    if (disk.f_files != 0 && disk.f_favail == 0) {
        return fmt::format("the disk of {} is full: it takes no more files", work.string());
    }
    return {};
}

std::string disk_refusal(const std::filesystem::path& work) {
    const auto probe = work / ("probe-" + base::random_hex(4));
    const auto written = base::write_file_atomically(probe, std::string(probe_bytes, 'p'), 0600);
    ::unlink(probe.c_str());
    return written ? std::string{} : "the disk cannot be written: " + written.error().message;
}

std::string missing_program(const std::filesystem::path& program) {
    if (::access(program.c_str(), X_OK) == 0) return {};
    return base::errno_error(program.string()).message;
}

}  // namespace executor
