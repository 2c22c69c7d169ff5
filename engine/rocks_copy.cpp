#include "engine/rocks_store.hpp"

#include <rocksdb/utilities/checkpoint.h>

#include <system_error>

namespace engine {

// The tables are linked, not copied: that takes no time and no room. The heads kept apart are
// copied before: what they name is in the copy, so a copy that lost records is found out by them.
base::Result<void> RocksLog::copy_to(const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, "make " + folder.string() + ": " + failed.message()
        );
    }
    // A WAL in which a write failed cannot be flushed.
    if (auto writable = take_writing_and_make_writable(); !writable) return writable;
    const auto heads = base::read_file(place_.folder / "heads", heads_file_bytes_max);
    if (!heads) return base::fail(heads.error());
    if (auto kept = base::write_file_atomically(folder / "heads", *heads, 0600); !kept) return kept;
    return reading([&]() -> base::Result<void> {
        rocksdb::Checkpoint* made = nullptr;
        auto status = rocksdb::Checkpoint::Create(database_.get(), &made);
        const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
        if (status.ok()) status = checkpoint->CreateCheckpoint((folder / "db").string());
        if (!status.ok()) return base::fail(rocks_error("copy the log", status));
        return {};
    });
}

}  // namespace engine
