#include "base/log.hpp"
#include "engine/rocks_store.hpp"

#include <map>
#include <string>

namespace engine {

namespace {

/// More than opening writes: a manifest, the options, and the beginning of a WAL.
constexpr std::size_t opening_bytes = std::size_t{512} << 10U;

/// Whether the disk takes that much. A database that was closed while it does not cannot be opened
/// again, and then nobody can even read.
base::Result<void> try_disk(rocksdb::Env& env, const std::filesystem::path& folder) {
    const std::string path = folder / "probe.tmp";
    std::unique_ptr<rocksdb::WritableFile> file;
    auto status = env.NewWritableFile(path, &file, rocksdb::EnvOptions{});
    if (status.ok()) status = file->Append(std::string(opening_bytes, 'x'));
    if (status.ok()) status = file->Sync();
    if (file) file->Close().PermitUncheckedError();
    file.reset();
    env.DeleteFile(path).PermitUncheckedError();
    if (status.ok()) return {};
    return base::fail(rocks_error("the disk of the log takes no writes", status));
}

/// Writes into `undo` what restores the keys of a batch: heads to what they were, and none of the
/// rest, since nothing else is written over.
class Undo final : public rocksdb::WriteBatch::Handler {
public:
    Undo(rocksdb::WriteBatch& undo, const std::map<std::string, std::string>& heads)
        : undo_(undo), heads_(heads) {}

    rocksdb::Status PutCF(
        std::uint32_t /*family*/, const rocksdb::Slice& key, const rocksdb::Slice& /*value*/
    ) override {
        const auto before = heads_.find(key.ToString());
        return before == heads_.end() ? undo_.Delete(key) : undo_.Put(key, before->second);
    }

private:
    rocksdb::WriteBatch& undo_;
    const std::map<std::string, std::string>& heads_;
};

}  // namespace

base::Error rocks_write_error(const rocksdb::Status& status) {
    auto error = rocks_error("write to the log", status);
    error.code = base::ErrorCode::overloaded;
    return error;
}

void RocksLog::remember_refused(std::span<const Append> requests) {
    std::map<std::string, std::string> heads;
    for (const Append& request : requests) {
        const auto before = known_head(request.model);
        if (!before || before->head.seq == 0) continue;
        heads.emplace(rocks_head_key(request.model), rocks_head_value(*before));
    }
    Undo undo(undo_, heads);
    if (const auto status = batch_.Iterate(&undo); !status.ok()) {
        base::log_error(rocks_error("note how to undo a refused write", status).message);
    }
    // What the database holds is read from it again.
    known_.with([&](Heads& known) {
        for (const Append& request : requests)
            known.erase(std::string(request.model));
    });
}

base::Result<void> RocksLog::make_writable() {
    if (!failed_) return {};
    auto opened = reopen();
    if (opened || opened.error().code == base::ErrorCode::tamper) return opened;
    // No defect of this process: the next attempt may find the disk writable again.
    opened.error().code = base::ErrorCode::overloaded;
    return opened;
}

base::Result<void> RocksLog::take_writing_and_make_writable() {
    const std::scoped_lock lock(writing_);
    return make_writable();
}

base::Result<void> RocksLog::reopen() {
    if (auto takes = try_disk(place_.env, place_.folder); !takes) return takes;
    const std::unique_lock lock(open_);
    database_.reset();
    auto opened = open_rocks_database(place_, heads_, Recovered::left_in_wal);
    if (!opened) return base::fail(opened.error());
    if (undo_.Count() != 0) {
        rocksdb::WriteOptions write;
        write.sync = true;
        const auto status = opened->database->Write(write, &undo_);
        if (!status.ok()) return base::fail(rocks_error("undo a refused write to the log", status));
        undo_.Clear();
    }
    database_ = std::move(opened->database);
    failed_ = false;
    base::log_warning("the log was reopened after a failed write");
    return {};
}

}  // namespace engine
