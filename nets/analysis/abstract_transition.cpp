#include "nets/analysis/abstract_transition.hpp"

#include "nets/analysis/abstract_inputs.hpp"
#include "nets/analysis/modes.hpp"
#include "nets/analysis/outcomes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nets::analysis {
namespace {

using Kind = Abstraction::Kind;

constexpr std::size_t or_join_arcs_max = 6;
constexpr std::size_t told_apart_max =
    512;  ///< ways of one transition, where values are told apart

/// One token that an outcome makes, and what it may hold.
struct Product {
    const OutputRule* rule = nullptr;
    std::vector<std::size_t> values{};  ///< of a place that is taken apart
    bool sure = true;                   ///< it comes to be, and with each of them
};

class TransitionAbstracter {
public:
    TransitionAbstracter(
        const Net& net, TransitionIndex transition, const Unfolding& unfolding, AbstractNet& into
    )
        : net_(net),
          transition_(net.transitions[transition]),
          texts_(unfolding.texts.empty() ? nullptr : &unfolding.texts[transition]),
          unfolding_(unfolding),
          into_(into) {}

    Widened run() && {
        tells_apart_ = concerns_values();
        const auto modes = modes_of(transition_, texts_, unfolding_, told_apart_max);
        if (!modes) return {.too_wide = true};
        several_modes_ = modes->size() > 1;
        for (const Mode& mode : *modes) {
            add_mode(mode);
            if (tells_apart_ && made_.size() > told_apart_max) return {.too_wide = true};
        }
        if (made_.empty()) add_impossible();
        for (PtTransition& made : made_) {
            give_id(made);
            into_.net.transitions.push_back(std::move(made));
        }
        return {.made = tells_apart_ ? made_.size() : 0};
    }

private:
    void note(Kind kind, std::string what, bool narrows = false) {
        into_.notes.add(
            {.kind = kind, .element = transition_.name, .what = std::move(what), .narrows = narrows}
        );
    }

    [[nodiscard]] bool concerns_values() const {
        const auto makes = [&](const Outputs& outputs) {
            return std::ranges::any_of(outputs.rules, [&](const OutputRule& rule) {
                return unfolding_.of(rule.place);
            });
        };
        return makes(transition_.out) || (transition_.fail && makes(*transition_.fail)) ||
               std::ranges::any_of(transition_.in, [&](const InputArc& arc) {
                   return unfolding_.of(arc.place);
               });
    }

    void add_mode(const Mode& mode) {
        std::vector<PtTransition> variants(1);
        variants[0].origin = transition_.name;
        variants[0].id = transition_.name;
        if (several_modes_) variants[0].id += mode_text(mode, transition_, unfolding_);
        for (std::size_t arc = 0; arc < transition_.in.size(); ++arc) {
            if (!transition_.or_join || transition_.in[arc].kind != ArcKind::consume)
                add_input(mode, arc, variants);
        }
        if (transition_.or_join) join_some(mode, variants);
        if (mode.guard != Holds::yes) {
            note(Kind::guard, "its guard may go either way");
            for (PtTransition& variant : variants)
                variant.may_refuse = true;
        }
        for (PtTransition& variant : variants) {
            add_rivals(mode, variant);
            read_others(variant);
        }
        // Again and again: nothing but its inputs and the room for what it makes holds it back.
        if (is_timer(transition_)) note(Kind::time, "the timer may fire at any time");
        add_outcomes(mode, variants);
    }

    void add_input(const Mode& mode, std::size_t index, std::vector<PtTransition>& variants) {
        const InputArc& arc = transition_.in[index];
        if (arc.key) note(Kind::data, "tokens may have equal keys or not");
        if (arc.age.us > 0) note(Kind::time, "tokens may be old enough or not");
        if (arc.any_case && net_.start) {
            note(
                Kind::environment,
                "it also looks at tokens of other cases, and one case is tried alone",
                true
            );
        }
        const AbstractPlace& place = into_.places[arc.place];
        if (!place.whole && place.values.empty()) {
            for (PtTransition& variant : variants)
                variant.may_refuse = true;
            if (arc.where) note_where();
            return;
        }
        if (place.values.empty()) {
            add_part(arc, *place.whole, mode.where[index], variants);
        } else if (arc.binds()) {
            add_part(arc, place.values[*mode.values[index]], mode.where[index], variants);
        } else {
            for (std::size_t value = 0; value < place.values.size(); ++value)
                add_part(arc, place.values[value], where_of(index, value), variants);
        }
    }

