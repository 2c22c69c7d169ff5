#include "base/sha256.hpp"

#include "base/result.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace base {

namespace {

constexpr std::string_view urn_prefix = "urn:netwright:blob:sha256:";

// Fetching an algorithm costs more than hashing a record: it is done once.
const EVP_MD* algorithm() {
    static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return fetched;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    State() { start(); }
    ~State() { EVP_MD_CTX_free(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    void start() const { check(EVP_DigestInit_ex2(context, algorithm(), nullptr) == 1, "sha256"); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
    check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "sha256 update");
    return *this;
}

Digest Sha256::finish() {
    Digest digest;
    unsigned size = 0;
    check(EVP_DigestFinal_ex(state_->context, digest.bytes.data(), &size) == 1, "sha256 finish");
    state_->start();
    return digest;
}

Digest sha256(std::string_view bytes) {
    thread_local Sha256 hasher;
    return hasher.update(bytes).finish();
}

std::string Digest::hex() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(64, '0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text[2 * i] = digits[bytes[i] >> 4U];
        text[2 * i + 1] = digits[bytes[i] & 15U];
    }
    return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
    if (text.size() != 64) return std::nullopt;
    Digest digest;
    for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return digest;
}

std::string blob_urn(const Digest& digest) {
    return std::string(urn_prefix) + digest.hex();
}

std::optional<Digest> digest_from_urn(std::string_view urn) {
    if (!urn.starts_with(urn_prefix)) return std::nullopt;
    return Digest::from_hex(urn.substr(urn_prefix.size()));
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace base
