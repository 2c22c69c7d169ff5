#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/sha256.hpp"

#include <doctest/doctest.h>

#include <filesystem>

TEST_CASE("sha256 of the FIPS 180-4 example") {
    CHECK(
        base::sha256("abc").hex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    base::Sha256 hasher;
    hasher.update("a").update("bc");
    CHECK(hasher.finish() == base::sha256("abc"));
    CHECK(hasher.finish() == base::sha256(""));
}

TEST_CASE("a blob URN reads back as its digest, and nothing else does") {
    const auto digest = base::sha256("x");
    CHECK(base::digest_from_urn(base::blob_urn(digest)) == digest);
    CHECK_FALSE(base::digest_from_urn("urn:netwright:blob:sha256:" + std::string(64, 'A')));
    CHECK_FALSE(base::digest_from_urn("urn:netwright:blob:sha256:00"));
}

TEST_CASE("an id has one spelling") {
    CHECK(base::text(base::TokenId{12, 3}) == "t12-3");
    CHECK(base::token_id("t12-3") == base::TokenId{12, 3});
    CHECK_FALSE(base::token_id("t012-3"));
    CHECK_FALSE(base::token_id("t0-0"));
    CHECK_FALSE(base::token_id("t12"));
    CHECK_FALSE(base::case_id("c-1"));
    CHECK_FALSE(base::case_id("c99999999999999999999"));
    CHECK(base::attempt_id("o7.2") == base::AttemptId{{7}, 2});
    CHECK_FALSE(base::attempt_id("o7.0"));
}

TEST_CASE("times are read with any offset and written in UTC with microseconds") {
    const auto at = base::timestamp("2026-01-31T12:00:00.5+02:00");
    REQUIRE(at);
    CHECK(base::rfc3339(*at) == "2026-01-31T10:00:00.500000Z");
    CHECK_FALSE(base::timestamp("2026-02-30T12:00:00Z"));
    CHECK_FALSE(base::timestamp("2026-01-31 12:00:00Z"));
    CHECK_FALSE(base::timestamp("2026-01-31T12:00:00"));
    CHECK(base::rfc3339({-1}) == "1969-12-31T23:59:59.999999Z");
}

TEST_CASE("durations are a number and a unit") {
    CHECK(base::duration("250ms") == base::milliseconds(250));
    CHECK(base::duration("5m") == base::seconds(300));
    for (const char* text :
         {"", "5", "-5s", "5 s", "5us", "5sm", "99999999999999999999h", "9223372036854775807h"}) {
        CHECK_FALSE(base::duration(text));
    }
    CHECK(base::text(base::seconds(90)) == "90s");
    CHECK(base::text(base::seconds(0)) == "0s");
}

TEST_CASE("every error code has a name that reads back") {
    for (const auto code : base::all_error_codes()) {
        CHECK(base::error_code_from_name(base::name(code)) == code);
    }
}

TEST_CASE("an atomic write replaces the file and leaves no temporary one") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "f";
    REQUIRE(base::write_file_atomically(path, "one"));
    REQUIRE(base::write_file_atomically(path, "two"));
    CHECK(base::read_file(path, 10) == "two");
    CHECK(base::read_file(path, 2).error().code == base::ErrorCode::too_large);
    CHECK(base::read_file(folder.path() / "absent", 2).error().code == base::ErrorCode::not_found);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}
