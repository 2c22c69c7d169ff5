#include "tests/blobstore/store_fixture.hpp"

#include <functional>

using blobstore_test::drain;
using blobstore_test::some_bytes;
using blobstore_test::StoreFixture;

namespace {

constexpr std::size_t chunk = blobstore::ChunkDigests::chunk_bytes;

void make_writable(const std::filesystem::path& file) {
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

void flip(const std::filesystem::path& file, std::size_t at) {
    make_writable(file);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(byte ^ 1));
}

void write(const std::filesystem::path& file, std::string_view bytes) {
    std::filesystem::remove_all(file);
    std::ofstream(file, std::ios::binary) << bytes;
}

void check_tampered(const base::Error& error, const base::Digest& digest) {
    CHECK(error.code == base::ErrorCode::tamper);
    CHECK(error.message.find(base::blob_urn(digest)) != std::string::npos);
    CHECK_FALSE(error.next.empty());
}

// Every way of reading says so before the first byte: an HTTP status cannot be taken back.
void check_damaged(StoreFixture& f, const base::Digest& digest, std::string_view right) {
    const auto whole = f.store->bytes(digest, right.size() + 1000);
    REQUIRE_FALSE(whole);
    check_tampered(whole.error(), digest);

    const auto reader = f.store->read(digest);
    REQUIRE_FALSE(reader);
    check_tampered(reader.error(), digest);
    const auto part = f.store->read_range(digest, {.offset = 0, .length = 1});
    REQUIRE_FALSE(part);
    check_tampered(part.error(), digest);
}

}  // namespace

TEST_CASE("a blob with any altered byte is an error that names it, however it is read") {
    StoreFixture f;
    for (const std::size_t size : {std::size_t{1}, std::size_t{5}, chunk, 2 * chunk + 17}) {
        const auto bytes = some_bytes(size, size);
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            CAPTURE(size);
            CAPTURE(at);
            const auto digest = f.put(bytes);
            flip(f.file(digest), at);
            check_damaged(f, digest, bytes);
        }
    }
}

TEST_CASE("every byte of a small blob counts") {
    StoreFixture f;
    const auto bytes = some_bytes(300);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const auto digest = base::sha256(bytes);
        if (at == 0) f.put(bytes);
        flip(f.file(digest), at);
        check_damaged(f, digest, bytes);
        flip(f.file(digest), at);
        CHECK(f.store->bytes(digest, 300) == bytes);
    }
}

TEST_CASE("a blob cut short, grown or replaced is an error that names it") {
    StoreFixture f;
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, chunk, chunk + 1}) {
        CAPTURE(size);
        const auto bytes = some_bytes(size, size);
        const std::vector<std::function<void(const std::filesystem::path&)>> damages = {
            [&](const auto& file) { write(file, bytes + "x"); },
            [&](const auto& file) { write(file, some_bytes(size + 3, 99)); },
            [&](const auto& file) {
                if (size == 0) {
                    write(file, "y");
                } else {
                    make_writable(file);
                    std::filesystem::resize_file(file, size - 1);
                }
            },
            [&](const auto& file) {
                std::filesystem::remove(file);
                std::filesystem::create_directory(file);
            },
            [&](const auto& file) {
                write(f.folder.path() / "elsewhere", bytes);
                std::filesystem::remove_all(file);
                std::filesystem::create_symlink(f.folder.path() / "elsewhere", file);
            },
        };
        for (const auto& damage : damages) {
            const auto digest = base::sha256(bytes);
            std::filesystem::remove_all(f.file(digest));
            f.put(bytes);
            damage(f.file(digest));
            check_damaged(f, digest, bytes);
        }
    }
}

TEST_CASE("damage that comes after a part was read is seen in the part that has it") {
    StoreFixture f;
    const auto bytes = some_bytes(3 * chunk);
    const auto digest = f.put(bytes);
    REQUIRE(f.store->read_range(digest, {}));
    flip(f.file(digest), chunk + 5);

    const auto good = f.store->read_range(digest, {.offset = 2 * chunk, .length = 10});
    REQUIRE(good);
    CHECK(drain(**good).bytes == bytes.substr(2 * chunk, 10));

    const auto bad = f.store->read_range(digest, {.offset = chunk - 2, .length = 10});
    REQUIRE_FALSE(bad);
    check_tampered(bad.error(), digest);

    std::filesystem::resize_file(f.file(digest), 2 * chunk);
    const auto cut = f.store->read_range(digest, {.offset = 0, .length = 1});
    REQUIRE_FALSE(cut);
    check_tampered(cut.error(), digest);
}

TEST_CASE("damage under an open reader is seen before its last piece") {
    StoreFixture f;
    const auto bytes = some_bytes(3 * chunk);
    const auto digest = f.put(bytes);
    const auto reader = f.store->read(digest);
    REQUIRE(reader);
    REQUIRE((*reader)->next());
    flip(f.file(digest), 3 * chunk - 1);
    const auto drained = drain(**reader);
    CHECK(drained.bytes.size() == chunk);
    REQUIRE_FALSE(drained.end);
    check_tampered(drained.end.error(), digest);
}

TEST_CASE("putting the right bytes again heals a damaged blob") {
    StoreFixture f;
    const auto digest = f.put("healthy");
    write(f.file(digest), "sick");
    CHECK_FALSE(blobstore::verify(*f.store, digest));
    f.put("healthy");
    CHECK(blobstore::verify(*f.store, digest));
    CHECK(f.store->bytes(digest, 100) == "healthy");
}
