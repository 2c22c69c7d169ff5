#include "nets/analysis/abstract.hpp"

#include "nets/analysis/outcomes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace nets::analysis {
namespace {

constexpr Count unfolded_max = 8;         ///< numbers of tokens tried where data decides how many
constexpr Count range_unfolded_max = 16;  ///< tokens between the `min` and `max` of `take`
constexpr std::size_t or_join_arcs_max = 6;
constexpr std::size_t variants_max = 64;  ///< of one transition, by numbers of tokens

using Kind = Abstraction::Kind;

void add_weight(std::vector<PtArc>& arcs, PlaceId place, Count weight) {
    const auto at = std::ranges::find(arcs, place, &PtArc::place);
    if (at == arcs.end()) {
        arcs.push_back({.place = place, .weight = weight});
    } else {
        at->weight += weight;
    }
}

class Abstracter {
public:
    explicit Abstracter(const Net& net) : net_(net), place_of_(net.places.size()) {}

    PtNet run() && {
        result_.name = net_.name;
        add_places();
        if (net_.start) result_.start = place_of_[*net_.start];
        for (const Transition& transition : net_.transitions) {
            if (!std::holds_alternative<Link>(transition.action)) add_transition(transition);
        }
        add_ends();
        feed_from_outside();
        note_priorities();
        return std::move(result_);
    }

private:
    void note(Kind kind, const std::string& element, std::string what, bool narrows = false) {
        add({.kind = kind, .element = element, .what = std::move(what), .narrows = narrows});
    }

    void add(Abstraction made) {
        if (noted_.emplace(made.element, made.what).second)
            result_.abstracted.push_back(std::move(made));
    }

    void add_places() {
        for (PlaceIndex p = 0; p < net_.places.size(); ++p) {
            const Place& place = net_.places[p];
            if (place.shared) {
                note(
                    Kind::environment,
                    place.name,
                    "is shared with other nets: it may hold anything at any time"
                );
                continue;
            }
            place_of_[p] = static_cast<PlaceId>(result_.places.size());
            result_.places.push_back(
                {.id = place.name, .initial = place.tokens.size(), .capacity = place.capacity}
            );
        }
    }

    void add_transition(const Transition& transition) {
        std::vector<PtTransition> variants(1);
        variants[0].origin = transition.name;
        for (const InputArc& arc : transition.in) {
            if (!transition.or_join || arc.kind != ArcKind::consume)
                add_input(transition, arc, variants);
        }
        if (transition.or_join) join_some(transition, variants);
        if (transition.guard) {
            note(Kind::guard, transition.name, "its guard may go either way");
            for (PtTransition& variant : variants)
                variant.may_refuse = true;
        }
        if (is_timer(transition)) add_timer(transition, variants);
        const Outcomes outcomes = outcomes_of(transition);
        for (const Outcomes::Loss& loss : outcomes.lost) {
            note(Kind::outputs, transition.name, loss.what, loss.narrows);
        }
        for (const PtTransition& variant : variants) {
            for (const Outcome& outcome : outcomes.ways) {
                const bool only = variants.size() * outcomes.ways.size() == 1;
                add_variant(transition, variant, outcome, only);
            }
        }
    }

    void add_input(
        const Transition& transition, const InputArc& arc, std::vector<PtTransition>& variants
    ) {
        const bool filtered = arc.where || arc.key || arc.age.us > 0;
        if (arc.where) note(Kind::data, transition.name, "'where' may match any token or none");
        if (arc.key) note(Kind::data, transition.name, "tokens may have equal keys or not");
        if (arc.age.us > 0) note(Kind::time, transition.name, "tokens may be old enough or not");
        if (arc.any_case && net_.start) {
            note(
                Kind::environment,
                transition.name,
                "it also looks at tokens of other cases, and one case is tried alone",
                true
            );
        }
        const auto place = place_of_[arc.place];
        for (PtTransition& variant : variants) {
            if (filtered || !place) variant.may_refuse = true;
        }
        if (!place) return;
        switch (arc.kind) {
            case ArcKind::inhibit:
                inhibit(arc, *place, filtered, variants);
                return;
            case ArcKind::reset:
                if (filtered) return take_some(transition, *place, {.min = 0}, variants);
                for (PtTransition& variant : variants)
                    set_reset(variant, *place);
                return;
            case ArcKind::read:
            case ArcKind::consume:
                take(transition, arc, *place, variants);
                return;
        }
    }

