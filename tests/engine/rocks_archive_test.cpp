// Old records move into the blob store, and are read as before.
#include "base/files.hpp"
#include "blobstore/disk.hpp"
#include "blobstore/file_store.hpp"
#include "engine/audit.hpp"
#include "engine/rocks_log.hpp"
#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>

using engine::testing::all_records;
using engine::testing::append_records;

namespace {

namespace fs = std::filesystem;

struct Archive {
    base::TemporaryFolder folder;
    std::unique_ptr<blobstore::FileStore> blobs;
    std::unique_ptr<engine::EventLog> log;
    engine::Epoch epoch = 0;

    Archive() { open(); }
    void open(bool with_blobs = true) {
        log.reset();
        blobs.reset();
        blobs = *blobstore::FileStore::open({.folder = folder.path() / "blobs"});
        auto opened = engine::open_rocks_log(
            folder.path() / "log", {.blobs = with_blobs ? blobs.get() : nullptr}
        );
        REQUIRE(opened);
        log = std::move(*opened);
        epoch = *log->own("m");
    }
    void append(std::size_t times, std::size_t records, std::size_t bytes) {
        for (std::size_t i = 0; i < times; ++i)
            append_records(*log, "m", epoch, records, bytes);
    }
    [[nodiscard]] std::uintmax_t database_bytes() const {
        std::uintmax_t sum = 0;
        for (const auto& entry : fs::directory_iterator(folder.path() / "log" / "db")) {
            const auto extension = entry.path().extension();
            if (extension == ".sst" || extension == ".blob") sum += entry.file_size();
        }
        return sum;
    }
};

}  // namespace

TEST_CASE("archived records are read byte for byte, audited, and appended to, after reopening too"
) {
    Archive a;
    a.append(40, 50, 300);
    const auto before = all_records(*a.log, "m");
    const auto done = a.log->archive("m", 1234);
    REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
    CHECK(done->records == 1200);  // whole chunks
    CHECK(done->to == 1200);
    CHECK(done->blobs == 1);
    CHECK(a.log->archived_blobs("m")->size() == 1);
    for (int round = 0; round < 2; ++round) {
        CHECK(all_records(*a.log, "m") == before);
        CHECK(all_records(*a.log, "m", 777).size() == before.size() - 776);
        CHECK(engine::verify(*a.log, "m")->ok());
        a.open();
    }
    a.append(1, 50, 300);
    CHECK(engine::testing::chained_up_to(*a.log, "m", 2050));
}

TEST_CASE("archiving goes on where it ended, never takes the last chunk, and other models stay") {
    Archive a;
    a.append(10, 50, 300);
    append_records(*a.log, "other", *a.log->own("other"), 500, 300);
    CHECK(a.log->archive("m", 120)->records == 100);
    CHECK(a.log->archive("m", 120)->records == 0);
    CHECK(a.log->archive("m", 0)->records == 0);
    const auto rest = a.log->archive("m", 1'000'000);
    CHECK(rest->records == 350);
    CHECK(rest->to == 450);
    CHECK(a.log->archive("m", 1'000'000)->records == 0);
    CHECK(a.log->archived_blobs("m")->size() == 2);
    CHECK(a.log->archived_blobs("other")->empty());
    CHECK(a.log->archive("nobody", 10)->records == 0);
    CHECK(engine::testing::chained_up_to(*a.log, "m", 500));
    CHECK(engine::testing::chained_up_to(*a.log, "other", 500));
}

TEST_CASE("what was archived no longer fills the log's files") {
    Archive a;
    a.append(100, 50, 10'000);
    REQUIRE(a.log->copy_to(a.folder.path() / "flushed"));  // all of it is in files now
    const auto before = a.database_bytes();
    REQUIRE(before > 40'000'000);
    const auto done = a.log->archive("m", 1'000'000);
    CHECK(done->blobs >= 3);
    CHECK(a.database_bytes() < before / 10);
    CHECK(engine::testing::chained_up_to(*a.log, "m", 5000));
}

TEST_CASE("a damaged, lost or unreachable blob is told for the records it holds, and for no others"
) {
    Archive a;
    a.append(10, 50, 300);
    REQUIRE(a.log->archive("m", 260)->records == 250);
    const blobstore::Layout layout(a.folder.path() / "blobs");
    const auto file = layout.blob(a.log->archived_blobs("m")->front());
    REQUIRE(fs::exists(file));
    const auto check = [&] {
        const auto report = engine::verify(*a.log, "m");
        REQUIRE(report);
        REQUIRE_FALSE(report->ok());
        CHECK(report->findings.front().first == 1);
        CHECK(report->findings.front().last == 250);
        CHECK(report->findings.front().fault == engine::AuditFault::tampered);
        CHECK(a.log->read("m", 251, {}));
        const auto read = a.log->read("m", 7, {});
        REQUIRE_FALSE(read);
        CHECK(read.error().code == base::ErrorCode::tamper);
    };
    SUBCASE("damaged") {
        fs::permissions(file, fs::perms::owner_all);
        auto bytes = *base::read_file(file, 1U << 30U);
        bytes[1000] = static_cast<char>(bytes[1000] ^ 1);
        REQUIRE(base::write_file_atomically(file, bytes));
        a.open();
        check();
    }
    SUBCASE("lost") {
        fs::remove(file);
        a.open();
        check();
    }
    SUBCASE("not at hand") {
        a.open(false);
        check();
        CHECK_FALSE(a.log->archive("m", 400));
    }
}
