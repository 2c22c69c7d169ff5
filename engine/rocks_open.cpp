#include "base/log.hpp"
#include "engine/chain.hpp"
#include "engine/rocks_store.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <fmt/format.h>
#include <system_error>

namespace engine {

namespace {

constexpr std::size_t memtable_bytes = std::size_t{64} << 20U;
constexpr std::size_t wal_bytes_max = std::size_t{256} << 20U;
constexpr std::size_t block_cache_bytes = std::size_t{16} << 20U;
// Chunks from here on stand in files of their own, which compactions leave alone: what is appended
// is written twice (WAL and flush), however long the log becomes.
constexpr std::size_t blob_bytes_min = std::size_t{4} << 10U;
constexpr int open_files_max = 512;

/// Takes the place of RocksDB's own diary, a file of which the second failed write ends the process
/// (Debian builds RocksDB with assertions), as it does when the disk is full.
class RocksDiary final : public rocksdb::Logger {
public:
    RocksDiary() : Logger(rocksdb::WARN_LEVEL) {}

    void LogHeader(const char* /*format*/, va_list /*arguments*/) override {}
    void Logv(const char* /*format*/, va_list /*arguments*/) override {}
    void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
        if (level < GetInfoLogLevel() || level == rocksdb::HEADER_LEVEL) return;
        std::array<char, 1024> line{};
        const int size = std::vsnprintf(line.data(), line.size(), format, arguments);
        std::ranges::replace(line, '\n', ' ');
        if (size > 0) base::log_warning(fmt::format("RocksDB: {}", line.data()));
    }
};

rocksdb::Options rocks_options(rocksdb::Env& env, rocksdb::WALRecoveryMode recovery) {
    rocksdb::Options options;
    options.env = &env;
    options.create_if_missing = true;
    options.wal_recovery_mode = recovery;
    options.track_and_verify_wals_in_manifest =
        recovery != rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
    options.write_buffer_size = memtable_bytes;
    options.max_write_buffer_number = 4;
    options.max_total_wal_size = wal_bytes_max;
    options.max_background_jobs = 2;
    options.bytes_per_sync = std::size_t{1} << 20U;
    options.max_open_files = open_files_max;
    options.compression = rocksdb::kLZ4Compression;
    options.enable_blob_files = true;
    options.min_blob_size = blob_bytes_min;
    options.blob_compression_type = rocksdb::kNoCompression;
    options.file_checksum_gen_factory = rocks_checksums();
    options.info_log = std::make_shared<RocksDiary>();
    options.info_log_level = rocksdb::WARN_LEVEL;
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(block_cache_bytes);
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

/// An audit tells of damage itself.
class NoDiary final : public rocksdb::Logger {
public:
    using rocksdb::Logger::Logv;
    void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

base::Result<std::unique_ptr<rocksdb::DB>> open_read_only(
    rocksdb::Env& env, const std::filesystem::path& path, rocksdb::WALRecoveryMode recovery
) {
    rocksdb::DB* database = nullptr;
    auto options = rocks_options(env, recovery);
    options.create_if_missing = false;
    options.info_log = std::make_shared<NoDiary>();
    const auto status = rocksdb::DB::OpenForReadOnly(options, path.string(), &database);
    if (!status.ok()) return base::fail(rocks_error("open the log in " + path.string(), status));
    return std::unique_ptr<rocksdb::DB>(database);
}

/// Whether everything that was acknowledged stands before the damage, which is then no more than a
/// last write that the loss of power tore.
bool only_tail_is_torn(
    rocksdb::Env& env, const std::filesystem::path& path, const HeadsFile& heads
) {
    const auto database = open_read_only(env, path, rocksdb::WALRecoveryMode::kPointInTimeRecovery);
    if (!database || !heads.whole()) return false;
    const auto models = heads.models();
    if (models.empty()) {
        const std::unique_ptr<rocksdb::Iterator> any((*database)->NewIterator(rocksdb::ReadOptions{}
        ));
        any->SeekToFirst();
        return !any->Valid() && any->status().ok();
    }
    return std::ranges::all_of(models, [&](const std::string& model) {
        const auto kept = heads.find(model);
        const auto found = read_rocks_head(**database, model);
        return kept && found && found->head.seq >= kept->seq;
    });
}

base::Result<RocksDatabase> open_for_audit(
    rocksdb::Env& env, const std::filesystem::path& path, const HeadsFile& heads
) {
    using Recovery = rocksdb::WALRecoveryMode;
    auto database = open_read_only(env, path, Recovery::kTolerateCorruptedTailRecords);
    if (database) return RocksDatabase{.database = std::move(*database), .faults = {}};
    if (only_tail_is_torn(env, path, heads)) {
        auto before = open_read_only(env, path, Recovery::kPointInTimeRecovery);
        if (before) return RocksDatabase{.database = std::move(*before), .faults = {}};
    }
    const StorageFault fault{
        .model = {}, .first = 0, .last = 0, .message = database.error().message
    };
    database = open_read_only(env, path, Recovery::kSkipAnyCorruptedRecords);
    if (!database) return base::fail(database.error());
    return RocksDatabase{.database = std::move(*database), .faults = {fault}};
}

/// Stands for a log whose database cannot be opened at all: every record is unreadable.
class UnreadableLog final : public EventLog {
public:
    UnreadableLog(HeadsFile heads, base::Error why)
        : heads_(std::move(heads)), why_(std::move(why)) {}

    std::vector<AppendOutcome> append(std::span<const Append> requests) override {
        return {requests.size(), AppendOutcome{AppendStatus::unknown, 0, why_.message}};
    }
    base::Result<RecordPage> read(std::string_view, Seq, const ReadLimit&) override {
        return base::fail(why_);
    }
    base::Result<Seq> next_readable(std::string_view, Seq) override { return 0; }
    base::Result<LogHead> head(std::string_view) override { return base::fail(why_); }
    base::Result<LogHead> head_kept_apart(std::string_view model) override {
        return heads_.find(model);
    }
    base::Result<std::vector<std::string>> models() override { return heads_.models(); }
    base::Result<std::vector<StorageFault>> storage_faults() override {
        return std::vector{StorageFault{.model = {}, .first = 0, .last = 0, .message = why_.message}
        };
    }
    base::Result<Epoch> own(std::string_view) override { return base::fail(why_); }
    base::Result<std::vector<IndexedCase>> cases(std::string_view, base::CaseId, std::size_t)
        override {
        return base::fail(why_);
    }
    base::Result<void> restore_cases(std::string_view, std::span<const IndexedCase>) override {
        return base::fail(why_);
    }
    base::Result<Archived> archive(std::string_view, Seq) override { return base::fail(why_); }
    base::Result<std::vector<base::Digest>> archived_blobs(std::string_view) override {
        return base::fail(why_);
    }
    base::Result<void> copy_to(const std::filesystem::path&) override { return base::fail(why_); }

private:
    HeadsFile heads_;
    base::Error why_;
};

}  // namespace

base::Error rocks_error(std::string_view doing, const rocksdb::Status& status) {
    const bool damaged = status.IsCorruption();
    return {
        damaged ? base::ErrorCode::tamper : base::ErrorCode::internal,
        fmt::format("{}: {}", doing, status.ToString()),
        damaged              ? "run `netwright audit verify`"
        : status.IsNoSpace() ? "free space on the disk"
                             : "",
        {}
    };
}

base::Result<RocksHead> read_rocks_head(rocksdb::DB& database, std::string_view model) {
    std::string value;
    const auto status = database.Get(rocksdb::ReadOptions{}, rocks_head_key(model), &value);
    if (status.IsNotFound()) return RocksHead{.epoch = 0, .head = empty_head(model)};
    if (!status.ok()) {
        return base::fail(rocks_error(fmt::format("read the head of model '{}'", model), status));
    }
    const auto head = rocks_head(value);
    if (head) return *head;
    return base::fail(
        base::ErrorCode::tamper,
        fmt::format("the head of model '{}' in the log is damaged", model),
        "run `netwright audit verify`"
    );
}

base::Result<RocksDatabase> open_rocks_database(
    const RocksPlace& place, const HeadsFile& heads, Recovered recovered
) {
    using Recovery = rocksdb::WALRecoveryMode;
    rocksdb::Env& env = place.env;
    const auto path = place.folder / "db";
    if (place.options.access == LogAccess::read_only) return open_for_audit(env, path, heads);
    // Only this mode says that the WAL is damaged anywhere but at its very end. The others would
    // drop what follows the damage without a word.
    rocksdb::DB* database = nullptr;
    auto rocks = rocks_options(env, Recovery::kTolerateCorruptedTailRecords);
    rocks.avoid_flush_during_recovery = recovered == Recovered::left_in_wal;
    auto status = rocksdb::DB::Open(rocks, path.string(), &database);
    if (status.IsCorruption() && only_tail_is_torn(env, path, heads)) {
        base::log_warning(
            "the log's last write was torn by a crash before it was acknowledged; it is dropped"
        );
        status = rocksdb::DB::Open(
            rocks_options(env, Recovery::kPointInTimeRecovery), path.string(), &database
        );
    }
    if (!status.ok()) return base::fail(rocks_error("open the log in " + path.string(), status));
    return RocksDatabase{.database = std::unique_ptr<rocksdb::DB>(database), .faults = {}};
}

base::Result<std::unique_ptr<EventLog>> open_rocks_log_on(
    rocksdb::Env& env, const std::filesystem::path& folder, const RocksLogOptions& options
) {
    const bool writable = options.access == LogAccess::read_write;
    if (writable) {
        std::error_code failed;
        std::filesystem::create_directories(folder / "db", failed);
        if (failed) {
            return base::fail(
                base::ErrorCode::internal,
                fmt::format("make {}: {}", folder.string(), failed.message())
            );
        }
    }
    auto heads = HeadsFile::open(folder / "heads", writable);
    if (!heads) return base::fail(heads.error());
    const RocksPlace place{.env = env, .folder = folder, .options = options};
    auto database = open_rocks_database(place, *heads, Recovered::flushed);
    if (!database) {
        // An audit still names what is lost, as far as the heads kept apart tell.
        if (writable || heads->models().empty()) return base::fail(database.error());
        return std::make_unique<UnreadableLog>(std::move(*heads), database.error());
    }
    return std::make_unique<RocksLog>(place, std::move(*database), std::move(*heads));
}

base::Result<std::unique_ptr<EventLog>> open_rocks_log(
    const std::filesystem::path& folder, const RocksLogOptions& options
) {
    return open_rocks_log_on(*rocksdb::Env::Default(), folder, options);
}

}  // namespace engine
