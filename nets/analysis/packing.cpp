#include "nets/analysis/packing.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::uint32_t word_bits = 64;
constexpr std::uint32_t field_bits_max = 62;

std::uint32_t bits_for(Count count) {
    return std::max(1U, static_cast<std::uint32_t>(std::bit_width(count)));
}

/// The entry for `word` among those of the present transition, made if missing.
template <class Entry>
Entry& entry_for(std::vector<Entry>& entries, std::uint32_t begin, std::uint32_t word) {
    for (std::size_t i = begin; i < entries.size(); ++i) {
        if (entries[i].word == word) return entries[i];
    }
    entries.push_back(Entry{.word = word});
    return entries.back();
}

}  // namespace

Packing::Packing(
    const PtNet& net, const Marking& initial, const std::vector<std::optional<Count>>& bounds
)
    : touches_(all_touches(net)) {
    std::vector<std::uint32_t> bits;
    for (std::size_t p = 0; p < net.places.size(); ++p) {
        const Count bound = p < bounds.size() ? bounds[p].value_or(0) : 0;
        bits.push_back(bits_for(std::max(initial[p], bound)));
    }
    // A single firing must never carry beyond the guard of a field.
    for (const std::vector<Touch>& of_transition : touches_) {
        for (const Touch& touch : of_transition) {
            bits[touch.place] = std::max(bits[touch.place], bits_for(touch.produce));
        }
    }
    lay_out(bits);
}

Packing::Packing(std::vector<std::vector<Touch>> touches, std::vector<std::uint32_t> bits)
    : touches_(std::move(touches)) {
    lay_out(bits);
}

void Packing::lay_out(const std::vector<std::uint32_t>& bits) {
    fields_.resize(bits.size());
    std::uint32_t next = 0;
    for (PlaceId p = 0; p < bits.size(); ++p) {
        if (bits[p] != 1) continue;
        fields_[p] = Field{.place = p, .word = next / word_bits, .shift = next % word_bits};
        ++next;
    }
    bit_words_ = (next + word_bits - 1) / word_bits;
    auto word = static_cast<std::uint32_t>(bit_words_);
    std::uint32_t shift = 0;
    guards_.assign(bit_words_, 0);
    for (PlaceId p = 0; p < bits.size(); ++p) {
        if (bits[p] == 1) continue;
        if (shift + bits[p] + 1 > word_bits) {
            ++word;
            shift = 0;
        }
        if (guards_.size() <= word) guards_.push_back(0);
        guards_[word] |= std::uint64_t{1} << (shift + bits[p]);
        fields_[p] = Field{
            .place = p,
            .word = word,
            .shift = shift,
            .bits = bits[p],
            .mask = (std::uint64_t{1} << bits[p]) - 1
        };
        wide_fields_.push_back(fields_[p]);
        shift += bits[p] + 1;
    }
    words_ = std::max<std::size_t>(1, guards_.size());
    guards_.resize(words_, 0);
    transitions_.reserve(touches_.size());
    for (const std::vector<Touch>& of_transition : touches_)
        compile(of_transition);
}

void Packing::compile(const std::vector<Touch>& touches) {
    const auto size = [](const auto& entries) {
        return static_cast<std::uint32_t>(entries.size());
    };
    Compiled compiled{
        .bit_checks_begin = size(bit_checks_),
        .field_checks_begin = size(field_checks_),
        .bit_effects_begin = size(bit_effects_),
        .field_effects_begin = size(field_effects_)
    };
    for (const Touch& touch : touches) {
        if (fields_[touch.place].bits == 1) {
            compile_bit(touch, compiled);
        } else {
            compile_field(touch, compiled);
        }
    }
    compiled.bit_checks_end = size(bit_checks_);
    compiled.field_checks_end = size(field_checks_);
    compiled.bit_effects_end = size(bit_effects_);
    compiled.field_effects_end = size(field_effects_);
    transitions_.push_back(compiled);
}

void Packing::compile_bit(const Touch& touch, Compiled& compiled) {
    const Field& field = fields_[touch.place];
    const std::uint64_t bit = std::uint64_t{1} << field.shift;
    const bool empty_only = touch.below && *touch.below == 1;
    if (touch.need > 1 || (touch.below && *touch.below <= touch.need)) compiled.never = true;
    if (touch.need > 0 || empty_only) {
        auto& check = entry_for(bit_checks_, compiled.bit_checks_begin, field.word);
        check.mask |= bit;
        if (touch.need > 0) check.value |= bit;
    }
    if (!touch.changes()) return;
    const auto begin = compiled.bit_effects_begin;
    const bool fresh = std::none_of(
        bit_effects_.begin() + begin,
        bit_effects_.end(),
        [&](const BitEffect& effect) { return effect.word == field.word; }
    );
    auto& effect = entry_for(bit_effects_, begin, field.word);
    if (fresh) effect.keep = ~std::uint64_t{0};
    if (touch.consume > 0 || touch.reset) effect.keep &= ~bit;
    if (touch.produce > 0) effect.set |= bit;
}

