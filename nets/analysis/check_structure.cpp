#include "nets/analysis/check.hpp"
#include "nets/analysis/check_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::size_t invariants_reported_max = 50;

template <class Nodes>
std::vector<NamedInvariant> named(const Invariants& invariants, const Nodes& nodes) {
    std::vector<NamedInvariant> result;
    for (const Invariant& invariant : invariants.found) {
        if (result.size() == invariants_reported_max) break;
        NamedInvariant& made = result.emplace_back();
        for (const Term& term : invariant.terms) {
            made.terms.emplace_back(nodes[term.index].id, term.factor);
        }
        made.value = invariant.value;
    }
    return result;
}

/// "Exactly one of these holds a token" is how a net keeps things apart: worth showing.
void report_mutual_exclusion(CheckRun& run, const Invariants& invariants) {
    std::size_t shown = 0;
    for (const Invariant& invariant : invariants.found) {
        const bool ones =
            std::ranges::all_of(invariant.terms, [](const Term& term) { return term.factor == 1; });
        if (!ones || invariant.value != 1 || invariant.terms.size() < 3) continue;
        std::vector<PlaceId> places;
        for (const Term& term : invariant.terms)
            places.push_back(term.index);
        if (!run.places_whole && run.whole_names(places).size() < 3) continue;
        if (++shown > invariants_reported_max) return;
        run.add(
            Severity::note,
            "mutual_exclusion",
            fmt::format("at any time exactly one of {} holds a token", run.names(places)),
            {}
        );
    }
}

void report_dead(CheckRun& run) {
    std::vector<std::uint8_t> may_fire(run.net.transitions.size(), 1);
    for (const EmptySiphon::Dead& dead : run.siphon.dead)
        may_fire[dead.transition] = 0;
    may_fire = run.any_of_group(std::move(may_fire));
    std::erase_if(run.siphon.dead, [&](const EmptySiphon::Dead& dead) {
        return may_fire[dead.transition] != 0;
    });
    for (const EmptySiphon::Dead& dead : run.siphon.dead) {
        if (run.group_of[dead.transition] != dead.transition) continue;
        run.add_never_fires(
            dead.transition,
            fmt::format(
                "it needs a token in place '{}', and whatever could put one there can never fire "
                "either",
                label(run.net.places[dead.missing])
            )
        );
    }
    if (run.siphon.dead.empty()) return;
    for (const EmptySiphon::Dead& dead : run.siphon.dead) {
        const PtTransition& transition = run.net.transitions[dead.transition];
        if (transition.never.empty()) continue;
        return run.answer(
            Property::quasi_live,
            Answer::refuted,
            fmt::format("transition '{}': {}", real_name(transition), transition.never)
        );
    }
    run.answer(
        Property::quasi_live,
        Answer::refuted,
        fmt::format(
            "{} hold no token and never will: what fills them needs a token from them",
            run.names(run.siphon.places)
        )
    );
}

}  // namespace

void check_structure(CheckRun& run) {
    run.report.findings = structure_findings(run.net, run.initial);
    const Invariants of_places = place_invariants(run.net, run.initial, run.budget);
    const Invariants of_transitions = transition_invariants(run.net, run.budget);
    run.report.place_invariants = named(of_places, run.net.places);
    run.report.transition_invariants = named(of_transitions, run.net.transitions);
    run.report.invariants_complete = of_places.complete && of_transitions.complete;
    report_mutual_exclusion(run, of_places);
    run.siphon = largest_empty_siphon(run.net, run.initial, run.budget);
    report_dead(run);
    run.bounds = place_bounds(run.net, run.initial, of_places, run.budget);
    const bool bounded = std::ranges::all_of(run.bounds, [](const std::optional<Count>& bound) {
        return bound.has_value();
    });
    if (!bounded) return;
    run.answer(
        Property::bounded,
        Answer::proved,
        "for each place an invariant, a capacity or the lack of anything that fills it sets a limit"
    );
    Marking of_place(run.bounds.size(), 0);
    for (PlaceId p = 0; p < of_place.size(); ++p)
        of_place[run.place_group_of[p]] += *run.bounds[p];
    const bool one_safe = std::ranges::all_of(of_place, [](Count bound) { return bound <= 1; });
    if (one_safe) {
        run.answer(Property::one_safe, Answer::proved, "the limit of each place is one token");
    }
}

}  // namespace nets::analysis
