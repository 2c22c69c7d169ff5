#include "blobstore/archive.hpp"

#include "tests/blobstore/archive_fixture.hpp"
#include "tests/blobstore/store_fixture.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>

using blobstore::ArchiveWriter;
using blobstore::Compression;
using blobstore_test::some_bytes;
using blobstore_test::source_of;
using blobstore_test::tar;
using blobstore_test::tree;

namespace {

blobstore::ByteSink sink_into(std::string& bytes) {
    return [&bytes](std::string_view piece) -> base::Result<void> {
        bytes += piece;
        return {};
    };
}

std::string archive_of(const std::map<std::string, std::string>& files, Compression compression) {
    std::string bytes;
    auto writer = ArchiveWriter::open(sink_into(bytes), {.compression = compression});
    REQUIRE(writer);
    for (const auto& [name, content] : files)
        REQUIRE(writer->add_bytes(name, content, 0644));
    REQUIRE(writer->finish());
    return bytes;
}

base::Result<blobstore::ArchiveReport> names_of(
    std::string_view bytes, std::vector<std::string>& names
) {
    return blobstore::read_archive(
        source_of(bytes),
        {},
        [&](const blobstore::ArchiveEntry& entry,
            const blobstore::ByteSource&) -> base::Result<void> {
            names.push_back(entry.name);
            return {};
        }
    );
}

}  // namespace

