#pragma once

#include "nets/analysis/chunked_array.hpp"
#include "nets/analysis/large_block.hpp"
#include "nets/analysis/packing.hpp"

#include <cstddef>
#include <cstdint>

namespace nets::analysis {

using StateId = std::uint32_t;  ///< in the order in which states were found
inline constexpr StateId no_state = ~StateId{0};

/// A set of packed markings, each stored once. Looked up by an open-addressing table whose slots
/// hold a part of the hash and the id, so that a miss seldom touches a stored marking.
class StateStore {
public:
    explicit StateStore(std::size_t words);

    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] const std::uint64_t* operator[](StateId id) const { return states_[id]; }

    [[nodiscard]] std::uint64_t hash(const std::uint64_t* state) const;
    /// Brings the table's slot, then the stored marking that it names, near the processor.
    void prefetch_slot(std::uint64_t hash) const;
    void prefetch_state(std::uint64_t hash) const;

    struct Found {
        StateId id = 0;
        bool inserted = false;
    };
    Found insert(const std::uint64_t* state, std::uint64_t hash);
    [[nodiscard]] StateId find(const std::uint64_t* state) const;  ///< no_state if absent

    /// The same states with the same ids, in another packing.
    [[nodiscard]] StateStore repacked(const Packing& from, const Packing& into) const;

private:
    [[nodiscard]] bool equal(StateId id, const std::uint64_t* state) const;
    void clear_slots(std::size_t slots);
    void grow();
    void place(std::uint64_t hash, StateId id);

    std::size_t words_;
    ChunkedArray<std::uint64_t> states_;
    LargeBlock<std::uint64_t> slots_;  ///< high half: of the hash; low half: id + 1; 0 = free
    std::uint64_t mask_ = 0;           ///< slots - 1
};

}  // namespace nets::analysis
