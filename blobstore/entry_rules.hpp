#pragma once

#include "base/result.hpp"
#include "blobstore/archive.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace blobstore {

/// Holds the entries of one archive against the rules of `read_archive`, one after the other.
/// Nothing here touches a disk.
class EntryRules {
public:
    explicit EntryRules(const ArchiveLimits& limits) : limits_(limits) {}

    /// `entry` as the archive has it: its name and target become what ArchiveEntry promises. An
    /// empty name afterwards is the root itself, which needs no making. The size given counts
    /// against the limits.
    base::Result<void> admit(ArchiveEntry& entry);

    [[nodiscard]] const ArchiveReport& admitted() const { return admitted_; }

private:
    base::Result<void> admit_size(const ArchiveEntry& entry);
    base::Result<void> admit_name(ArchiveEntry& entry);
    base::Result<void> admit_place(const ArchiveEntry& entry);

    enum class Known { folder, folder_implied, other };
    ArchiveLimits limits_;
    ArchiveReport admitted_;
    std::unordered_map<std::string, Known> known_;
};

/// `text` for a message: control characters and what is not UTF-8 as `\xNN`, cut at 200 bytes.
std::string printable(std::string_view text);

}  // namespace blobstore
