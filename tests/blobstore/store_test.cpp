#include "tests/blobstore/store_fixture.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using blobstore_test::drain;
using blobstore_test::some_bytes;
using blobstore_test::StoreFixture;

namespace {

constexpr std::size_t chunk = blobstore::ChunkDigests::chunk_bytes;

std::uint64_t peak_memory_kib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    std::uint64_t kib = 0;
    while (status >> word) {
        if (word == "VmHWM:") status >> kib;
    }
    return kib;
}

}  // namespace

TEST_CASE("what is put is read back whole, streamed and in parts") {
    StoreFixture f;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk + 17}) {
        CAPTURE(size);
        const auto bytes = some_bytes(size);
        const auto digest = f.put(bytes);
        CHECK(digest == base::sha256(bytes));
        CHECK(f.store->bytes(digest, size) == bytes);
        const auto reader = f.store->read(digest);
        REQUIRE(reader);
        CHECK((*reader)->size() == size);
        const auto drained = drain(**reader);
        CHECK(drained.end);
        CHECK(drained.bytes == bytes);
        CHECK(blobstore::verify(*f.store, digest));
        for (const std::size_t offset : {std::size_t{0}, size / 2, size - size / 7, size}) {
            for (const std::size_t length : {std::size_t{0}, std::size_t{1}, size / 3, size + 9}) {
                const auto part = f.store->read_range(digest, {.offset = offset, .length = length});
                REQUIRE(part);
                CHECK(drain(**part).bytes == bytes.substr(offset, length));
                CHECK((*part)->size() == bytes.substr(offset, length).size());
            }
        }
    }
}

