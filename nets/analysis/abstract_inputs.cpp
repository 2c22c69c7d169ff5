#include "nets/analysis/abstract_inputs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <variant>

namespace nets::analysis {
namespace {

constexpr Count unfolded_max = 8;         ///< numbers of tokens tried where data decides how many
constexpr Count range_unfolded_max = 16;  ///< tokens between the `min` and `max` of `take`
constexpr std::size_t variants_max = 64;  ///< of one transition, by numbers of tokens

struct Some {
    Count min = 0;
    std::optional<Count> max{};
    bool most_there = false;  ///< takes as many as there are, up to `max`
};

bool inhibits(const PtTransition& variant, PlaceId place) {
    return std::ranges::find(variant.inhibit, place, &PtArc::place) != variant.inhibit.end();
}

void set_reset(PtTransition& variant, PlaceId place) {
    if (std::ranges::find(variant.reset, place) == variant.reset.end()) {
        variant.reset.push_back(place);
    }
}

/// A number of tokens: one variant each.
void take_some(
    const AbstractArc& of, const Some& some, std::vector<PtTransition>& variants, Notes& notes
) {
    const Count tried = some.min + (some.most_there ? range_unfolded_max : unfolded_max);
    Count max = some.max ? std::min(*some.max, tried) : tried;
    if (variants.size() * (max - some.min + 1) > variants_max) max = some.min;
    if (!some.max || max < *some.max) {
        notes.add(
            {.kind = Abstraction::Kind::weight,
             .element = of.transition.name,
             .what = fmt::format("takes a number of tokens, of which up to {} are tried", max),
             .narrows = true,
             .exact_up_to = max}
        );
    }
    std::vector<PtTransition> made;
    for (const PtTransition& before : variants) {
        for (Count n = some.min; n <= max; ++n) {
            PtTransition& variant = made.emplace_back(before);
            if (n > 0) add_weight(variant.consume, of.place, n);
            const bool fewer = some.most_there && n < *some.max;
            if (fewer && !inhibits(variant, of.place))
                variant.inhibit.push_back({.place = of.place, .weight = n + 1});
        }
    }
    variants = std::move(made);
}

void inhibit(const AbstractArc& of, std::vector<PtTransition>& variants) {
    const auto* const fixed = std::get_if<FixedWeight>(&of.arc.take);
    for (PtTransition& variant : variants) {
        // One that looks at some tokens only, or for a number that is computed, may let pass
        // what it would stop.
        if (of.filtered || fixed == nullptr) {
            variant.may_refuse = true;
            continue;
        }
        set_inhibit(variant, of.place, fixed->count);
    }
}

/// Taking nothing away, it needs the least number only.
void look(const AbstractArc& of, std::vector<PtTransition>& variants) {
    Count least = 0;
    if (const auto* fixed = std::get_if<FixedWeight>(&of.arc.take)) least = fixed->count;
    if (const auto* range = std::get_if<RangeWeight>(&of.arc.take)) least = range->min;
    if (std::holds_alternative<AllWeight>(of.arc.take)) least = 1;
    const bool computed = std::holds_alternative<ExpressionWeight>(of.arc.take);
    for (PtTransition& variant : variants) {
        if (least > 0) add_weight(variant.read, of.place, least);
        variant.may_refuse = variant.may_refuse || computed;
    }
}

void take(const AbstractArc& of, std::vector<PtTransition>& variants, Notes& notes) {
    if (const auto* fixed = std::get_if<FixedWeight>(&of.arc.take)) {
        for (PtTransition& variant : variants)
            add_weight(variant.consume, of.place, fixed->count);
    } else if (const auto* range = std::get_if<RangeWeight>(&of.arc.take)) {
        const Some some{.min = range->min, .max = range->max, .most_there = !of.filtered};
        take_some(of, some, variants, notes);
    } else if (std::holds_alternative<ExpressionWeight>(of.arc.take)) {
        for (PtTransition& variant : variants)
            variant.may_refuse = true;
        take_some(of, {.min = 0}, variants, notes);
    } else {
        const Count least = std::holds_alternative<AllWeight>(of.arc.take) ? 1 : 0;
        if (of.filtered) return take_some(of, {.min = least}, variants, notes);
        for (PtTransition& variant : variants) {
            if (least > 0) add_weight(variant.consume, of.place, least);
            set_reset(variant, of.place);
        }
    }
}

}  // namespace

void add_weight(std::vector<PtArc>& arcs, PlaceId place, Count weight) {
    const auto at = std::ranges::find(arcs, place, &PtArc::place);
    if (at == arcs.end()) {
        arcs.push_back({.place = place, .weight = weight});
    } else {
        at->weight += weight;
    }
}

void set_inhibit(PtTransition& variant, PlaceId place, Count weight) {
    const auto at = std::ranges::find(variant.inhibit, place, &PtArc::place);
    if (at == variant.inhibit.end()) {
        variant.inhibit.push_back({.place = place, .weight = weight});
    } else {
        at->weight = std::min(at->weight, weight);
    }
}

void add_arc(const AbstractArc& of, std::vector<PtTransition>& variants, Notes& notes) {
    if (of.filtered) {
        for (PtTransition& variant : variants)
            variant.may_refuse = true;
    }
    switch (of.arc.kind) {
        case ArcKind::inhibit:
            return inhibit(of, variants);
        case ArcKind::reset:
            if (of.filtered) return take_some(of, {.min = 0}, variants, notes);
            for (PtTransition& variant : variants)
                set_reset(variant, of.place);
            return;
        case ArcKind::read:
            return look(of, variants);
        case ArcKind::consume:
            return take(of, variants, notes);
    }
}

}  // namespace nets::analysis
