#pragma once

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "blobstore/store.hpp"

#include <cstdint>
#include <optional>

namespace blobstore {

/// How many bytes there are, and how many there may be. Thread-safe.
class Quota {
public:
    explicit Quota(std::uint64_t bytes_quota) : usage_(Usage{.bytes_quota = bytes_quota}) {}

    /// limit when that would be more than there may be.
    base::Result<void> reserve(std::uint64_t bytes);
    void release(std::uint64_t bytes);
    /// Reserved bytes became a blob, which took the place of a file of `replaced` bytes.
    void commit(std::uint64_t bytes, std::optional<std::uint64_t> replaced);
    void add(std::uint64_t bytes);
    void remove(std::uint64_t bytes);
    [[nodiscard]] Usage usage() const;

private:
    base::Guarded<Usage> usage_;
};

}  // namespace blobstore
