#include "nets/analysis/check_parts.hpp"
#include "nets/analysis/components.hpp"
#include "nets/analysis/reduction.hpp"
#include "nets/analysis/soundness.hpp"
#include "nets/analysis/structure.hpp"
#include "nets/analysis/stubborn.hpp"
#include "nets/analysis/walks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::uint64_t growing_states_max = 50'000;
constexpr std::uint64_t walk_steps_min = 1'000;
constexpr std::uint64_t walk_steps_max = 200'000;

/// Exact where what was met is as much as the structure allows.
void answer_maxima(CheckRun& run, const std::vector<Count>& met) {
    if (!run.places_whole || met.empty()) return;
    std::optional<Count> bound = 0;
    for (const std::optional<Count>& of_place : run.bounds) {
        bound = bound && of_place ? std::optional(std::max(*bound, *of_place)) : std::nullopt;
    }
    if (bound && std::ranges::max(met) == *bound) run.report.max_token_in_place = *bound;
}

bool has_outside(const PtNet& net) {
    return std::ranges::any_of(net.transitions, &PtTransition::outside);
}

void answer_by_structure(CheckRun& run) {
    const SiphonTrapAnswer found = siphon_trap(run.net, run.initial, run.budget);
    if (found.answer == SiphonTrap::holds && !run.net.transitions.empty()) {
        run.answer(
            Property::deadlock_free,
            Answer::proved,
            "every set of places that could run empty for ever contains one that always keeps a "
            "token"
        );
    }
    const NetClass net_class = classify(run.net);
    if (net_class == NetClass::general || found.answer == SiphonTrap::not_decided) return;
    if (has_outside(run.net)) return;  // they fire once, and are not asked about
    if (found.answer == SiphonTrap::holds) {
        run.answer(
            Property::live,
            Answer::proved,
            fmt::format(
                "the net is a {} net, and every set of places that could run empty for ever "
                "contains one that always keeps a token",
                name(net_class)
            )
        );
    } else {
        run.answer(
            Property::live,
            Answer::refuted,
            fmt::format(
                "the net is a {} net, and {} can run empty for ever",
                name(net_class),
                run.names(found.siphon)
            )
        );
    }
}

void answer_by_partial_graph(CheckRun& run, const StateSpace& space) {
    for (std::size_t t = 0; t < run.fires.size(); ++t)
        run.fires[t] |= space.fires[t];
    if (space.beyond_one) run.refute(Property::one_safe, space.trace(*space.beyond_one));
    if (space.deadlock) run.refute(Property::deadlock_free, space.trace(*space.deadlock));
}

void answer_by_walks(CheckRun& run) {
    std::function<bool(const Marking&)> accepts;
    if (run.net.start) {
        accepts = [end = CaseEnd(run.net, run.budget.limits().cases)](const Marking& marking) {
            return end.over(marking);
        };
    }
    const std::uint64_t steps_max =
        std::clamp(run.budget.limits().states_max, walk_steps_min, walk_steps_max);
    const Walks walks = random_walks(
        run.net, run.initial, run.budget, {.steps_max = steps_max, .accepts = accepts}
    );
    for (std::size_t t = 0; t < run.fires.size(); ++t)
        run.fires[t] |= walks.fires[t];
    answer_maxima(run, walks.place_max);
    constexpr std::string_view how = ", found by a random walk,";
    if (walks.beyond_one) run.refute(Property::one_safe, *walks.beyond_one, how);
    if (walks.deadlock) run.refute(Property::deadlock_free, *walks.deadlock, how);
    if (walks.stuck && !run.decided(Property::option_to_complete)) {
        Trace trace = run.trace(*walks.stuck);
        const std::string message =
            "after the sequence, found by a random walk, nothing can fire and the case is not over";
        const Severity severity = trace.certain ? Severity::error : Severity::warning;
        run.answer(Property::option_to_complete, Answer::refuted, message, trace);
        run.add(severity, "stuck", message, std::move(trace));
    }
}

