#include "base/ed25519.hpp"

#include <doctest/doctest.h>

TEST_CASE("Ed25519 keys and signatures are those of RFC 8032") {
    const auto key = base::SigningKey::from_hex(
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
    );
    REQUIRE(key);
    CHECK(key->public_hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    CHECK(
        key->sign("r") ==
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    );
}

TEST_CASE("a signature holds for its key and its message only") {
    const auto key = base::SigningKey::make();
    const auto other = base::SigningKey::make();
    const auto signature = key.sign("message");
    CHECK(base::signed_by(key.public_hex(), "message", signature));
    CHECK_FALSE(base::signed_by(key.public_hex(), "another", signature));
    CHECK_FALSE(base::signed_by(other.public_hex(), "message", signature));
    CHECK_FALSE(base::signed_by(key.public_hex(), "message", ""));
    CHECK_FALSE(base::signed_by("", "message", signature));
    CHECK_FALSE(base::signed_by(key.public_hex(), "message", signature.substr(2) + "xx"));
    CHECK(base::SigningKey::from_hex(key.hex())->public_hex() == key.public_hex());
    CHECK_FALSE(base::SigningKey::from_hex("short"));
}
