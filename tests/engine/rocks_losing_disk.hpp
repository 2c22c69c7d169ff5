#pragma once

#include "base/guarded.hpp"

#include <rocksdb/file_system.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace engine::testing {

/// A disk whose machine can lose power: from then on nothing works, and afterwards of each file
/// only what was synced is there, and perhaps some of the rest, perhaps garbled.
class LosingDisk final : public rocksdb::FileSystemWrapper {
public:
    LosingDisk();
    [[nodiscard]] const char* Name() const override { return "LosingDisk"; }

    /// The power goes in the middle of the n-th write or sync from now.
    void lose_power_in(std::uint64_t operations);
    [[nodiscard]] bool lost() const;
    enum class Refusal : std::uint8_t {
        none,
        /// It is full: writes get half as far, new files are refused.
        writes,
        /// Writes are taken and may survive; what syncs them fails.
        syncs,
    };
    void refuse(Refusal refusal);

    /// It was only a fault of the disk: it works again, and holds what was written.
    void heal();
    /// Leaves the files as the next start of the machine finds them, and lets the disk work again.
    void restart(std::mt19937_64& random);

    rocksdb::IOStatus NewWritableFile(
        const std::string& path,
        const rocksdb::FileOptions& options,
        std::unique_ptr<rocksdb::FSWritableFile>* file,
        rocksdb::IODebugContext* context
    ) override;
    rocksdb::IOStatus RenameFile(
        const std::string& from,
        const std::string& to,
        const rocksdb::IOOptions& options,
        rocksdb::IODebugContext* context
    ) override;
    rocksdb::IOStatus DeleteFile(
        const std::string& path, const rocksdb::IOOptions& options, rocksdb::IODebugContext* context
    ) override;

    /// For the files that it hands out: how many of `size` bytes may be written (counted as
    /// written), and whether a sync may succeed (then all is synced).
    std::uint64_t may_write(const std::string& path, std::uint64_t size);
    [[nodiscard]] rocksdb::IOStatus why() const;
    bool may_sync(const std::string& path);

private:
    struct Extent {
        std::uint64_t synced = 0;
        std::uint64_t written = 0;
    };
    struct State {
        std::map<std::string, Extent> files;
        std::uint64_t operations_left = UINT64_MAX;
        bool lost = false;
        Refusal refusal = Refusal::none;

        bool spend();
    };
    base::Guarded<State> state_;
};

}  // namespace engine::testing
