#pragma once

#include "base/guarded.hpp"
#include "base/sha256.hpp"

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace blobstore {

class PinTable;

/// Keeps one blob from being collected while it lives. Must not outlive the store.
class Pin {
public:
    Pin() = default;
    ~Pin() { release(); }
    Pin(Pin&& other) noexcept;
    Pin& operator=(Pin&& other) noexcept;
    void release();

private:
    friend class PinTable;
    Pin(PinTable& table, const base::Digest& digest) : table_(&table), digest_(digest) {}

    PinTable* table_ = nullptr;
    base::Digest digest_;
};

/// The right to put or to remove the file of one blob; others wait. Ends with the object.
class Claim {
public:
    ~Claim();
    Claim(Claim&& other) noexcept;
    Claim& operator=(Claim&&) = delete;

private:
    friend class PinTable;
    Claim(PinTable& table, const base::Digest& digest) : table_(&table), digest_(digest) {}

    PinTable* table_;
    base::Digest digest_;
};

/// Who holds which blob. Makes a collection and a put of the same bytes exclude each other without
/// a lock that is held across disk I/O. Thread-safe.
class PinTable {
public:
    /// Waits while the blob's file is being put or removed.
    Pin pin(const base::Digest& digest);
    /// For who holds the claim: a pin before the claim ends.
    Pin pin(const Claim& claim);
    /// Waits for its turn.
    Claim claim(const base::Digest& digest);
    /// Nothing when the blob is pinned or claimed, or was since the collection began.
    std::optional<Claim> claim_for_removal(const base::Digest& digest);

    /// False when a collection is running.
    bool begin_collection();
    void end_collection();

private:
    friend class Pin;
    friend class Claim;
    struct State {
        std::unordered_map<base::Digest, std::size_t> pins;
        std::unordered_set<base::Digest> claims;
        bool collecting = false;
        // Pinned or put since the collection began, or pinned when it did: a reference that its
        // mark has not seen may have become durable since.
        std::unordered_set<base::Digest> touched;
    };
    void unpin(const base::Digest& digest);
    void unclaim(const base::Digest& digest);

    base::Guarded<State> state_;
};

}  // namespace blobstore