    /// `join: or` takes from every input that holds tokens: one variant for each such choice. That
    /// it waits while more can arrive is left out.
    void join_some(const Transition& transition, std::vector<PtTransition>& variants) {
        note(
            Kind::environment,
            transition.name,
            "its 'join' waits while more can arrive: it is tried without waiting"
        );
        std::vector<const InputArc*> arcs;
        for (const InputArc& arc : transition.in) {
            if (arc.kind == ArcKind::consume) arcs.push_back(&arc);
        }
        if (arcs.size() > or_join_arcs_max) {
            note(Kind::environment, transition.name, "only some choices of inputs are tried", true);
            arcs.resize(or_join_arcs_max);
        }
        std::vector<PtTransition> made;
        for (std::size_t choice = 1; choice < std::size_t{1} << arcs.size(); ++choice) {
            std::vector<PtTransition> chosen = variants;
            for (std::size_t i = 0; i < arcs.size(); ++i) {
                if ((choice >> i & 1U) != 0) {
                    add_input(transition, *arcs[i], chosen);
                } else if (const auto place = place_of_[arcs[i]->place]) {
                    for (PtTransition& variant : chosen)
                        set_inhibit(variant, *place, 1);
                }
            }
            made.insert(made.end(), chosen.begin(), chosen.end());
        }
        for (PtTransition& variant : made)
            variant.may_refuse = true;
        variants = std::move(made);
    }

    static void inhibit(
        const InputArc& arc, PlaceId place, bool filtered, std::vector<PtTransition>& variants
    ) {
        const auto* const fixed = std::get_if<FixedWeight>(&arc.take);
        for (PtTransition& variant : variants) {
            // One that looks at some tokens only, or for a number that is computed, may let pass
            // what it would stop.
            if (filtered || fixed == nullptr) {
                variant.may_refuse = true;
                continue;
            }
            set_inhibit(variant, place, fixed->count);
        }
    }

    static void set_inhibit(PtTransition& variant, PlaceId place, Count weight) {
        const auto at = std::ranges::find(variant.inhibit, place, &PtArc::place);
        if (at == variant.inhibit.end()) {
            variant.inhibit.push_back({.place = place, .weight = weight});
        } else {
            at->weight = std::min(at->weight, weight);
        }
    }

    static void set_reset(PtTransition& variant, PlaceId place) {
        if (std::ranges::find(variant.reset, place) == variant.reset.end()) {
            variant.reset.push_back(place);
        }
    }

    void take(
        const Transition& transition,
        const InputArc& arc,
        PlaceId place,
        std::vector<PtTransition>& variants
    ) {
        if (arc.kind == ArcKind::read) return look(arc, place, variants);
        const bool filtered = arc.where || arc.key || arc.age.us > 0;
        if (const auto* fixed = std::get_if<FixedWeight>(&arc.take)) {
            for (PtTransition& variant : variants)
                add_weight(variant.consume, place, fixed->count);
        } else if (const auto* range = std::get_if<RangeWeight>(&arc.take)) {
            take_some(
                transition,
                place,
                {.min = range->min, .max = range->max, .most_there = !filtered},
                variants
            );
        } else if (std::holds_alternative<ExpressionWeight>(arc.take)) {
            for (PtTransition& variant : variants)
                variant.may_refuse = true;
            take_some(transition, place, {.min = 0}, variants);
        } else {
            const Count least = std::holds_alternative<AllWeight>(arc.take) ? 1 : 0;
            if (filtered) return take_some(transition, place, {.min = least}, variants);
            for (PtTransition& variant : variants) {
                if (least > 0) add_weight(variant.consume, place, least);
                set_reset(variant, place);
            }
        }
    }

    /// Taking nothing away, it needs the least number only.
    static void look(const InputArc& arc, PlaceId place, std::vector<PtTransition>& variants) {
        Count least = 0;
        if (const auto* fixed = std::get_if<FixedWeight>(&arc.take)) least = fixed->count;
        if (const auto* range = std::get_if<RangeWeight>(&arc.take)) least = range->min;
        if (std::holds_alternative<AllWeight>(arc.take)) least = 1;
        const bool computed = std::holds_alternative<ExpressionWeight>(arc.take);
        for (PtTransition& variant : variants) {
            if (least > 0) add_weight(variant.read, place, least);
            variant.may_refuse = variant.may_refuse || computed;
        }
    }

    struct Some {
        Count min = 0;
        std::optional<Count> max{};
        bool most_there = false;  ///< takes as many as there are, up to `max`
    };

    /// A number of tokens: one variant each.
    void take_some(
        const Transition& transition,
        PlaceId place,
        const Some& some,
        std::vector<PtTransition>& variants
    ) {
        const Count tried = some.min + (some.most_there ? range_unfolded_max : unfolded_max);
        Count max = some.max ? std::min(*some.max, tried) : tried;
        if (variants.size() * (max - some.min + 1) > variants_max) max = some.min;
        if (!some.max || max < *some.max) {
            add(
                {.kind = Kind::weight,
                 .element = transition.name,
                 .what = fmt::format("takes a number of tokens, of which up to {} are tried", max),
                 .narrows = true,
                 .exact_up_to = max}
            );
        }
        std::vector<PtTransition> made;
        for (const PtTransition& before : variants) {
            for (Count n = some.min; n <= max; ++n) {
                PtTransition& variant = made.emplace_back(before);
                if (n > 0) add_weight(variant.consume, place, n);
                const bool fewer = some.most_there && n < *some.max;
                if (fewer && !inhibits(variant, place))
                    variant.inhibit.push_back({.place = place, .weight = n + 1});
            }
        }
        variants = std::move(made);
    }

