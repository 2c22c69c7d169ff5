#pragma once

#include "base/files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mount.h>
#include <sys/statvfs.h>

namespace rig {

/// A file system of a few MiB of its own, where the machine allows that: filled to the last byte
/// and emptied by hand.
class SmallDisk {
public:
    explicit SmallDisk(std::size_t mib) {
        const auto options = "size=" + std::to_string(mib) + "m";
        mounted_ = ::mount("none", folder_.path().c_str(), "tmpfs", 0, options.c_str()) == 0;
    }
    ~SmallDisk() {
        if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    [[nodiscard]] bool mounted() const { return mounted_; }
    [[nodiscard]] std::filesystem::path work() const { return folder_.path() / "work"; }
    [[nodiscard]] std::uint64_t free() const {
        struct statvfs disk{};
        ::statvfs(folder_.path().c_str(), &disk);
        return disk.f_bavail * disk.f_frsize;
    }
    void fill(std::uint64_t but = 0) const {
        std::ofstream file(filler(), std::ios::app | std::ios::binary);
        const std::string page(4096, 'f');
        while (free() > but && file.write(page.data(), 4096).flush()) {
        }
    }
    void empty() const { std::filesystem::remove(filler()); }

private:
    [[nodiscard]] std::filesystem::path filler() const { return folder_.path() / "filler"; }

    base::TemporaryFolder folder_;
    bool mounted_ = false;
};

}  // namespace rig
