#include "base/ed25519.hpp"

#include "base/random.hpp"
#include "base/result.hpp"

#include <openssl/evp.h>

#include <memory>

namespace base {

namespace {

constexpr std::size_t signature_bytes = 64;

template <auto Free>
struct FreeBy {
    void operator()(auto* object) const { Free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, FreeBy<EVP_MD_CTX_free>>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

int value_of(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

template <std::size_t Count>
std::optional<std::array<std::uint8_t, Count>> bytes_from_hex(std::string_view text) {
    if (text.size() != 2 * Count) return std::nullopt;
    std::array<std::uint8_t, Count> bytes{};
    for (std::size_t i = 0; i < Count; ++i) {
        const int high = value_of(text[2 * i]);
        const int low = value_of(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return bytes;
}

template <std::size_t Count>
std::string hex_of(const std::array<std::uint8_t, Count>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

Key private_key(const std::array<std::uint8_t, 32>& seed) {
    Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
    check(key != nullptr, "an Ed25519 key");
    return key;
}

}  // namespace

SigningKey SigningKey::make() {
    auto made = from_hex(random_hex(32));
    check(made.has_value(), "random bytes are a key");
    return *made;
}

std::optional<SigningKey> SigningKey::from_hex(std::string_view text) {
    const auto seed = bytes_from_hex<32>(text);
    if (!seed) return std::nullopt;
    SigningKey key;
    key.seed_ = *seed;
    return key;
}

std::string SigningKey::hex() const {
    return hex_of(seed_);
}

std::string SigningKey::public_hex() const {
    std::array<std::uint8_t, 32> bytes{};
    std::size_t size = bytes.size();
    const auto key = private_key(seed_);
    check(EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) == 1, "a public key");
    return hex_of(bytes);
}

std::string SigningKey::sign(std::string_view message) const {
    std::array<std::uint8_t, signature_bytes> bytes{};
    std::size_t size = bytes.size();
    const auto key = private_key(seed_);
    const Context context(EVP_MD_CTX_new());
    const bool made =
        EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
        EVP_DigestSign(context.get(), bytes.data(), &size, bytes_of(message), message.size()) == 1;
    check(made && size == bytes.size(), "an Ed25519 signature");
    return hex_of(bytes);
}

bool signed_by(
    std::string_view public_hex, std::string_view message, std::string_view signature_hex
) {
    const auto point = bytes_from_hex<32>(public_hex);
    const auto signature = bytes_from_hex<signature_bytes>(signature_hex);
    if (!point || !signature) return false;
    const Key key(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, point->data(), point->size())
    );
    const Context context(EVP_MD_CTX_new());
    return key != nullptr &&
           EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(
               context.get(),
               signature->data(),
               signature->size(),
               bytes_of(message),
               message.size()
           ) == 1;
}

}  // namespace base