void Packing::compile_field(const Touch& touch, Compiled& compiled) {
    const Field& field = fields_[touch.place];
    const std::uint64_t guard = std::uint64_t{1} << (field.shift + field.bits);
    const bool limited = touch.below && *touch.below <= field.mask;
    if (touch.need > field.mask || (touch.below && *touch.below <= touch.need)) {
        compiled.never = true;
        return;
    }
    if (touch.need > 0 || limited) {
        auto& check = entry_for(field_checks_, compiled.field_checks_begin, field.word);
        if (touch.need > 0) {
            check.need |= touch.need << field.shift;
            check.need_guards |= guard;
        }
        if (limited) {
            check.below |= *touch.below << field.shift;
            check.below_guards |= guard;
        }
    }
    if (!touch.changes()) return;
    const auto begin = compiled.field_effects_begin;
    const bool fresh = std::none_of(
        field_effects_.begin() + begin,
        field_effects_.end(),
        [&](const FieldEffect& effect) { return effect.word == field.word; }
    );
    auto& effect = entry_for(field_effects_, begin, field.word);
    if (fresh) {
        effect.keep = ~std::uint64_t{0};
        effect.guards = guards_[field.word];
    }
    if (touch.reset) {
        effect.keep &= ~(field.mask << field.shift);
        effect.add += touch.produce << field.shift;
    } else {
        effect.add += (touch.produce - touch.consume) << field.shift;
    }
}

std::vector<std::uint64_t> Packing::pack(std::span<const Count> marking) const {
    std::vector<std::uint64_t> state(words_, 0);
    for (const Field& field : fields_) {
        base::check(marking[field.place] <= field.mask, "a marking fits the packing made for it");
        state[field.word] |= marking[field.place] << field.shift;
    }
    return state;
}

Marking Packing::unpack(const std::uint64_t* state) const {
    Marking marking(fields_.size());
    for (const Field& field : fields_)
        marking[field.place] = tokens(state, field.place);
    return marking;
}

bool Packing::enabled(const std::uint64_t* state, TransitionId transition) const {
    const Compiled& compiled = transitions_[transition];
    for (auto i = compiled.bit_checks_begin; i != compiled.bit_checks_end; ++i) {
        const BitCheck& check = bit_checks_[i];
        if ((state[check.word] & check.mask) != check.value) return false;
    }
    for (auto i = compiled.field_checks_begin; i != compiled.field_checks_end; ++i) {
        const FieldCheck& check = field_checks_[i];
        const std::uint64_t word = state[check.word];
        const std::uint64_t enough = (word | check.need_guards) - check.need;
        if ((enough & check.need_guards) != check.need_guards) return false;
        const std::uint64_t full = (word | check.below_guards) - check.below;
        if ((full & check.below_guards) != 0) return false;
    }
    return !compiled.never;
}

bool Packing::fire(const std::uint64_t* state, TransitionId transition, std::uint64_t* after)
    const {
    const Compiled& compiled = transitions_[transition];
    for (std::size_t i = 0; i < words_; ++i)
        after[i] = state[i];
    std::uint64_t overflow = 0;
    for (auto i = compiled.bit_effects_begin; i != compiled.bit_effects_end; ++i) {
        const BitEffect& effect = bit_effects_[i];
        const std::uint64_t kept = after[effect.word] & effect.keep;
        overflow |= kept & effect.set;
        after[effect.word] = kept | effect.set;
    }
    for (auto i = compiled.field_effects_begin; i != compiled.field_effects_end; ++i) {
        const FieldEffect& effect = field_effects_[i];
        const std::uint64_t word = (after[effect.word] & effect.keep) + effect.add;
        overflow |= word & effect.guards;
        after[effect.word] = word;
    }
    return overflow == 0;
}

Packing Packing::widened(const std::uint64_t* state, TransitionId transition) const {
    std::vector<std::uint32_t> bits;
    for (const Field& field : fields_)
        bits.push_back(field.bits);
    for (const Touch& touch : touches_[transition]) {
        const Count held = touch.reset ? 0 : tokens(state, touch.place) - touch.consume;
        const std::uint32_t wanted = bits_for(held + touch.produce);
        std::uint32_t& width = bits[touch.place];
        if (wanted > width) width = std::min(field_bits_max, std::max(wanted, 2 * width));
        base::check(wanted <= width, "a count of tokens fits 62 bits");
    }
    return {touches_, std::move(bits)};
}

void Packing::repack(const std::uint64_t* state, const Packing& other, std::uint64_t* into) const {
    std::fill_n(into, other.words_, 0);
    for (const Field& field : other.fields_) {
        into[field.word] |= tokens(state, field.place) << field.shift;
    }
}

MarkingMaxima::MarkingMaxima(const Packing& packing)
    : per_place_(packing.places(), 0), ones_(packing.bit_words(), 0) {}

Count MarkingMaxima::see(const Packing& packing, const std::uint64_t* state) {
    Count total = 0;
    Count largest = 1;
    for (std::size_t i = 0; i < packing.bit_words(); ++i) {
        ones_[i] |= state[i];
        total += static_cast<Count>(std::popcount(state[i]));
    }
    for (const Packing::Field& field : packing.wide_fields()) {
        const Count held = state[field.word] >> field.shift & field.mask;
        per_place_[field.place] = std::max(per_place_[field.place], held);
        largest = std::max(largest, held);
        total += held;
    }
    per_marking_ = std::max(per_marking_, total);
    return largest;
}

void MarkingMaxima::settle(const Packing& packing) {
    if (packing.bit_words() > 0) {
        ones_.resize(packing.words(), 0);
        for (PlaceId p = 0; p < per_place_.size(); ++p) {
            per_place_[p] = std::max(per_place_[p], packing.tokens(ones_.data(), p));
        }
    }
    // Later packings have as many words of one-bit places or fewer.
    ones_.assign(packing.bit_words(), 0);
}

}  // namespace nets::analysis