TEST_CASE("an archive unpacks to the files that were packed, with every compression") {
    const std::map<std::string, std::string> files = {
        {"empty", ""},
        {"a.txt", "hello"},
        {"deep/er/b.bin", some_bytes(400'000)},
        {"gr\xC3\xBC\xC3\x9F"
         "e/\xE6\x97\xA5\xE6\x9C\xAC.txt",
         "not ASCII"},
        {"long/" + std::string(200, 'n') + "/" + std::string(200, 'm'), "long name"},
    };
    for (const auto compression : {Compression::none, Compression::gzip, Compression::zstd}) {
        const auto bytes = archive_of(files, compression);
        CHECK(bytes == archive_of(files, compression));
        const base::TemporaryFolder folder;
        const auto report = blobstore::extract_archive(source_of(bytes), folder.path(), {});
        if (!report) FAIL(report.error().message);
        CHECK(report->entries == files.size());
        auto unpacked = tree(folder.path());
        std::erase_if(unpacked, [](const auto& entry) { return entry.second == "folder"; });
        CHECK(unpacked == files);
    }
}

TEST_CASE("files, blobs and permissions go through an archive as streams, and progress is told") {
    blobstore_test::StoreFixture f;
    const auto content = some_bytes(1'000'000);
    const auto digest = f.put(content);
    const auto script = f.folder.path() / "run.sh";
    REQUIRE(base::write_file_atomically(script, "echo hi\n", 0750));
    const auto path = f.folder.path() / "out.tar.zst";
    std::uint64_t told_bytes = 0;
    std::vector<std::string> told;
    {
        const base::FileDescriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        const auto progress = [&](const blobstore::ArchiveProgress& at) {
            CHECK(at.bytes >= told_bytes);
            told_bytes = at.bytes;
            if (told.empty() || told.back() != at.name) told.emplace_back(at.name);
        };
        auto writer = ArchiveWriter::open(blobstore::sink_to(out.value()), {.progress = progress});
        REQUIRE(writer);
        REQUIRE(writer->add_file("bin/run.sh", script));
        const auto reader = f.store->read(digest);
        REQUIRE(
            writer->add_stream("blob", (*reader)->size(), blobstore::source_from(**reader), 0400)
        );
        REQUIRE(writer->finish());
    }
    CHECK(told == std::vector<std::string>{"bin/run.sh", "blob"});
    CHECK(told_bytes == 1'000'008);

    const base::TemporaryFolder into;
    const base::FileDescriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::uint64_t unpacked_bytes = 0;
    const auto report = blobstore::extract_archive(
        blobstore::source_from(in.value()),
        into.path(),
        {.progress = [&](const auto& at) { unpacked_bytes = at.bytes; }, .durable = true}
    );
    REQUIRE(report);
    CHECK(report->bytes == 1'000'008);
    CHECK(unpacked_bytes == 1'000'008);
    struct stat status{};
    REQUIRE(::stat((into.path() / "bin/run.sh").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0750U);
    CHECK(base::read_file(into.path() / "blob", 2'000'000) == content);
}

TEST_CASE("names are made plain, implied folders are made, and links within the root are kept") {
    const auto bytes = tar(
        {{.name = "./", .type = '5', .mode = 0755},
         {.name = "./a//b/./c", .content = "x"},
         {.name = "a/b/", .type = '5', .mode = 0700},
         {.name = "a/up", .type = '2', .target = "../a/b/c"},
         {.name = "down", .type = '2', .target = "a/b"}}
    );
    const base::TemporaryFolder folder;
    const auto report = blobstore::extract_archive(source_of(bytes), folder.path(), {});
    if (!report) FAIL(report.error().message);
    CHECK(
        tree(folder.path()) ==
        std::map<std::string, std::string>{
            {"a", "folder"},
            {"a/b", "folder"},
            {"a/b/c", "x"},
            {"a/up", "link:../a/b/c"},
            {"down", "link:a/b"}
        }
    );
}

TEST_CASE("an archive cut short at any place is refused, and the folder is empty again") {
    for (const auto compression : {Compression::none, Compression::gzip, Compression::zstd}) {
        const auto bytes = archive_of({{"a", "first"}, {"b", some_bytes(3000)}}, compression);
        const std::size_t step = compression == Compression::none ? 64 : 7;
        // Beyond the first block of the end mark a plain tar is whole.
        const auto end = compression == Compression::none ? bytes.size() - 600 : bytes.size();
        for (std::size_t size = 0; size < end; size += step) {
            CAPTURE(size);
            const base::TemporaryFolder folder;
            const auto report = blobstore::extract_archive(
                source_of(std::string_view(bytes).substr(0, size)), folder.path(), {}
            );
            REQUIRE_FALSE(report);
            CHECK(report.error().code == base::ErrorCode::validation);
            CHECK(tree(folder.path()).empty());
        }
    }
}

TEST_CASE("a writer that is dropped unfinished leaves an archive that readers refuse") {
    for (const auto compression : {Compression::none, Compression::gzip, Compression::zstd}) {
        std::string bytes;
        {
            auto writer = ArchiveWriter::open(sink_into(bytes), {.compression = compression});
            REQUIRE(writer->add_bytes("a", some_bytes(300'000), 0644));
        }
        std::vector<std::string> names;
        CHECK_FALSE(names_of(bytes, names));
    }
}

TEST_CASE("errors of a source and of a sink come back as they are") {
    const auto broken_sink = [](std::string_view) -> base::Result<void> {
        return base::fail(base::ErrorCode::limit, "no room");
    };
    for (const auto compression : {Compression::none, Compression::gzip, Compression::zstd}) {
        auto writer = ArchiveWriter::open(broken_sink, {.compression = compression});
        REQUIRE(writer);
        const auto added = writer->add_bytes("a", some_bytes(1'000'000), 0644);
        const auto finished = added ? writer->finish() : added;
        REQUIRE_FALSE(finished);
        CHECK(finished.error().message == "no room");
    }

    const auto bytes = tar({{.name = "a", .content = some_bytes(5000)}});
    auto inner = source_of(bytes);
    const auto source = [&, calls = 0]() mutable -> base::Result<std::string_view> {
        if (++calls == 4) return base::fail(base::ErrorCode::tamper, "bad blob");
        return inner();
    };
    const base::TemporaryFolder folder;
    const auto report = blobstore::extract_archive(source, folder.path(), {});
    REQUIRE_FALSE(report);
    CHECK(report.error().code == base::ErrorCode::tamper);
    CHECK(report.error().message == "bad blob");
}

TEST_CASE("a writer refuses what a reader would, and a stream that ends early") {
    std::string bytes;
    auto writer = ArchiveWriter::open(sink_into(bytes), {.limits = {.entry_bytes_max = 10}});
    REQUIRE(writer);
    REQUIRE(writer->add_bytes("a", "1", 0644));
    CHECK(writer->add_bytes("a", "2", 0644).error().message.find("twice") != std::string::npos);
    CHECK(writer->add_bytes("../a", "2", 0644).error().code == base::ErrorCode::validation);
    CHECK(writer->add_bytes("b", "12345678901", 0644).error().code == base::ErrorCode::too_large);
    CHECK(
        writer->add_stream("c", 5, source_of("1234"), 0644).error().code ==
        base::ErrorCode::conflict
    );
    CHECK(writer->add_file("d", "/dev/null").error().code == base::ErrorCode::validation);
}

TEST_CASE("a folder that is absent or not empty is not unpacked into") {
    const base::TemporaryFolder folder;
    REQUIRE(base::write_file_atomically(folder.path() / "mine", "precious"));
    const auto bytes = tar({{.name = "a"}});
    CHECK(
        blobstore::extract_archive(source_of(bytes), folder.path(), {}).error().code ==
        base::ErrorCode::conflict
    );
    CHECK(base::read_file(folder.path() / "mine", 100) == "precious");
    CHECK_FALSE(blobstore::extract_archive(source_of(bytes), folder.path() / "absent", {}));
}

TEST_CASE("an archive of nothing is whole, and no bytes are no archive") {
    std::vector<std::string> names;
    const auto report = names_of(archive_of({}, Compression::zstd), names);
    REQUIRE(report);
    CHECK(report->entries == 0);
    CHECK_FALSE(names_of("", names));
    CHECK_FALSE(names_of("not an archive at all", names));
}
