#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace base {

/// A sha256 value. Text form: 64 lower-case hex digits.
struct Digest {
    std::array<std::uint8_t, 32> bytes{};

    [[nodiscard]] std::string hex() const;
    static std::optional<Digest> from_hex(std::string_view text);
    auto operator<=>(const Digest&) const = default;
};

/// Incremental sha256 (FIPS 180-4, by OpenSSL). Not copyable; one thread at a time.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    Sha256& update(std::string_view bytes);
    /// The digest of all that was given; afterwards the object starts anew.
    Digest finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

Digest sha256(std::string_view bytes);

/// `urn:netwright:blob:sha256:<64 hex>`
std::string blob_urn(const Digest& digest);
std::optional<Digest> digest_from_urn(std::string_view urn);

/// True when both are equal; the time taken depends on their lengths only.
bool equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace base

template <>
struct std::hash<base::Digest> {
    std::size_t operator()(const base::Digest& digest) const noexcept {
        std::size_t value = 0;
        std::memcpy(&value, digest.bytes.data(), sizeof value);
        return value;
    }
};
