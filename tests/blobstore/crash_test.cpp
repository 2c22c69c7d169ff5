#include "tests/blobstore/store_fixture.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <random>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using blobstore_test::some_bytes;
using blobstore_test::StoreFixture;

namespace {

// Writes blobs for ever; tells the digest of each that it was promised to be durable.
[[noreturn]] void write_until_killed(
    const std::filesystem::path& root, std::uint64_t seed, int told
) {
    const auto store = blobstore::FileStore::open({.folder = root});
    if (!store) ::_exit(1);
    for (std::uint64_t i = 0;; ++i) {
        const auto bytes = some_bytes((i * 37'813 + seed * 7) % 400'000, seed * 1000 + i % 9);
        const auto upload = (*store)->upload({});
        for (std::size_t at = 0; at < bytes.size(); at += 50'000) {
            if (!(*upload)->append(std::string_view(bytes).substr(at, 50'000))) ::_exit(1);
        }
        const auto pinned = (*upload)->finish();
        if (!pinned) ::_exit(1);
        const auto& digest = pinned->stat.digest.bytes;
        if (::write(told, digest.data(), digest.size()) != 32) ::_exit(1);
        if (i % 5 == 4) {
            const auto none = [] { return std::unordered_set<base::Digest>(); };
            // A grace that nothing here outlives: the walk happens, nothing told is removed.
            if (!(*store)->collect({.grace = base::seconds(1000)}, none)) ::_exit(1);
        }
    }
}

std::size_t run_and_kill(
    const std::filesystem::path& root,
    std::uint64_t seed,
    long kill_after_us,
    std::set<base::Digest>& told
) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        write_until_killed(root, seed, ends[1]);
    }
    ::close(ends[1]);
    // Not a wait for a condition: the moment of the crash is the input of this test.
    const timespec moment{.tv_sec = 0, .tv_nsec = kill_after_us * 1000};
    ::nanosleep(&moment, nullptr);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    base::Digest digest;
    std::size_t count = 0;
    while (::read(ends[0], digest.bytes.data(), digest.bytes.size()) == 32) {
        told.insert(digest);
        ++count;
    }
    ::close(ends[0]);
    return count;
}

}  // namespace

TEST_CASE(
    "a process killed at any moment leaves of each blob nothing or all of it, and loses none it "
    "told of"
) {
    StoreFixture f;
    f.store.reset();
    std::mt19937_64 random(20'240'607);
    std::set<base::Digest> told;
    const char* more = std::getenv("NETWRIGHT_CRASH_ROUNDS");
    const std::uint64_t rounds = more == nullptr ? 60 : std::strtoull(more, nullptr, 10);
    std::size_t seen_unfinished = 0;
    // On a busy machine many rounds may pass before one is cut off in the middle of a blob.
    const auto more_needed = [&](std::uint64_t round) {
        return round < rounds || (seen_unfinished == 0 && round < 20 * rounds);
    };
    for (std::uint64_t round = 0; more_needed(round); ++round) {
        CAPTURE(round);
        run_and_kill(f.root(), round, static_cast<long>(random() % 60'000), told);
        if (std::filesystem::exists(f.root() / "tmp")) seen_unfinished += f.temporary_files();

        f.open();
        CHECK(f.temporary_files() == 0);
        const auto blobs = f.store->list({}, 1'000'000);
        REQUIRE(blobs);
        std::set<base::Digest> present;
        std::uint64_t bytes = 0;
        for (const auto& blob : *blobs) {
            present.insert(blob.digest);
            bytes += blob.size;
            CHECK(blobstore::verify(*f.store, blob.digest));
        }
        for (const auto& digest : told)
            CHECK(present.contains(digest));
        CHECK(f.store->usage().bytes == bytes);
        f.clock.turn(base::seconds(10));
        // Keeps the work of a round small: starts afresh now and then.
        if (round % 10 == 9) {
            f.store.reset();
            std::filesystem::remove_all(f.root());
            told.clear();
        }
        f.store.reset();
    }
    CHECK(seen_unfinished > 0);
}
