#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"
#include "blobstore/file_store.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace blobstore_test {

class TurnedClock final : public base::Clock {
public:
    [[nodiscard]] base::Timestamp now() const override { return {us_.load() + set_by_us_.load()}; }
    [[nodiscard]] base::Duration elapsed() const override { return {us_.load()}; }
    void turn(base::Duration length) { us_ += length.us; }
    /// The clock on the wall alone.
    void set_by(base::Duration step) { set_by_us_ += step.us; }

private:
    std::atomic<std::int64_t> set_by_us_ = 0;
    std::atomic<std::int64_t> us_{1'700'000'000'000'000};
};

// Bytes that differ from place to place and from seed to seed.
inline std::string some_bytes(std::size_t size, std::uint64_t seed = 1) {
    std::string bytes(size, '\0');
    std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
    for (auto& byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<char>(state >> 56U);
    }
    return bytes;
}

struct StoreFixture {
    base::TemporaryFolder folder;
    TurnedClock clock;
    std::unique_ptr<blobstore::FileStore> store;

    explicit StoreFixture(std::uint64_t bytes_quota = std::uint64_t{1} << 40U) {
        open(bytes_quota);
    }

    void open(std::uint64_t bytes_quota = std::uint64_t{1} << 40U) {
        store.reset();
        auto opened = blobstore::FileStore::open(
            {.folder = root(), .bytes_quota = bytes_quota, .clock = clock}
        );
        REQUIRE(opened);
        store = std::move(*opened);
    }
    [[nodiscard]] std::filesystem::path root() const { return folder.path() / "blobs"; }
    [[nodiscard]] std::filesystem::path file(const base::Digest& digest) const {
        return blobstore::Layout(root()).blob(digest);
    }
    base::Digest put(std::string_view bytes) const {
        auto pinned = blobstore::put(*store, bytes);
        REQUIRE(pinned);
        return pinned->stat.digest;
    }
    [[nodiscard]] bool exists(const base::Digest& digest) const {
        return store->stat(digest).has_value();
    }
    [[nodiscard]] std::size_t temporary_files() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(root() / "tmp"), {})
        );
    }
    // Everything, keeping what `kept` names.
    base::Result<blobstore::CollectionReport> collect(
        std::unordered_set<base::Digest> kept = {}, base::Duration grace = {0}
    ) const {
        return store->collect({.grace = grace}, [&] { return kept; });
    }
};

struct Drained {
    std::string bytes;
    base::Result<void> end;
};

inline Drained drain(blobstore::Reader& reader) {
    Drained drained;
    for (;;) {
        const auto piece = reader.next();
        if (!piece) {
            drained.end = base::fail(piece.error());
            return drained;
        }
        if (piece->empty()) return drained;
        drained.bytes += *piece;
    }
}

}  // namespace blobstore_test
