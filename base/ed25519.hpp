#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// An Ed25519 private key (RFC 8032). All texts are lower-case hex.
class SigningKey {
public:
    static SigningKey make();
    /// Of the 64 digits that `hex` gave.
    static std::optional<SigningKey> from_hex(std::string_view text);

    /// The secret itself: for a file that only its owner reads.
    [[nodiscard]] std::string hex() const;
    [[nodiscard]] std::string public_hex() const;
    /// 128 digits.
    [[nodiscard]] std::string sign(std::string_view message) const;

private:
    std::array<std::uint8_t, 32> seed_{};
};

/// False also when one of the texts is not what it should be.
bool signed_by(
    std::string_view public_hex, std::string_view message, std::string_view signature_hex
);

}  // namespace base
