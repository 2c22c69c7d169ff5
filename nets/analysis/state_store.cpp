#include "nets/analysis/state_store.hpp"

#include "base/result.hpp"

#include <algorithm>

namespace nets::analysis {
namespace {

constexpr std::size_t slots_min = 1U << 10U;
constexpr std::uint64_t low_half = 0xffff'ffffULL;

std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

StateStore::StateStore(std::size_t words) : words_(words), states_(words) {
    clear_slots(slots_min);
}

void StateStore::clear_slots(std::size_t slots) {
    slots_.reset();  // free the old table first: everything in it can be computed again
    slots_ = large_block<std::uint64_t>(slots);
    std::fill_n(slots_.get(), slots, 0);
    mask_ = slots - 1;
}

std::size_t StateStore::bytes() const {
    return states_.bytes() + (mask_ + 1) * sizeof(slots_[0]);
}

std::uint64_t StateStore::hash(const std::uint64_t* state) const {
    std::uint64_t hash = 0x9e37'79b9'7f4a'7c15ULL;
    for (std::size_t i = 0; i < words_; ++i) {
        hash = folded_product(hash ^ state[i], 0xd6e8'feb8'6659'fd93ULL);
    }
    // A word that equals the hash before it would make the product, and all after it, 0.
    return folded_product(hash ^ 0xa076'1d64'78bd'642fULL, 0xe703'7ed1'a0b4'28dbULL);
}

void StateStore::prefetch_slot(std::uint64_t hash) const {
    __builtin_prefetch(&slots_[hash & mask_]);
}

void StateStore::prefetch_state(std::uint64_t hash) const {
    const std::uint64_t slot = slots_[hash & mask_];
    if (slot >> 32U == hash >> 32U && (slot & low_half) != 0) {
        __builtin_prefetch(states_[static_cast<StateId>((slot & low_half) - 1)]);
    }
}

bool StateStore::equal(StateId id, const std::uint64_t* state) const {
    const std::uint64_t* stored = states_[id];
    for (std::size_t i = 0; i < words_; ++i) {
        if (stored[i] != state[i]) return false;
    }
    return true;
}

StateStore::Found StateStore::insert(const std::uint64_t* state, std::uint64_t hash) {
    const std::uint64_t tag = hash >> 32U;
    for (std::uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
        const std::uint64_t slot = slots_[at];
        if (slot == 0) {
            const auto id = static_cast<StateId>(states_.size());
            base::check(id < no_state - 1, "ids of states fit 32 bits");
            std::copy_n(state, words_, states_.append());
            slots_[at] = tag << 32U | (id + 1);
            if (states_.size() * 10 > (mask_ + 1) * 6) grow();
            return {.id = id, .inserted = true};
        }
        if (slot >> 32U == tag) {
            const auto id = static_cast<StateId>((slot & low_half) - 1);
            if (equal(id, state)) return {.id = id, .inserted = false};
        }
    }
}

StateId StateStore::find(const std::uint64_t* state) const {
    const std::uint64_t wanted = hash(state);
    for (std::uint64_t at = wanted & mask_;; at = (at + 1) & mask_) {
        const std::uint64_t slot = slots_[at];
        if (slot == 0) return no_state;
        const auto id = static_cast<StateId>((slot & low_half) - 1);
        if (slot >> 32U == wanted >> 32U && equal(id, state)) return id;
    }
}

void StateStore::place(std::uint64_t hash, StateId id) {
    std::uint64_t at = hash & mask_;
    while (slots_[at] != 0)
        at = (at + 1) & mask_;
    slots_[at] = hash >> 32U << 32U | (id + 1);
}

void StateStore::grow() {
    clear_slots((mask_ + 1) * 2);
    for (StateId id = 0; id < states_.size(); ++id)
        place(hash(states_[id]), id);
}

StateStore StateStore::repacked(const Packing& from, const Packing& into) const {
    StateStore result(into.words());
    std::vector<std::uint64_t> state(into.words());
    for (StateId id = 0; id < states_.size(); ++id) {
        from.repack(states_[id], into, state.data());
        result.insert(state.data(), result.hash(state.data()));
    }
    return result;
}

}  // namespace nets::analysis
