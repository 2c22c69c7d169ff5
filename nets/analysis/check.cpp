#include "nets/analysis/check.hpp"

#include "nets/analysis/check_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace nets::analysis {
namespace {

/// Markings looked at before a net that no structure bounds is suspected of growing without end.
constexpr std::uint64_t suspicion_states = 50'000;
constexpr std::uint64_t coverability_nodes_max = 20'000;
constexpr std::size_t names_max = 8;

StateSpace explore_up_to(CheckRun& run, std::uint64_t states_max) {
    Budget& budget = run.budget;
    return explore(run.net, run.initial, budget, {.bounds = &run.bounds, .states_max = states_max});
}

/// True when the net was found to grow without end.
bool look_for_growth(CheckRun& run) {
    Coverability found = coverability(run.net, run.initial, run.budget, coverability_nodes_max);
    for (std::size_t t = 0; t < run.fires.size(); ++t)
        run.fires[t] |= found.fires[t];
    if (!found.pump) return false;
    run.fires_exact = found.complete;
    run.pump = std::move(found.pump);
    run.answer(
        Property::bounded,
        Answer::refuted,
        fmt::format(
            "after the sequence, the repeated part adds tokens to {} each time",
            run.names(run.pump->places)
        ),
        run.trace(run.pump->prefix, run.pump->pump)
    );
    run.add(
        Severity::warning,
        "grows_without_end",
        fmt::format("tokens can pile up without end in {}", run.names(run.pump->places)),
        run.trace(run.pump->prefix, run.pump->pump)
    );
    return true;
}

}  // namespace

CheckRun::CheckRun(const PtNet& net_, const Limits& limits, const ProgressCallback& progress)
    : net(net_), budget(limits, progress), initial(initial_marking(net_, limits.cases)) {
    report.net = net.name;
    report.places = net.places.size();
    report.transitions = net.transitions.size();
    report.abstracted = net.abstracted;
    fires.resize(net.transitions.size(), 0);
    group_of = first_of_origin(net);
    place_group_of = first_of_place(net);
    places_whole = std::ranges::all_of(net.places, &std::string::empty, &PtPlace::of);
}

std::vector<std::uint8_t> CheckRun::any_of_group(std::vector<std::uint8_t> facts) const {
    for (std::size_t t = 0; t < facts.size(); ++t)
        facts[group_of[t]] |= facts[t];
    for (std::size_t t = 0; t < facts.size(); ++t)
        facts[t] = facts[group_of[t]];
    return facts;
}

Trace CheckRun::trace(std::span<const TransitionId> firings, std::span<const TransitionId> repeat)
    const {
    Trace result;
    Marking marking = initial;
    const auto follow = [&](std::span<const TransitionId> sequence, std::vector<std::string>& ids) {
        for (const TransitionId t : sequence) {
            base::check(enabled(net, marking, t), "a trace can be fired");
            const bool by_order = std::ranges::any_of(
                net.transitions[t].rivals, [&](PlaceId rival) { return marking[rival] > 0; }
            );
            if (by_order) result.certain = false;
            fire(net, marking, t);
            ids.push_back(net.transitions[t].id);
            if (net.transitions[t].may_refuse) result.certain = false;
        }
    };
    follow(firings, result.firings);
    follow(repeat, result.repeat);
    for (PlaceId p = 0; p < marking.size(); ++p) {
        if (marking[p] > 0) result.marking.emplace_back(net.places[p].id, marking[p]);
    }
    return result;
}

bool CheckRun::decided(Property property) const {
    const Verdict* const verdict = report.verdict(property);
    return verdict != nullptr && verdict->answer != Answer::unknown;
}

void CheckRun::answer(
    Property property, Answer given, std::string reason, std::optional<Trace> trace
) {
    if (decided(property)) return;
    std::erase_if(report.verdicts, [&](const Verdict& verdict) {
        return verdict.property == property;
    });
    report.verdicts.push_back({property, given, std::move(reason), std::move(trace)});
}

void CheckRun::refute(
    Property property, std::span<const TransitionId> firings, std::string_view found
) {
    const std::string_view there =
        property == Property::one_safe ? "a place holds more than one token" : "nothing can fire";
    answer(
        property,
        Answer::refuted,
        fmt::format("after the sequence{} {}", found.empty() ? "," : found, there),
        trace(firings)
    );
}

void CheckRun::add_never_fires(TransitionId group, std::string_view why) {
    const PtTransition& transition = net.transitions[group];
    if (transition.outside) return;
    report.findings.push_back(
        {Severity::error,
         "never_fires",
         transition.origin.empty() ? transition.id : transition.origin,
         fmt::format(
             "transition '{}' can never fire: {}",
             real_name(transition),
             transition.never.empty() ? why : transition.never
         )}
    );
}

void CheckRun::note_order(TransitionId transition) {
    Abstraction made{
        .kind = Abstraction::Kind::data,
        .element = net.transitions[transition].origin,
        .what = "which of the tokens that wait it takes first may go any way"
    };
    const auto& known = report.abstracted;
    if (std::ranges::find(known, made) == known.end()) report.abstracted.push_back(std::move(made));
}

void CheckRun::add(
    Severity severity, std::string code, std::string message, std::optional<Trace> trace
) {
    report.findings.push_back({severity, std::move(code), {}, std::move(message), std::move(trace)}
    );
}

std::vector<std::string> CheckRun::whole_names(std::span<const PlaceId> places) const {
    std::map<PlaceId, std::size_t> missing;
    if (!places_whole) {
        for (const PlaceId p : places)
            missing[place_group_of[p]] = 0;
        for (PlaceId p = 0; p < net.places.size(); ++p) {
            const auto at = missing.find(place_group_of[p]);
            if (at != missing.end() && net.start != p) ++at->second;
        }
        for (const PlaceId p : places) {
            if (net.start != p) --missing[place_group_of[p]];
        }
    }
    std::vector<std::string> result;
    std::set<PlaceId> told;
    for (const PlaceId p : places) {
        const PtPlace& place = net.places[p];
        const bool whole = !place.of.empty() && missing[place_group_of[p]] == 0;
        if (!whole) {
            result.push_back(label(place));
        } else if (told.insert(place_group_of[p]).second) {
            result.push_back(place.of);
        }
    }
    return result;
}

std::string CheckRun::names(std::span<const PlaceId> places) const {
    const std::vector<std::string> shown = whole_names(places);
    std::string result;
    for (std::size_t i = 0; i < std::min(shown.size(), names_max); ++i)
        result += (i > 0 ? ", '" : "'") + shown[i] + "'";
    if (shown.size() > names_max) result += fmt::format(" and {} more", shown.size() - names_max);
    return result;
}

Report check(const PtNet& net, const Limits& limits, const ProgressCallback& progress) {
    CheckRun run(net, limits, progress);
    check_structure(run);
    const bool bounded = run.decided(Property::bounded);
    StateSpace space = explore_up_to(
        run, bounded ? limits.states_max : std::min(limits.states_max, suspicion_states)
    );
    if (!space.complete() && !bounded && !look_for_growth(run) &&
        limits.states_max > suspicion_states) {
        space = explore_up_to(run, limits.states_max);
    }
    run.report.states_seen = space.states.size();
    if (space.complete()) {
        check_complete(run, space);
    } else {
        run.report.stopped = space.stopped;
        check_partial(run, space);
    }
    conclude(run);
    return std::move(run.report);
}

}  // namespace nets::analysis