std::vector<TransitionId> lifted(const Reduced& small, const std::vector<TransitionId>& sequence) {
    std::vector<TransitionId> result;
    for (const TransitionId t : sequence) {
        const auto& firings = small.stands_for[t];
        result.insert(result.end(), firings.begin(), firings.end());
    }
    return result;
}

void answer_deadlock_of_reduced(
    CheckRun& run, const Reduced& small, const StateSpace& space, std::string_view how
) {
    if (space.deadlock) {
        run.refute(Property::deadlock_free, lifted(small, space.trace(*space.deadlock)));
    } else if (space.complete()) {
        run.answer(
            Property::deadlock_free,
            Answer::proved,
            fmt::format("{} markings {} were looked at", space.states.size(), how)
        );
    }
}

std::vector<TransitionId> themselves(std::size_t count) {
    std::vector<TransitionId> result(count);
    std::iota(result.begin(), result.end(), TransitionId{0});
    return result;
}

bool each_for_itself(const std::vector<TransitionId>& group_of) {
    return group_of == themselves(group_of.size());
}

/// The reduced net in full, where it is smaller; then by stubborn sets, for deadlocks only.
void answer_by_reduction(CheckRun& run) {
    const Reduced small = reduced(run.net, run.initial, run.budget);
    const bool smaller = small.net.places.size() < run.net.places.size();
    if (smaller && !run.pump) {
        const StateSpace space = explore(small.net, small.initial, run.budget);
        answer_deadlock_of_reduced(run, small, space, "of a smaller net that stands for this one");
        const bool all_asked = each_for_itself(run.group_of) && !has_outside(run.net);
        if (space.complete() && !small.dropped_dead && all_asked) {
            const auto live = live_transitions(
                space,
                components(space, run.budget),
                themselves(small.stands_for.size()),
                run.budget
            );
            if (!live) return;
            const bool all = std::ranges::find(*live, std::uint8_t{0}) == live->end();
            run.answer(
                Property::live,
                all ? Answer::proved : Answer::refuted,
                fmt::format(
                    "{} markings of a smaller net that stands for this one were looked at",
                    space.states.size()
                )
            );
        }
    }
    if (run.decided(Property::deadlock_free)) return;
    if (run.budget.out_of_time()) return;
    if (neighbours(small.net, all_touches(small.net)) > neighbours_max) return;
    const StubbornSets stubborn(small.net);
    // A net that grows without end has no last marking to come to.
    const auto states_max = run.pump ? std::optional(growing_states_max) : std::nullopt;
    const StateSpace space = explore(
        small.net,
        small.initial,
        run.budget,
        {.keep_edges = false, .stubborn = &stubborn, .states_max = states_max}
    );
    answer_deadlock_of_reduced(
        run, small, space, "that stand for all others (orders that do not matter left out)"
    );
}

void answer_quasi_live(CheckRun& run) {
    const auto fires = run.any_of_group(run.fires);
    if (std::ranges::find(fires, std::uint8_t{0}) == fires.end()) {
        run.answer(Property::quasi_live, Answer::proved, "each transition was seen to fire");
    } else if (run.fires_exact) {
        run.answer(
            Property::quasi_live,
            Answer::refuted,
            "some transitions are enabled in no marking, however many tokens pile up"
        );
    }
}

}  // namespace

void check_partial(CheckRun& run, const StateSpace& space) {
    for (TransitionId t = 0; t < run.net.transitions.size(); ++t) {
        if (!run.net.transitions[t].rivals.empty()) run.note_order(t);
    }
    answer_by_partial_graph(run, space);
    if (run.net.start) check_soundness_partly(run, space);
    if (!run.budget.out_of_time()) answer_by_structure(run);
    if (!run.budget.out_of_time()) answer_by_walks(run);
    const bool open = !run.decided(Property::deadlock_free) || !run.decided(Property::live);
    if (open && !run.budget.out_of_time()) answer_by_reduction(run);
    answer_quasi_live(run);
}

}  // namespace nets::analysis
