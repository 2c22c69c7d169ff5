#include "engine/snapshot_store.hpp"

#include "base/files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using engine::LogHead;
using engine::Seq;
using engine::SnapshotStore;

namespace {

LogHead head_at(Seq seq) {
    return {.seq = seq, .hash = base::sha256("head " + std::to_string(seq))};
}

void put(SnapshotStore& store, Seq seq, std::string_view content) {
    auto writer = store.create("m", head_at(seq));
    REQUIRE(writer);
    REQUIRE(writer->write(content));
    REQUIRE(writer->finish(base::sha256(content)));
}

std::string content_of(engine::SnapshotReader& reader) {
    std::string content;
    for (;;) {
        const auto piece = reader.read();
        REQUIRE(piece);
        if (piece->empty()) return content;
        content += *piece;
    }
}

std::filesystem::path file_of(const std::filesystem::path& folder, Seq seq) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "m")) {
        if (std::stoull(entry.path().filename().string()) == seq) return entry.path();
    }
    return {};
}

}  // namespace

TEST_CASE("a snapshot is read back with what it says of itself") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    std::string content;
    for (int i = 0; content.size() < 1'000'000; ++i)
        content += std::to_string(i) + ",";
    auto writer = store.create("m", head_at(7)).value();
    for (std::size_t at = 0; at < content.size(); at += 77'777) {
        REQUIRE(writer.write(std::string_view(content).substr(at, 77'777)));
    }
    CHECK_FALSE(store.newest_at_or_before("m", 100).value());
    const auto info = writer.finish(base::sha256("state")).value();
    CHECK(info.size == content.size());
    auto reader = store.newest_at_or_before("m", 100).value();
    REQUIRE(reader);
    CHECK(reader->info().head == head_at(7));
    CHECK(reader->info().state_hash == base::sha256("state"));
    CHECK(reader->info().size == content.size());
    CHECK(content_of(*reader) == content);
    CHECK(reader->read().value().empty());
}

TEST_CASE("pieces of exact sizes are read across the pieces of the file") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    const std::string content(600'000, 'x');
    put(store, 1, content + "end");
    auto reader = store.open("m", 1).value();
    std::string out;
    REQUIRE(reader.read_exactly(out, 600'000));
    CHECK(out == content);
    out.clear();
    REQUIRE(reader.read_exactly(out, 3));
    CHECK(out == "end");
    CHECK_FALSE(reader.read_exactly(out, 1));
}

TEST_CASE("the newest snapshot at or before a seq is found") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    for (const Seq seq : {10U, 20U, 30U})
        put(store, seq, "at " + std::to_string(seq));
    CHECK_FALSE(store.newest_at_or_before("m", 9).value());
    CHECK(store.newest_at_or_before("m", 10).value()->info().head.seq == 10);
    CHECK(store.newest_at_or_before("m", 29).value()->info().head.seq == 20);
    CHECK(store.newest_at_or_before("m", 99).value()->info().head.seq == 30);
    CHECK_FALSE(store.newest_at_or_before("other", 99).value());
}

TEST_CASE("a snapshot with any byte changed, cut or added is skipped for the one before it") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    put(store, 1, "old");
    put(store, 2, "the newer content");
    const auto path = file_of(folder.path(), 2);
    const auto whole = base::read_file(path, 10'000).value();
    const auto damage = [&](std::string_view bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        const auto opened = store.open("m", 2);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().code == base::ErrorCode::tamper);
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        damage(changed);
        damage(whole.substr(0, at));
    }
    damage(whole + "x");
    CHECK(store.newest_at_or_before("m", 9).value()->info().head.seq == 1);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
    CHECK(store.newest_at_or_before("m", 9).value()->info().head.seq == 2);
}

TEST_CASE("a snapshot under another's name is not taken for it") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    put(store, 1, "one");
    std::filesystem::copy_file(
        file_of(folder.path(), 1), folder.path() / "m" / "00000000000000000005-9.snapshot"
    );
    CHECK(store.newest_at_or_before("m", 9).value()->info().head.seq == 1);
}

TEST_CASE("the newest three and those whose number is a power of two are kept") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    for (Seq n = 1; n <= 21; ++n)
        put(store, n * 100, "x");
    CHECK(store.list("m").value() == std::vector<Seq>{100, 200, 400, 800, 1600, 1900, 2000, 2100});
}

TEST_CASE("a snapshot that was not finished leaves nothing") {
    const base::TemporaryFolder folder;
    SnapshotStore store(folder.path());
    {
        auto writer = store.create("m", head_at(3)).value();
        REQUIRE(writer.write("half"));
    }
    CHECK(std::filesystem::is_empty(folder.path() / "m"));
    // What a crash left.
    REQUIRE(base::write_file_atomically(folder.path() / "m" / "x.snapshot.tmp", "half"));
    REQUIRE(store.prune("m"));
    CHECK(std::filesystem::is_empty(folder.path() / "m"));
}
