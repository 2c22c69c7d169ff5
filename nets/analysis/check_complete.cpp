#include "nets/analysis/check_parts.hpp"
#include "nets/analysis/components.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

namespace nets::analysis {
namespace {

std::string all_markings(const StateSpace& space) {
    return fmt::format("all {} reachable markings were looked at", space.states.size());
}

void answer_one_safe(CheckRun& run, const StateSpace& space, const WholePlaces& whole) {
    if (whole.beyond_one) return run.refute(Property::one_safe, space.trace(*whole.beyond_one));
    if (whole.complete) run.answer(Property::one_safe, Answer::proved, all_markings(space));
}

void answer_deadlock(CheckRun& run, const StateSpace& space) {
    if (!space.deadlock) {
        return run.answer(Property::deadlock_free, Answer::proved, all_markings(space));
    }
    run.refute(Property::deadlock_free, space.trace(*space.deadlock));
}

void answer_quasi_live(CheckRun& run, const StateSpace& space) {
    std::size_t dead = 0;
    const auto fires = run.any_of_group(space.fires);
    std::vector<std::uint8_t> told(fires.size(), 0);
    for (const EmptySiphon::Dead& known : run.siphon.dead)
        told[known.transition] = 1;
    for (TransitionId t = 0; t < fires.size(); ++t) {
        const bool outside = run.net.transitions[t].outside;
        if (fires[t] != 0 || run.group_of[t] != t || outside) continue;
        ++dead;
        if (told[t] != 0) continue;
        run.add_never_fires(
            t, fmt::format("none of the {} reachable markings enables it", space.states.size())
        );
    }
    run.answer(
        Property::quasi_live,
        dead == 0 ? Answer::proved : Answer::refuted,
        dead == 0 ? all_markings(space) : fmt::format("{} of the transitions can never fire", dead)
    );
}

void answer_live(CheckRun& run, const StateSpace& space, const Components& components) {
    auto found = live_transitions(space, components, run.group_of, run.budget);
    if (!found) return;
    std::vector<std::uint8_t>& live = *found;
    for (TransitionId t = 0; t < live.size(); ++t) {
        if (run.net.transitions[t].outside) live[t] = 1;
    }
    const auto at = std::ranges::find(live, std::uint8_t{0});
    if (at == live.end()) {
        return run.answer(Property::live, Answer::proved, all_markings(space));
    }
    const TransitionId group = run.group_of[static_cast<std::size_t>(at - live.begin())];
    std::vector<TransitionId> ways;
    for (TransitionId t = group; t < live.size(); ++t) {
        if (run.group_of[t] == group) ways.push_back(t);
    }
    const auto state = first_state_not_reaching(
        space,
        components,
        [&](StateId candidate) {
            return std::ranges::any_of(ways, [&](TransitionId t) {
                return space.packing.enabled(space.states[candidate], t);
            });
        },
        run.budget
    );
    if (!state.complete) return;
    run.answer(
        Property::live,
        Answer::refuted,
        fmt::format(
            "after the sequence, transition '{}' can never fire again",
            real_name(run.net.transitions[group])
        ),
        run.trace(space.trace(state.first.value_or(0)))
    );
}

}  // namespace

void check_complete(CheckRun& run, const StateSpace& space) {
    Report& report = run.report;
    report.states = space.states.size();
    report.edges = space.edges;
    WholePlaces whole{
        .place_max = space.place_max.empty() ? Count{0} : std::ranges::max(space.place_max),
        .beyond_one = space.beyond_one
    };
    if (!run.places_whole) whole = whole_places(run, space);
    if (whole.complete) report.max_token_in_place = whole.place_max;
    report.max_token_per_marking = space.marking_max;
    run.answer(Property::bounded, Answer::proved, all_markings(space));
    answer_one_safe(run, space, whole);
    answer_deadlock(run, space);
    answer_quasi_live(run, space);
    const Components parts = components(space, run.budget);
    answer_live(run, space, parts);
    if (run.net.start) check_soundness(run, space, parts);
}

}  // namespace nets::analysis
