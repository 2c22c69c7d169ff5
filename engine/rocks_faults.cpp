#include "base/files.hpp"
#include "engine/rocks_store.hpp"

#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>

#include <fmt/format.h>
#include <limits>
#include <map>

namespace engine {

namespace {

class FileSum final : public rocksdb::FileChecksumGenerator {
public:
    void Update(const char* data, std::size_t size) override { sum_.update({data, size}); }
    void Finalize() override { text_ = sum_.finish().hex(); }
    [[nodiscard]] std::string GetChecksum() const override { return text_; }
    [[nodiscard]] const char* Name() const override { return "sha256"; }

private:
    base::Sha256 sum_;
    std::string text_;
};

class FileSums final : public rocksdb::FileChecksumGenFactory {
public:
    std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
        const rocksdb::FileChecksumGenContext& context
    ) override {
        const std::string& name = context.requested_checksum_func_name;
        if (!name.empty() && name != "sha256") return nullptr;
        return std::make_unique<FileSum>();
    }
    [[nodiscard]] const char* Name() const override { return "sha256"; }
};

struct KeyRange {
    std::string model;
    Seq first = 0;
    Seq last = 0;
};

/// The records that a file may hold, when it holds chunks of one model only.
KeyRange key_range(const rocksdb::LiveFileMetaData& file) {
    const auto model = [](std::string_view key) -> std::string_view {
        if (key.size() < 10 || key.front() != 'c') return {};
        return key.substr(1, key.size() - 10);
    };
    const auto smallest = model(file.smallestkey);
    if (smallest.empty() || smallest != model(file.largestkey)) return {};
    return {
        std::string(smallest), rocks_chunk_seq(file.smallestkey), rocks_chunk_seq(file.largestkey)
    };
}

base::Result<std::string> checksum_of(
    rocksdb::FileSystem& disk, const rocksdb::LiveFileStorageInfo& file
) {
    const std::string path = file.directory + "/" + file.relative_filename;
    std::unique_ptr<rocksdb::FSSequentialFile> reader;
    auto status = disk.NewSequentialFile(path, rocksdb::FileOptions{}, &reader, nullptr);
    if (!status.ok()) return base::fail(rocks_error("open " + path, status));
    base::Sha256 sum;
    std::string buffer(std::size_t{1} << 18U, '\0');
    for (;;) {
        rocksdb::Slice piece;
        status = reader->Read(buffer.size(), rocksdb::IOOptions{}, &piece, buffer.data(), nullptr);
        if (!status.ok()) return base::fail(rocks_error("read " + path, status));
        if (piece.empty()) break;
        sum.update({piece.data(), piece.size()});
    }
    return sum.finish().hex();
}

/// A running database removes files that a compaction has replaced: not while they are read.
class FilesStay {
public:
    explicit FilesStay(rocksdb::DB& database)
        : database_(database), held_(database.DisableFileDeletions().ok()) {}
    ~FilesStay() {
        if (held_) static_cast<void>(database_.EnableFileDeletions(false));
    }
    FilesStay(const FilesStay&) = delete;
    FilesStay& operator=(const FilesStay&) = delete;

private:
    rocksdb::DB& database_;
    const bool held_;
};

}  // namespace

std::shared_ptr<rocksdb::FileChecksumGenFactory> rocks_checksums() {
    return std::make_shared<FileSums>();
}

std::vector<StorageFault> rocks_file_faults(rocksdb::DB& database) {
    const FilesStay stay(database);
    std::map<std::string, KeyRange> ranges;
    std::vector<rocksdb::LiveFileMetaData> tables;
    database.GetLiveFilesMetaData(&tables);
    for (const auto& table : tables)
        ranges[table.relative_filename] = key_range(table);

    rocksdb::LiveFilesStorageInfoOptions options;
    options.include_checksum_info = true;
    options.wal_size_for_flush = std::numeric_limits<std::uint64_t>::max();
    std::vector<rocksdb::LiveFileStorageInfo> files;
    const auto status = database.GetLiveFilesStorageInfo(options, &files);
    std::vector<StorageFault> faults;
    if (!status.ok()) {
        // Listing looks into the write-ahead log, which may be what is damaged.
        faults.push_back({.message = rocks_error("list the files of the log", status).message});
    }
    for (const auto& file : files) {
        const bool immutable =
            file.file_type == rocksdb::kTableFile || file.file_type == rocksdb::kBlobFile;
        if (!immutable || file.file_checksum.empty()) continue;
        const auto sum = checksum_of(*database.GetFileSystem(), file);
        if (sum && *sum == file.file_checksum) continue;
        const std::string name = file.relative_filename;
        const KeyRange range = ranges[name];
        faults.push_back(
            {.model = range.model,
             .first = range.first,
             .last = range.last,
             .message = sum ? fmt::format("the bytes of {} are not those that were written", name)
                            : sum.error().message}
        );
    }
    return faults;
}

}  // namespace engine
