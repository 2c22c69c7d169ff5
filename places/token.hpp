#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "places/payload.hpp"

#include <cstdint>

namespace places {

/// Where a token lies in the store; reused after the token is gone.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

/// A place of the model; dense, never reused.
using PlaceId = std::uint32_t;

/// Who reserved a token: the number of an operation, or a claim's (see `claim_bit`). 0 = nobody.
using Holder = std::uint64_t;

/// Holders with this bit are claims: they live in memory only and are no part of the folded state.
inline constexpr Holder claim_bit = Holder{1} << 63U;

struct Token {
    base::TokenId id;
    base::CaseId case_id;
    base::Timestamp at;          ///< when it was made
    base::Timestamp visible_at;  ///< 0 = at once
    bool hidden = false;         ///< visible_at is still to come; a matter of time, not of the log
    Holder holder = 0;
    Payload data;
    PlaceId place = 0;

    // Links of the lists it is in; the store's business.
    Slot place_previous = no_slot;
    Slot place_next = no_slot;
    Slot bucket_previous = no_slot;
    Slot bucket_next = no_slot;
    Slot case_previous = no_slot;
    Slot case_next = no_slot;
};

}  // namespace places
