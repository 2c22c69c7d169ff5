#include "nets/analysis/check_parts.hpp"
#include "nets/analysis/soundness.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace nets::analysis {
namespace {

Severity severity_of(const Trace& trace) {
    return trace.certain ? Severity::error : Severity::warning;
}

std::string can_or_may(const Trace& trace) {
    return trace.certain ? "can" : "may (depending on data)";
}

void refute_completion(CheckRun& run, const StateSpace& space, StateId state, bool stuck) {
    const CaseEnd end(run.net, run.budget.limits().cases);
    Trace trace = run.trace(space.trace(state));
    const std::string left = run.names(end.leftovers(space.marking(state)));
    std::string message =
        stuck
            ? fmt::format(
                  "a case {} get stuck: tokens are left in {} and nothing can fire",
                  can_or_may(trace),
                  left
              )
            : fmt::format(
                  "a case {} get where it goes on for ever and never completes: tokens stay in {}",
                  can_or_may(trace),
                  left
              );
    run.answer(Property::option_to_complete, Answer::refuted, message, trace);
    const Severity severity = severity_of(trace);
    run.add(severity, stuck ? "stuck" : "never_completes", std::move(message), std::move(trace));
}

void refute_properness(CheckRun& run, const StateSpace& space, StateId state) {
    const CaseEnd end(run.net, run.budget.limits().cases);
    Trace trace = run.trace(space.trace(state));
    std::string message = fmt::format(
        "a case {} reach its end while tokens are left in {}: it stays open until they are gone",
        can_or_may(trace),
        run.names(end.leftovers(space.marking(state)))
    );
    run.answer(Property::proper_completion, Answer::refuted, message, trace);
    run.add(Severity::warning, "left_over", std::move(message), std::move(trace));
}

void report_drained(CheckRun& run, const StateSpace& space, StateId state) {
    const CaseEnd end(run.net, run.budget.limits().cases);
    Trace trace = run.trace(space.trace(state));
    run.add(
        Severity::warning,
        "resource_changed",
        fmt::format(
            "a completed case {} leave another number of tokens in {} than it found: later cases "
            "may wait for ever",
            can_or_may(trace),
            run.names(end.changed_resources(space.marking(state)))
        ),
        std::move(trace)
    );
}

}  // namespace

void check_soundness(CheckRun& run, const StateSpace& space, const Components& parts) {
    const Soundness found = soundness(run.net, space, parts, run.budget);
    const std::string all =
        fmt::format("all {} reachable markings were looked at", space.states.size());
    if (found.stuck) {
        refute_completion(run, space, *found.stuck, true);
    } else if (found.cannot_complete) {
        refute_completion(run, space, *found.cannot_complete, false);
    } else if (found.complete) {
        run.answer(Property::option_to_complete, Answer::proved, all);
    }
    if (found.improper) {
        refute_properness(run, space, *found.improper);
    } else if (found.complete) {
        run.answer(Property::proper_completion, Answer::proved, all);
    }
    if (found.drained) report_drained(run, space, *found.drained);
}

void check_soundness_partly(CheckRun& run, const StateSpace& space) {
    const CaseEnd end(run.net, run.budget.limits().cases);
    std::optional<StateId> stuck;
    std::optional<StateId> improper;
    Patience patience(run.budget);
    for (StateId state = 0; state < space.states.size() && !(stuck && improper); ++state) {
        if (patience.over(4 * run.net.places.size())) break;
        const Marking marking = space.marking(state);
        if (end.over(marking)) continue;
        const bool expanded = state < space.expanded;
        const auto [first, last] = expanded ? space.edge_range(state) : std::pair(0UL, 1UL);
        if (!stuck && first == last) stuck = state;
        if (!improper && end.all_ended(marking)) improper = state;
    }
    if (stuck && !run.decided(Property::option_to_complete)) {
        refute_completion(run, space, *stuck, true);
    }
    if (improper) refute_properness(run, space, *improper);
}

}  // namespace nets::analysis
