#include "base/files.hpp"
#include "engine/rocks_store.hpp"

#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>

#include <fmt/format.h>

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

/// A file of the database that is never changed once it is written.
struct ImmutableFile {
    std::string path;
    std::string checksum;
    KeyRange range;
};

/// The records that a table may hold, when it holds chunks of one model only.
KeyRange key_range(const rocksdb::SstFileMetaData& file) {
    const auto model = [](std::string_view key) -> std::string_view {
        if (key.size() < 10 || key.front() != 'c') return {};
        return key.substr(1, key.size() - 10);
    };
    const auto smallest = model(file.smallestkey);
    if (smallest.empty() || smallest != model(file.largestkey)) return {};
    return {std::string(smallest), rocks_key_seq(file.smallestkey), rocks_key_seq(file.largestkey)};
}

std::vector<ImmutableFile> immutable_files(rocksdb::DB& database) {
    rocksdb::ColumnFamilyMetaData all;
    database.GetColumnFamilyMetaData(&all);
    std::vector<ImmutableFile> files;
    for (const auto& level : all.levels) {
        for (const auto& table : level.files) {
            files.push_back(
                {table.directory + "/" + table.relative_filename,
                 table.file_checksum,
                 key_range(table)}
            );
        }
    }
    for (const auto& blob : all.blob_files) {
        files.push_back({blob.blob_file_path + "/" + blob.blob_file_name, blob.checksum_value, {}});
    }
    return files;
}

base::Result<std::string> checksum_of(rocksdb::FileSystem& disk, const std::string& path) {
    std::unique_ptr<rocksdb::FSSequentialFile> reader;
    auto status = disk.NewSequentialFile(path, rocksdb::FileOptions{}, &reader, nullptr);
    if (!status.ok()) return base::fail(rocks_error("open " + path, status));
    base::Sha256 sum;
    std::string buffer(std::size_t{1} << 18U, '\0');
    for (;;) {
        rocksdb::Slice piece;
        status = reader->Read(buffer.size(), rocksdb::IOOptions{}, &piece, buffer.data(), nullptr);
        if (!status.ok()) return base::fail(rocks_error("read " + path, status));
        if (piece.empty()) return sum.finish().hex();
        sum.update({piece.data(), piece.size()});
    }
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
    std::vector<StorageFault> faults;
    for (const ImmutableFile& file : immutable_files(database)) {
        const auto sum = checksum_of(*database.GetFileSystem(), file.path);
        if (sum && *sum == file.checksum) continue;
        faults.push_back(
            {.model = file.range.model,
             .first = file.range.first,
             .last = file.range.last,
             .message =
                 sum ? fmt::format("the bytes of {} are not those that were written", file.path)
                     : sum.error().message}
        );
    }
    return faults;
}

}  // namespace engine