    [[nodiscard]] Holds where_of(std::size_t index, std::size_t value) const {
        const InputArc& arc = transition_.in[index];
        if (!arc.where) return Holds::yes;
        const auto& tree = texts_->where[index];
        return tree ? lets_pass(arc, *tree, value, unfolding_) : Holds::maybe;
    }

    void add_part(
        const InputArc& arc, PlaceId place, Holds where, std::vector<PtTransition>& variants
    ) {
        if (where == Holds::no) return;
        if (where == Holds::maybe) note_where();
        const bool filtered = where == Holds::maybe || arc.key || arc.age.us > 0;
        add_arc({transition_, arc, place, filtered}, variants, into_.notes);
    }

    void note_where() { note(Kind::data, "'where' may match any token or none"); }

    /// `join: or` takes from every input that holds tokens: one variant for each such choice. That
    /// it waits while more can arrive is left out.
    void join_some(const Mode& mode, std::vector<PtTransition>& variants) {
        note(
            Kind::environment, "its 'join' waits while more can arrive: it is tried without waiting"
        );
        std::vector<std::size_t> arcs;
        for (std::size_t arc = 0; arc < transition_.in.size(); ++arc) {
            if (transition_.in[arc].kind == ArcKind::consume) arcs.push_back(arc);
        }
        if (arcs.size() > or_join_arcs_max) {
            note(Kind::environment, "only some choices of inputs are tried", true);
            arcs.resize(or_join_arcs_max);
        }
        std::vector<PtTransition> made;
        for (std::size_t choice = 1; choice < std::size_t{1} << arcs.size(); ++choice) {
            std::vector<PtTransition> chosen = variants;
            for (std::size_t i = 0; i < arcs.size(); ++i) {
                const auto place = into_.places[transition_.in[arcs[i]].place].whole;
                if ((choice >> i & 1U) != 0) {
                    add_input(mode, arcs[i], chosen);
                } else if (place) {
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

    void add_rivals(const Mode& mode, PtTransition& variant) const {
        for (const Mode::Rival& rival : mode.rivals) {
            const AbstractPlace& place = into_.places[transition_.in[rival.arc].place];
            variant.rivals.push_back(place.values[rival.value]);
        }
    }

    /// A firing binds a token once: what it reads is there beside what it takes.
    static void read_others(PtTransition& variant) {
        for (PtArc& read : variant.read) {
            const auto at = std::ranges::find(variant.consume, read.place, &PtArc::place);
            if (at != variant.consume.end()) read.weight += at->weight;
        }
    }

    PlaceId add_place(PtPlace place) {
        into_.net.places.push_back(std::move(place));
        return static_cast<PlaceId>(into_.net.places.size() - 1);
    }

    void add_outcomes(const Mode& mode, const std::vector<PtTransition>& variants) {
        const auto known = known_in(mode, transition_, unfolding_);
        const Judging judging{
            .when =
                [&](const OutputRule& rule) {
                    if (known.empty()) return Holds::maybe;
                    const auto at = texts_->when.find(&rule);
                    return at == texts_->when.end() ? Holds::maybe : judged(at->second, known);
                },
            .told_apart = [&](PlaceIndex place) { return unfolding_.of(place); }
        };
        const Outcomes outcomes = outcomes_of(transition_, judging);
        for (const Outcomes::Loss& loss : outcomes.lost)
            note(loss.by_data ? Kind::data : Kind::outputs, loss.what, loss.narrows);
        several_ways_ = variants.size() * outcomes.ways.size() > 1;
        for (const PtTransition& variant : variants) {
            for (const Outcome& outcome : outcomes.ways) {
                std::vector<Product> products;
                for (const OutputRule* rule : outcome.produced)
                    products.push_back(product_of(*rule, known));
                add_outcome(variant, outcome, products);
                if (tells_apart_ && made_.size() > told_apart_max) return;
            }
        }
    }

    Product product_of(const OutputRule& rule, std::span<const KnownField> known) {
        Product product{.rule = &rule};
        if (!unfolding_.of(rule.place)) return product;
        const UnfoldedPlace& place = *unfolding_.places[rule.place];
        const auto source = texts_->templates.find(&rule);
        Possible made{.values = {}, .anything = true};
        if (source != texts_->templates.end()) {
            const Written what = written_by(source->second, place.field.path);
            if (what.constant) made = {.values = {*what.constant}};
            if (what.expression) made = possible(*what.expression, known, what.below);
        }
        if (!made.anything) {
            for (const cel::Value& value : made.values)
                add_value(place, value, product);
        }
        product.sure =
            !made.anything && !made.fails && product.values.size() == 1 && made.values.size() == 1;
        if (product.values.empty()) {
            for (std::size_t value = 0; value < place.ids.size(); ++value)
                product.values.push_back(value);
        }
        if (!product.sure) note_written(rule.place);
        return product;
    }

    static void add_value(const UnfoldedPlace& place, const cel::Value& value, Product& product) {
        const auto index = place.field.index_of(value);
        const bool known =
            index && std::ranges::find(product.values, *index) != product.values.end();
        if (index && !known) product.values.push_back(*index);
    }

    void note_written(PlaceIndex place) {
        note(
            Kind::data,
            fmt::format("what it writes into '{}' may have several values", net_.places[place].name)
        );
    }

    /// One way for each choice of what the tokens hold.
    void add_outcome(
        const PtTransition& input, const Outcome& outcome, const std::vector<Product>& products
    ) {
        std::vector<std::size_t> choice(products.size(), 0);
        for (bool more = true; more;) {
            add_way(input, outcome, products, choice);
            if (made_.size() > told_apart_max && tells_apart_) return;
            more = false;
            for (std::size_t i = 0; i < products.size() && !more; ++i) {
                if (products[i].values.empty()) continue;
                choice[i] = (choice[i] + 1) % products[i].values.size();
                more = choice[i] != 0;
            }
        }
    }

    void add_way(
        const PtTransition& input,
        const Outcome& outcome,
        const std::vector<Product>& products,
        const std::vector<std::size_t>& choice
    ) {
        PtTransition made = input;
        if (outcome.by_fail || outcome.unrouted) made.reset.clear();
        if (!outcome.certain) made.may_refuse = true;
        std::string shown;
        bool told = several_ways_;
        for (std::size_t i = 0; i < products.size(); ++i) {
            const AbstractPlace& place = into_.places[products[i].rule->place];
            auto part = place.whole;
            if (!place.values.empty()) part = place.values[products[i].values[choice[i]]];
            if (!products[i].sure) made.may_refuse = true;
            if (part) add_weight(made.produce, *part, 1);
            told = told || products[i].values.size() > 1;
            if (!shown.empty()) shown += ", ";
            const bool open = products[i].values.size() > 1;
            shown += open ? into_.net.places[*part].id : net_.places[products[i].rule->place].name;
        }
        if (outcome.unrouted) {
            add_weight(made.produce, dead_letters(), 1);
            shown = "dead letter";
        }
        if (told) {
            made.id += outcome.by_fail ? " (fail" : " (";
            if (outcome.by_fail && !shown.empty()) made.id += ": ";
            made.id += shown.empty() && !outcome.by_fail ? "nothing)" : shown + ")";
        }
        const bool known = tells_apart_ && std::ranges::find(made_, made) != made_.end();
        if (!known) made_.push_back(std::move(made));
    }

    /// Where a token is lost: the case it belongs to ends nowhere.
    PlaceId dead_letters() {
        if (!into_.dead_letters) into_.dead_letters = add_place({.id = "dead letters"});
        return *into_.dead_letters;
    }

    /// It is there, so that somebody may find that it never fires.
    void add_impossible() {
        if (!into_.never_filled) into_.never_filled = add_place({.id = "never filled"});
        PtTransition& made = made_.emplace_back();
        made.id = transition_.name;
        made.origin = transition_.name;
        made.consume.push_back({.place = *into_.never_filled});
        made.never = "its conditions hold for none of the values that the schemas allow";
    }

    void give_id(PtTransition& made) {
        const std::string base = made.id;
        for (int n = 2; !into_.ids.insert(made.id).second; ++n)
            made.id = fmt::format("{} #{}", base, n);
    }

    const Net& net_;
    const Transition& transition_;
    const TransitionTexts* texts_;  ///< null where nothing is taken apart
    const Unfolding& unfolding_;
    AbstractNet& into_;
    bool tells_apart_ = false;
    bool several_modes_ = false;
    bool several_ways_ = false;
    std::vector<PtTransition> made_;
};

}  // namespace

Widened add_transition(
    const Net& net, TransitionIndex transition, const Unfolding& unfolding, AbstractNet& into
) {
    return TransitionAbstracter(net, transition, unfolding, into).run();
}

}  // namespace nets::analysis
