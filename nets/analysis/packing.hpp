#pragma once

#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nets::analysis {

/// How markings of one net are packed into 64-bit words, and its transitions as operations on such
/// words. A place that is not known to hold more than one token takes one bit; any other takes a
/// field with a spare bit on top (the guard), which is 0 in a stored marking. With the guards, one
/// subtraction compares all fields of a word at once, and an overflow shows in them.
///
/// Widths are a guess: `fire` says when a place needs a wider one, and `widened` is the packing
/// that has it.
class Packing {
public:
    /// `bounds`: for each place how many tokens it can hold at most, where that is known (empty:
    /// for none).
    Packing(
        const PtNet& net, const Marking& initial, const std::vector<std::optional<Count>>& bounds
    );

    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::size_t places() const { return fields_.size(); }
    [[nodiscard]] TransitionId transitions() const {
        return static_cast<TransitionId>(transitions_.size());
    }

    [[nodiscard]] std::vector<std::uint64_t> pack(std::span<const Count> marking) const;
    [[nodiscard]] Marking unpack(const std::uint64_t* state) const;
    [[nodiscard]] Count tokens(const std::uint64_t* state, PlaceId place) const {
        const Field& field = fields_[place];
        return state[field.word] >> field.shift & field.mask;
    }

    [[nodiscard]] bool enabled(const std::uint64_t* state, TransitionId transition) const;
    /// Writes the marking after an enabled transition to `after`. False when some place needs a
    /// wider field; `after` is then of no use.
    [[nodiscard]] bool fire(
        const std::uint64_t* state, TransitionId transition, std::uint64_t* after
    ) const;

    /// A packing in which firing `transition` in `state` fits.
    [[nodiscard]] Packing widened(const std::uint64_t* state, TransitionId transition) const;
    /// The same marking as `other` packs it.
    void repack(const std::uint64_t* state, const Packing& other, std::uint64_t* into) const;

    struct Field {
        PlaceId place = 0;
        std::uint32_t word = 0;
        std::uint32_t shift = 0;
        std::uint32_t bits = 1;  ///< without the guard; 1 = there is no guard
        std::uint64_t mask = 1;  ///< before the shift
    };
    /// The places of more than one bit.
    [[nodiscard]] const std::vector<Field>& wide_fields() const { return wide_fields_; }
    /// The words before this one hold the places of one bit.
    [[nodiscard]] std::size_t bit_words() const { return bit_words_; }

private:
    struct BitCheck {  ///< enabled if (word & mask) == value
        std::uint32_t word = 0;
        std::uint64_t mask = 0;
        std::uint64_t value = 0;
    };
    struct FieldCheck {
        std::uint32_t word = 0;
        std::uint64_t need = 0;
        std::uint64_t need_guards = 0;
        std::uint64_t below = 0;
        std::uint64_t below_guards = 0;
    };
    struct BitEffect {
        std::uint32_t word = 0;
        std::uint64_t keep = 0;
        std::uint64_t set = 0;
    };
    struct FieldEffect {
        std::uint32_t word = 0;
        std::uint64_t keep = 0;
        std::uint64_t add = 0;  ///< modulo 2^64: borrows cancel, since no field goes below 0
        std::uint64_t guards = 0;
    };
    /// Ranges in the arrays below: each begins where the one of the transition before ends.
    struct Compiled {
        bool never = false;  ///< needs more than its fields can hold
        std::uint32_t bit_checks_begin = 0;
        std::uint32_t bit_checks_end = 0;
        std::uint32_t field_checks_begin = 0;
        std::uint32_t field_checks_end = 0;
        std::uint32_t bit_effects_begin = 0;
        std::uint32_t bit_effects_end = 0;
        std::uint32_t field_effects_begin = 0;
        std::uint32_t field_effects_end = 0;
    };

    Packing(std::vector<std::vector<Touch>> touches, std::vector<std::uint32_t> bits);
    void lay_out(const std::vector<std::uint32_t>& bits);
    void compile(const std::vector<Touch>& touches);
    void compile_bit(const Touch& touch, Compiled& compiled);
    void compile_field(const Touch& touch, Compiled& compiled);

    std::vector<std::vector<Touch>> touches_;
    std::size_t words_ = 0;
    std::size_t bit_words_ = 0;
    std::vector<Field> fields_;
    std::vector<Field> wide_fields_;
    std::vector<std::uint64_t> guards_;  ///< of each word
    std::vector<Compiled> transitions_;
    std::vector<BitCheck> bit_checks_;
    std::vector<FieldCheck> field_checks_;
    std::vector<BitEffect> bit_effects_;
    std::vector<FieldEffect> field_effects_;
};

/// The largest count of each place and of a whole marking, over the markings that it was shown.
class MarkingMaxima {
public:
    explicit MarkingMaxima(const Packing& packing);
    /// Returns the largest count in that marking, or 1 when no place holds more.
    Count see(const Packing& packing, const std::uint64_t* state);
    /// To be called before the packing changes, with the packing there was.
    void settle(const Packing& packing);
    /// Of what was seen and settled.
    [[nodiscard]] const std::vector<Count>& per_place() const { return per_place_; }
    [[nodiscard]] Count per_marking() const { return per_marking_; }

private:
    std::vector<Count> per_place_;
    Count per_marking_ = 0;
    std::vector<std::uint64_t> ones_;  ///< of the words of one-bit places
};

}  // namespace nets::analysis