    static bool inhibits(const PtTransition& variant, PlaceId place) {
        return std::ranges::find(variant.inhibit, place, &PtArc::place) != variant.inhibit.end();
    }

    void add_timer(const Transition& transition, std::vector<PtTransition>& variants) {
        note(Kind::time, transition.name, "the timer fires once");
        const auto timer = static_cast<PlaceId>(result_.places.size());
        std::string id = "timer of " + transition.name;
        result_.places.push_back({.id = std::move(id), .initial = 1});
        fed_.push_back(timer);
        for (PtTransition& variant : variants)
            variant.consume.push_back({.place = timer});
    }

    void add_variant(
        const Transition& transition, const PtTransition& input, const Outcome& outcome, bool only
    ) {
        PtTransition made = input;
        std::string id = transition.name;
        for (const PlaceIndex p : outcome.produced) {
            if (place_of_[p]) add_weight(made.produce, *place_of_[p], 1);
        }
        if (!only) {
            id += outcome.by_fail ? " (fail" : " (";
            if (outcome.by_fail && !outcome.produced.empty()) id += ": ";
            for (std::size_t i = 0; i < outcome.produced.size(); ++i) {
                if (i > 0) id += ", ";
                id += net_.places[outcome.produced[i]].name;
            }
            id += outcome.produced.empty() && !outcome.by_fail ? "nothing)" : ")";
        }
        if (!outcome.certain) made.may_refuse = true;
        const std::string base = id;
        for (int n = 2; !ids_.insert(id).second; ++n)
            id = fmt::format("{} #{}", base, n);
        made.id = std::move(id);
        priorities_.push_back(transition.priority);
        result_.transitions.push_back(std::move(made));
    }

    /// Without any `end`, a case ends where nobody takes its tokens.
    void add_ends() {
        for (const PlaceIndex p : net_.end) {
            if (place_of_[p]) result_.end.push_back(*place_of_[p]);
        }
        if (!net_.end.empty()) return;
        std::vector<bool> read(result_.places.size(), false);
        for (const PtTransition& transition : result_.transitions) {
            for (const auto* arcs : {&transition.consume, &transition.read, &transition.inhibit}) {
                for (const PtArc& arc : *arcs)
                    read[arc.place] = true;
            }
            for (const PlaceId p : transition.reset)
                read[p] = true;
        }
        for (PlaceId p = 0; p < read.size(); ++p) {
            if (!read[p]) result_.end.push_back(p);
        }
    }

    /// What nothing in the net fills is filled from outside, by hand or by a timer. Without a
    /// start, the only such place is one.
    void feed_from_outside() {
        std::vector<bool> filled(result_.places.size(), false);
        std::vector<bool> read(result_.places.size(), false);
        for (const PtTransition& transition : result_.transitions) {
            for (const PtArc& arc : transition.produce)
                filled[arc.place] = true;
            for (const PtArc& arc : transition.consume)
                read[arc.place] = true;
            for (const PtArc& arc : transition.read)
                read[arc.place] = true;
        }
        for (PlaceId p = 0; p < filled.size(); ++p) {
            PtPlace& place = result_.places[p];
            if (filled[p] || !read[p] || place.initial > 0 || result_.start == p) continue;
            note(Kind::environment, place.id, "is filled from outside: one token is put there");
            place.initial = 1;
            fed_.push_back(p);
        }
        for (const PlaceId p : fed_)
            result_.places[p].outside = true;
        if (result_.start || fed_.size() != 1) return;
        result_.start = fed_[0];
        result_.places[fed_[0]].initial = 0;
        result_.places[fed_[0]].outside = false;
    }

    void note_priorities() {
        if (priorities_.empty()) return;
        const std::int64_t highest = std::ranges::max(priorities_);
        for (std::size_t t = 0; t < priorities_.size(); ++t) {
            if (priorities_[t] == highest) continue;
            result_.transitions[t].may_refuse = true;
            note(
                Kind::priority,
                result_.transitions[t].origin,
                "may fire before a transition of higher priority"
            );
        }
    }

    const Net& net_;
    std::vector<std::optional<PlaceId>> place_of_;  ///< nothing for shared places
    PtNet result_;
    std::vector<PlaceId> fed_;
    std::vector<std::int64_t> priorities_;  ///< one a transition of the result
    std::set<std::string> ids_;
    std::set<std::pair<std::string, std::string>> noted_;
};

}  // namespace

PtNet abstracted(const Net& net) {
    return Abstracter(net).run();
}

}  // namespace nets::analysis