TEST_CASE("the same bytes are one file, and its permissions are the owner's reading") {
    StoreFixture f;
    const auto digest = f.put("same");
    CHECK(f.put("same") == digest);
    CHECK(f.store->usage().blobs == 1);
    CHECK(f.store->usage().bytes == 4);
    struct stat status{};
    REQUIRE(::stat(f.file(digest).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0400U);
    REQUIRE(::stat(f.root().c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0700U);
    CHECK(f.temporary_files() == 0);
}

TEST_CASE("a blob that was never put is not found, by its URN") {
    StoreFixture f;
    const auto digest = base::sha256("never");
    for (const auto& error :
         {f.store->bytes(digest, 10).error(),
          f.store->read(digest).error(),
          f.store->read_range(digest, {}).error(),
          f.store->stat(digest).error(),
          f.store->pin(digest).error()}) {
        CHECK(error.code == base::ErrorCode::not_found);
        CHECK(error.message.find(base::blob_urn(digest)) != std::string::npos);
    }
}

TEST_CASE("a blob larger than the reader takes is refused, and so is a range beyond its end") {
    StoreFixture f;
    const auto digest = f.put("12345");
    CHECK(f.store->bytes(digest, 4).error().code == base::ErrorCode::too_large);
    CHECK(f.store->read_range(digest, {.offset = 6}).error().code == base::ErrorCode::validation);
    CHECK(
        f.store->read_range(digest, {.offset = ~std::uint64_t{0}, .length = 2}).error().code ==
        base::ErrorCode::validation
    );
    CHECK(
        drain(**f.store->read_range(digest, {.offset = 1, .length = ~std::uint64_t{0}})).bytes ==
        "2345"
    );
}

TEST_CASE("an upload shows nothing before it is finished and leaves nothing when dropped") {
    StoreFixture f;
    {
        const auto upload = f.store->upload({});
        REQUIRE(upload);
        REQUIRE((*upload)->append("half"));
        CHECK((*upload)->offset() == 4);
        CHECK_FALSE(f.exists(base::sha256("half")));
        CHECK(f.store->usage().bytes_reserved == 4);
        CHECK(f.temporary_files() == 1);
    }
    CHECK(f.temporary_files() == 0);
    CHECK(f.store->usage().bytes_reserved == 0);
    CHECK(f.store->usage().blobs == 0);
}

TEST_CASE("an upload of other bytes than expected is refused as tampered") {
    StoreFixture f;
    const auto upload = f.store->upload({.expected = base::sha256("right")});
    REQUIRE((*upload)->append("wrong"));
    const auto finished = (*upload)->finish();
    REQUIRE_FALSE(finished);
    CHECK(finished.error().code == base::ErrorCode::validation);
    CHECK(finished.error().message.find(base::sha256("right").hex()) != std::string::npos);
    CHECK_FALSE(f.exists(base::sha256("wrong")));
    CHECK(f.temporary_files() == 0);
    const auto good = f.store->upload({.expected = base::sha256("right")});
    REQUIRE((*good)->append("ri"));
    REQUIRE((*good)->append("ght"));
    CHECK((*good)->finish());
}

TEST_CASE("an upload above its size limit is refused and leaves nothing") {
    StoreFixture f;
    const auto upload = f.store->upload({.bytes_max = 5});
    REQUIRE((*upload)->append("123"));
    CHECK((*upload)->append("456").error().code == base::ErrorCode::too_large);
    CHECK(f.temporary_files() == 0);
    CHECK(f.store->usage().bytes_reserved == 0);
}

TEST_CASE("the quota counts blobs and unfinished uploads, and the same bytes once") {
    StoreFixture f(10);
    f.put("12345");
    f.put("12345");
    CHECK(f.store->usage().bytes == 5);
    f.put("6");
    const auto refused = blobstore::put(*f.store, "abcde");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::limit);
    CHECK_FALSE(refused.error().next.empty());
    {
        const auto first = f.store->upload({});
        REQUIRE((*first)->append("abc"));
        const auto second = f.store->upload({});
        CHECK((*second)->append("xy").error().code == base::ErrorCode::limit);
    }
    f.put("abcd");
    CHECK(f.store->usage().bytes == 10);
    CHECK(f.temporary_files() == 0);
    f.open(10);
    CHECK(f.store->usage().bytes == 10);
    CHECK(f.store->usage().blobs == 3);
    REQUIRE(f.collect());
    CHECK(f.store->usage().bytes == 0);
    f.put("1234567890");
}

TEST_CASE("the list is in order of digests and pages join without a gap") {
    StoreFixture f;
    std::vector<base::Digest> digests;
    for (int i = 0; i < 40; ++i)
        digests.push_back(f.put(std::to_string(i)));
    std::ranges::sort(digests);
    std::vector<base::Digest> listed;
    std::optional<base::Digest> after;
    for (;;) {
        const auto page = f.store->list(after, 7);
        REQUIRE(page);
        if (page->empty()) break;
        CHECK(page->size() <= 7);
        for (const auto& stat : *page)
            listed.push_back(stat.digest);
        after = listed.back();
    }
    CHECK(listed == digests);
}

TEST_CASE(
    "what an earlier process left in tmp is gone after a start, and strange files are left alone"
) {
    StoreFixture f;
    const auto digest = f.put("kept");
    f.store.reset();
    std::ofstream(f.root() / "tmp" / "left") << "over";
    std::ofstream(f.file(digest).parent_path() / "README") << "strange";
    f.open();
    CHECK(f.temporary_files() == 0);
    CHECK(f.store->usage().blobs == 1);
    CHECK(f.store->bytes(digest, 10) == "kept");
    CHECK(f.store->list({}, 10)->size() == 1);
    REQUIRE(f.collect());
    CHECK(std::filesystem::exists(f.file(digest).parent_path() / "README"));
}

TEST_CASE("a store that another process has open is a conflict") {
    StoreFixture f;
    const pid_t child = ::fork();
    if (child == 0) {
        const auto opened = blobstore::FileStore::open({.folder = f.root()});
        ::_exit(!opened && opened.error().code == base::ErrorCode::conflict ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("streams in both directions need memory for a piece, not for the blob") {
    StoreFixture f;
    const auto piece = some_bytes(256 << 10U);
    f.put(piece);
    const auto before = peak_memory_kib();
    const auto upload = f.store->upload({});
    constexpr std::uint64_t pieces = 512;  // 128 MiB
    for (std::uint64_t i = 0; i < pieces; ++i)
        REQUIRE((*upload)->append(piece));
    const auto pinned = (*upload)->finish();
    REQUIRE(pinned);
    CHECK(pinned->stat.size == pieces * piece.size());
    CHECK(blobstore::verify(*f.store, pinned->stat.digest));
    const auto part =
        f.store->read_range(pinned->stat.digest, {.offset = 100'000'000, .length = 5});
    REQUIRE(part);
    CHECK(drain(**part).bytes == piece.substr(100'000'000 % piece.size(), 5));
    CHECK(peak_memory_kib() < before + 8192);
}
