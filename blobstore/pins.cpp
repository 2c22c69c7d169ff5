#include "blobstore/pins.hpp"

#include "base/result.hpp"

#include <utility>

namespace blobstore {

Pin::Pin(Pin&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)), digest_(other.digest_) {}

Pin& Pin::operator=(Pin&& other) noexcept {
    if (this != &other) {
        release();
        table_ = std::exchange(other.table_, nullptr);
        digest_ = other.digest_;
    }
    return *this;
}

void Pin::release() {
    if (table_ != nullptr) std::exchange(table_, nullptr)->unpin(digest_);
}

Claim::~Claim() {
    if (table_ != nullptr) table_->unclaim(digest_);
}

Claim::Claim(Claim&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)), digest_(other.digest_) {}

Pin PinTable::pin(const base::Digest& digest) {
    state_.wait(
        [&](const State& state) { return !state.claims.contains(digest); },
        [&](State& state) {
            ++state.pins[digest];
            if (state.collecting) state.touched.insert(digest);
        }
    );
    return {*this, digest};
}

Pin PinTable::pin(const Claim& claim) {
    state_.with([&](State& state) { ++state.pins[claim.digest_]; });
    return {*this, claim.digest_};
}

Claim PinTable::claim(const base::Digest& digest) {
    state_.wait(
        [&](const State& state) { return !state.claims.contains(digest); },
        [&](State& state) {
            state.claims.insert(digest);
            if (state.collecting) state.touched.insert(digest);
        }
    );
    return {*this, digest};
}

std::optional<Claim> PinTable::claim_for_removal(const base::Digest& digest) {
    const bool claimed = state_.with([&](State& state) {
        base::check(state.collecting, "a blob is removed only by a collection");
        if (state.pins.contains(digest) || state.touched.contains(digest)) return false;
        return state.claims.insert(digest).second;
    });
    if (!claimed) return std::nullopt;
    return Claim(*this, digest);
}

bool PinTable::begin_collection() {
    return state_.with([](State& state) {
        if (state.collecting) return false;
        state.collecting = true;
        state.touched = state.claims;
        for (const auto& [digest, count] : state.pins)
            state.touched.insert(digest);
        return true;
    });
}

void PinTable::end_collection() {
    state_.with([](State& state) {
        state.collecting = false;
        state.touched.clear();
    });
}

void PinTable::unpin(const base::Digest& digest) {
    state_.with([&](State& state) {
        const auto found = state.pins.find(digest);
        base::check(found != state.pins.end(), "a pin is released once");
        if (--found->second == 0) state.pins.erase(found);
    });
}

void PinTable::unclaim(const base::Digest& digest) {
    state_.with([&](State& state) { state.claims.erase(digest); });
    state_.notify();
}

}  // namespace blobstore
