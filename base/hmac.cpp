#include "base/hmac.hpp"

#include "base/result.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace base {

Digest hmac_sha256(std::string_view key, std::string_view message) {
    Digest digest;
    unsigned size = 0;
    // OpenSSL reads bytes as unsigned; the length of a key is an int there.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
    const auto* const made = ::HMAC(
        EVP_sha256(),
        key.data(),
        static_cast<int>(key.size()),
        bytes,
        message.size(),
        digest.bytes.data(),
        &size
    );
    check(made != nullptr && size == digest.bytes.size(), "hmac");
    return digest;
}

}  // namespace base
