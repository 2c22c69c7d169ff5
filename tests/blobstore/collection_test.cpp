#include "base/guarded.hpp"
#include "tests/blobstore/store_fixture.hpp"

#include <map>
#include <thread>

using blobstore_test::StoreFixture;

TEST_CASE("a collection removes what nothing refers to, once it is older than the grace") {
    StoreFixture f;
    const auto kept = f.put("kept");
    const auto old = f.put("old");
    f.clock.turn(base::seconds(50));
    const auto young = f.put("young");
    f.clock.turn(base::seconds(20));

    std::vector<base::Digest> told;
    const auto report = f.store->collect(
        {.grace = base::seconds(60),
         .collected = [&](const blobstore::BlobStat& stat) { told.push_back(stat.digest); }},
        [&] { return std::unordered_set{kept}; }
    );
    REQUIRE(report);
    CHECK(report->blobs_collected == 1);
    CHECK(report->bytes_collected == 3);
    CHECK(report->blobs_kept == 2);
    CHECK(told == std::vector{old});
    CHECK(f.exists(kept));
    CHECK(f.exists(young));
    CHECK_FALSE(f.exists(old));
    CHECK(f.store->usage().bytes == 9);
}

TEST_CASE("a wall clock that is set makes no blob older or younger") {
    for (const auto step : {base::seconds(86'400), base::seconds(-86'400)}) {
        StoreFixture f;
        const auto digest = f.put("x");
        f.clock.turn(base::seconds(50));
        f.clock.set_by(step);
        CHECK(f.collect({}, base::seconds(60))->blobs_collected == 0);
        CHECK(f.exists(digest));
        f.clock.turn(base::seconds(20));
        CHECK(f.collect({}, base::seconds(60))->blobs_collected == 1);
    }
}

TEST_CASE("a dry run counts and removes nothing") {
    StoreFixture f;
    const auto digest = f.put("x");
    const auto report = f.store->collect({.grace = {0}, .dry_run = true}, [] {
        return std::unordered_set<base::Digest>();
    });
    REQUIRE(report);
    CHECK(report->blobs_collected == 1);
    CHECK(f.exists(digest));
    CHECK(f.store->usage().blobs == 1);
}

TEST_CASE("a mark that fails ends the collection, and the next one can run") {
    StoreFixture f;
    const auto digest = f.put("x");
    const auto failed = f.store->collect({.grace = {0}}, [] {
        return base::Result<std::unordered_set<base::Digest>>(
            base::fail(base::ErrorCode::internal, "no marks")
        );
    });
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "no marks");
    CHECK(f.exists(digest));
    CHECK(f.collect()->blobs_collected == 1);
}

TEST_CASE("a pin keeps a blob until the last pin ends") {
    StoreFixture f;
    auto first = blobstore::put(*f.store, "x");
    REQUIRE(first);
    const auto digest = first->stat.digest;
    {
        const auto second = f.store->pin(digest);
        REQUIRE(second);
        first->pin.release();
        CHECK(f.collect()->blobs_collected == 0);
    }
    CHECK(f.collect()->blobs_collected == 1);
    CHECK_FALSE(f.exists(digest));
}

TEST_CASE("a put renews the grace of a blob that exists") {
    StoreFixture f;
    const auto digest = f.put("x");
    f.clock.turn(base::seconds(100));
    f.put("x");
    f.clock.turn(base::seconds(50));
    CHECK(f.collect({}, base::seconds(60))->blobs_collected == 0);
    CHECK(f.exists(digest));
    f.clock.turn(base::seconds(50));
    CHECK(f.collect({}, base::seconds(60))->blobs_collected == 1);
}

TEST_CASE("what is put or pinned after the mark was taken survives, even without a grace") {
    StoreFixture f;
    const auto put_again = f.put("put again");
    const auto pinned = f.put("pinned");
    const auto neither = f.put("neither");
    auto held = f.store->pin(f.put("held before, let go after the mark"));
    const auto held_digest = held->stat.digest;
    const auto report = f.store->collect({.grace = {0}}, [&] {
        std::unordered_set<base::Digest> marked;
        f.put("put again");
        CHECK(f.store->pin(pinned));
        held->pin.release();
        return marked;
    });
    REQUIRE(report);
    CHECK(f.exists(put_again));
    CHECK(f.exists(pinned));
    CHECK(f.exists(held_digest));
    CHECK_FALSE(f.exists(neither));
    CHECK(f.collect()->blobs_collected == 3);
}

TEST_CASE("a second collection at the same time is a conflict") {
    StoreFixture f;
    const auto report = f.store->collect({}, [&] {
        const auto second = f.collect();
        REQUIRE_FALSE(second);
        CHECK(second.error().code == base::ErrorCode::conflict);
        return std::unordered_set<base::Digest>();
    });
    CHECK(report);
}

TEST_CASE("a reader that is open reads a collected blob to its end") {
    StoreFixture f;
    const auto bytes = blobstore_test::some_bytes(500'000);
    const auto digest = f.put(bytes);
    const auto reader = f.store->read(digest);
    const auto part = f.store->read_range(digest, {.offset = 7});
    REQUIRE(f.collect()->blobs_collected == 1);
    CHECK(blobstore_test::drain(**reader).bytes == bytes);
    CHECK(blobstore_test::drain(**part).bytes == bytes.substr(7));
}

TEST_CASE("no interleaving of puts, pins and collections loses a blob that is referred to") {
    StoreFixture f;
    // What a log would refer to, counted; written only while the blob is pinned.
    base::Guarded<std::map<base::Digest, int>> references;
    std::atomic<bool> writing = true;
    std::atomic<int> lost = 0;
    std::atomic<std::uint64_t> collected = 0;

    const auto write = [&](int self) {
        for (int i = 0; i < 200 || (collected == 0 && i < 100'000); ++i) {
            const std::string bytes = "content " + std::to_string((i * 7 + self) % 5);
            const auto digest = base::sha256(bytes);
            base::Result<blobstore::Pinned> pinned = f.store->pin(digest);
            if (!pinned) pinned = blobstore::put(*f.store, bytes);
            if (!pinned) {
                ++lost;
                continue;
            }
            references.with([&](auto& map) { ++map[digest]; });
            pinned->pin.release();
            if (f.store->bytes(digest, 100) != bytes) ++lost;
            references.with([&](auto& map) {
                if (--map[digest] == 0) map.erase(digest);
            });
        }
    };
    std::thread collector([&] {
        while (writing) {
            const auto report = f.store->collect({.grace = {0}}, [&] {
                return references.with([](const auto& map) {
                    std::unordered_set<base::Digest> marked;
                    for (const auto& [digest, count] : map)
                        marked.insert(digest);
                    return marked;
                });
            });
            if (!report) {
                ++lost;
            } else {
                collected += report->blobs_collected;
            }
        }
    });
    std::vector<std::thread> writers;
    for (int self = 0; self < 4; ++self)
        writers.emplace_back(write, self);
    for (auto& writer : writers)
        writer.join();
    writing = false;
    collector.join();
    CHECK(lost == 0);
    CHECK(collected > 0);
    CHECK(f.collect());
    CHECK(f.store->usage().blobs == 0);
    CHECK(f.store->usage().bytes == 0);
    CHECK(f.temporary_files() == 0);
}
