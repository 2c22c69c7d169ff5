#include "tests/engine/rocks_losing_disk.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace engine::testing {

namespace {

rocksdb::IOStatus no_power() {
    return rocksdb::IOStatus::IOError("the power is gone");
}

class LosingFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    LosingFile(LosingDisk& disk, std::string path, std::unique_ptr<rocksdb::FSWritableFile> file)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk), path_(std::move(path)) {}

    rocksdb::IOStatus Append(
        const rocksdb::Slice& data,
        const rocksdb::IOOptions& options,
        rocksdb::IODebugContext* context
    ) override {
        const auto allowed = static_cast<std::size_t>(disk_.may_write(path_, data.size()));
        auto status = target()->Append({data.data(), allowed}, options, context);
        return allowed < data.size() ? disk_.why() : status;
    }
    rocksdb::IOStatus Append(
        const rocksdb::Slice& data,
        const rocksdb::IOOptions& options,
        const rocksdb::DataVerificationInfo& /*checksum*/,
        rocksdb::IODebugContext* context
    ) override {
        return Append(data, options, context);
    }
    rocksdb::IOStatus Sync(
        const rocksdb::IOOptions& /*options*/, rocksdb::IODebugContext* /*context*/
    ) override {
        return disk_.may_sync(path_) ? rocksdb::IOStatus::OK() : disk_.why();
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context)
        override {
        return Sync(options, context);
    }

private:
    LosingDisk& disk_;
    const std::string path_;
};

}  // namespace

LosingDisk::LosingDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

bool LosingDisk::State::spend() {
    if (lost) return false;
    if (operations_left == 0) {
        lost = true;
        return false;
    }
    --operations_left;
    return true;
}

void LosingDisk::lose_power_in(std::uint64_t operations) {
    state_.with([&](State& state) { state.operations_left = operations; });
}

void LosingDisk::refuse(Refusal refusal) {
    state_.with([&](State& state) { state.refusal = refusal; });
}

rocksdb::IOStatus LosingDisk::why() const {
    if (lost()) return no_power();
    const bool full =
        state_.with([](const State& state) { return state.refusal == Refusal::writes; });
    return full ? rocksdb::IOStatus::NoSpace("the disk is full")
                : rocksdb::IOStatus::IOError("the disk refuses to sync");
}

bool LosingDisk::lost() const {
    return state_.with([](const State& state) { return state.lost; });
}

std::uint64_t LosingDisk::may_write(const std::string& path, std::uint64_t size) {
    return state_.with([&](State& state) -> std::uint64_t {
        const bool before = state.lost;
        const bool full = state.refusal == Refusal::writes;
        std::uint64_t allowed = !full && state.spend() ? size : 0;
        // The write that is under way when the power goes gets half as far.
        if (allowed == 0 && !before) allowed = size / 2;
        state.files[path].written += allowed;
        return allowed;
    });
}

bool LosingDisk::may_sync(const std::string& path) {
    return state_.with([&](State& state) {
        if (state.refusal != Refusal::none || !state.spend()) return false;
        Extent& extent = state.files[path];
        extent.synced = extent.written;
        return true;
    });
}

rocksdb::IOStatus LosingDisk::NewWritableFile(
    const std::string& path,
    const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* file,
    rocksdb::IODebugContext* context
) {
    if (lost()) return no_power();
    if (state_.with([](const State& state) { return state.refusal == Refusal::writes; })) {
        return why();
    }
    std::unique_ptr<rocksdb::FSWritableFile> real;
    auto status = target()->NewWritableFile(path, options, &real, context);
    if (!status.ok()) return status;
    state_.with([&](State& state) { state.files[path] = {}; });
    *file = std::make_unique<LosingFile>(*this, path, std::move(real));
    return status;
}

rocksdb::IOStatus LosingDisk::RenameFile(
    const std::string& from,
    const std::string& to,
    const rocksdb::IOOptions& options,
    rocksdb::IODebugContext* context
) {
    if (lost()) return no_power();
    auto status = target()->RenameFile(from, to, options, context);
    if (!status.ok()) return status;
    state_.with([&](State& state) {
        auto moved = state.files.extract(from);
        if (moved.empty()) return;
        state.files[to] = moved.mapped();
    });
    return status;
}

rocksdb::IOStatus LosingDisk::DeleteFile(
    const std::string& path, const rocksdb::IOOptions& options, rocksdb::IODebugContext* context
) {
    if (lost()) return no_power();
    state_.with([&](State& state) { state.files.erase(path); });
    return target()->DeleteFile(path, options, context);
}

void LosingDisk::heal() {
    state_.with([](State& state) {
        state.lost = false;
        state.operations_left = UINT64_MAX;
    });
}

void LosingDisk::restart(std::mt19937_64& random) {
    const auto files = state_.with([](State& state) {
        state.lost = false;
        state.operations_left = UINT64_MAX;
        return std::exchange(state.files, {});
    });
    for (const auto& [path, extent] : files) {
        if (!std::filesystem::exists(path) || extent.synced == extent.written) continue;
        const std::uint64_t kept = extent.synced + random() % (extent.written - extent.synced + 1);
        std::filesystem::resize_file(path, kept);
        if (kept == extent.synced || random() % 2 == 0) continue;
        // A page in the middle never reached the disk.
        const std::uint64_t hole = extent.synced + random() % (kept - extent.synced);
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(hole));
        for (std::uint64_t at = hole; at < kept && at < hole + 4096; ++at)
            file.put('\0');
    }
}

}  // namespace engine::testing
