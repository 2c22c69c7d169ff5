#include "nets/analysis/check_net.hpp"

#include "nets/analysis/abstract.hpp"
#include "nets/analysis/check.hpp"
#include "nets/analysis/counted_joins.hpp"
#include "nets/analysis/guards.hpp"
#include "nets/check.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace nets::analysis {
namespace {

/// What `lint` tells better, with the data and the places that the abstraction lacks.
constexpr auto told_by_lint = std::to_array<std::string_view>(
    {"unconnected", "never_fed", "never_read", "end_never_fed", "no_input"}
);

/// Without a start or an end to a case, to come to rest is what a net does.
constexpr std::string_view rest = "deadlock";

constexpr auto about_places = std::to_array<std::string_view>({"capacity_exceeded"});
constexpr std::string_view contradiction = "contradiction";

void withdraw(Verdict& verdict, const std::string& but) {
    // That a transition never fires says "never" as well.
    const bool never = verdict.property == Property::quasi_live ||
                       verdict.property == Property::live || verdict.property == Property::sound;
    if (verdict.answer == Answer::unknown) return;
    if (verdict.answer == Answer::refuted && !never) {
        if (verdict.trace) verdict.trace->certain = false;
        return;
    }
    verdict.reason = (verdict.answer == Answer::proved ? "this holds" : "this does not hold") + but;
    verdict.answer = Answer::unknown;
    verdict.trace.reset();
}

/// Where the abstraction can do less than the net, what it never does is no proof.
void withdraw_proofs(Report& report) {
    for (Abstraction& made : report.abstracted) {
        const bool exact = made.exact_up_to && report.max_token_in_place &&
                           *report.max_token_in_place <= *made.exact_up_to;
        if (exact) made.narrows = false;
    }
    const auto narrowing = std::ranges::find(report.abstracted, true, &Abstraction::narrows);
    if (narrowing == report.abstracted.end()) return;
    const std::string but = " for what was tried, but of '" + narrowing->element +
                            "' not everything was: " + narrowing->what;
    for (Verdict& verdict : report.verdicts)
        withdraw(verdict, but);
    for (Finding& finding : report.findings) {
        if (finding.severity == Severity::error) finding.severity = Severity::warning;
        if (finding.trace) finding.trace->certain = false;
        if (finding.code == "never_fires") finding.message += but;
    }
    const auto known = [&](Property property, std::optional<bool>& fact) {
        if (report.verdict(property)->answer == Answer::unknown) fact.reset();
    };
    known(Property::bounded, report.bounded);
    known(Property::one_safe, report.one_safe);
    known(Property::live, report.live);
    known(Property::quasi_live, report.quasi_live);
    known(Property::deadlock_free, report.has_deadlock);
}

/// One case was looked at. Where cases give each other tokens, another may be what it waits for.
void mind_other_cases(const Net& net, Report& report) {
    const bool meet = std::ranges::any_of(net.places, [](const Place& place) {
        return !place.cases && !place.shared;
    });
    if (!meet) return;
    for (Finding& finding : report.findings) {
        if (finding.severity != Severity::error) continue;
        if (!finding.trace && finding.code != "never_fires") continue;
        finding.severity = Severity::warning;
        finding.message += " (alone; other cases may help it)";
    }
}

/// What a case puts back belongs to it, unless the place strips the case.
void tell_captured(const Net& net, Report& report) {
    if (!net.start) return;
    const auto puts = [](const std::optional<Outputs>& outputs, PlaceIndex place) {
        return outputs &&
               std::ranges::find(outputs->rules, place, &OutputRule::place) != outputs->rules.end();
    };
    for (PlaceIndex p = 0; p < net.places.size(); ++p) {
        const Place& place = net.places[p];
        if (place.shared || !place.cases || place.tokens.empty() || net.start == p) continue;
        const auto at = std::ranges::find_if(net.transitions, [&](const Transition& transition) {
            return puts(transition.out, p) || puts(transition.fail, p);
        });
        if (at == net.transitions.end()) continue;
        Finding& made = report.findings.emplace_back();
        made.severity = Severity::warning;
        made.code = "resource_captured";
        made.element = place.name;
        made.pointer = base::pointer_child("/places", place.name);
        made.message = fmt::format(
            "what '{}' puts into '{}' belongs to its case and no other case can take it; if it is "
            "for all of them, give the place \"cases\": false",
            at->name,
            place.name
        );
    }
}

/// An or-join that does not wait can come to what one that waits never does.
void mind_or_joins(const Net& net, Report& report) {
    if (std::ranges::none_of(net.transitions, &Transition::or_join)) return;
    for (Verdict& verdict : report.verdicts) {
        if (verdict.answer != Answer::refuted || !verdict.trace || verdict.trace->certain) continue;
        verdict.answer = Answer::unknown;
        verdict.reason += " - if an or-join does not wait; whether it does was not looked at";
    }
    const Verdict* const completes = report.verdict(Property::option_to_complete);
    const Verdict* const proper = report.verdict(Property::proper_completion);
    const auto open = [](const Verdict* verdict) {
        return verdict != nullptr && verdict->answer == Answer::unknown;
    };
    for (Verdict& verdict : report.verdicts) {
        if (verdict.property != Property::sound || !(open(completes) || open(proper))) continue;
        verdict.answer = Answer::unknown;
        verdict.reason = "it depends on an or-join";
    }
}

/// Findings about the abstraction point at what of the document they are about.
void point_into_document(const PtNet& abstraction, Report& report) {
    for (Finding& finding : report.findings) {
        if (finding.element.empty()) {
            finding.pointer = "";
            continue;
        }
        const auto at =
            std::ranges::find(abstraction.transitions, finding.element, &PtTransition::id);
        if (at != abstraction.transitions.end() && !at->origin.empty())
            finding.element = at->origin;
        const bool place = std::ranges::find(about_places, finding.code) != about_places.end();
        finding.pointer = base::pointer_child(place ? "/places" : "/transitions", finding.element);
    }
}

/// A contradiction of one way to come out is none of the transition: another way may be taken.
void forgive_ways(const PtNet& abstraction, Report& report) {
    const auto contradicts = [&](const PtTransition& transition) {
        return std::ranges::any_of(report.findings, [&](const Finding& finding) {
            return finding.code == contradiction && finding.element == transition.id;
        });
    };
    std::set<std::string> possible;
    for (const PtTransition& transition : abstraction.transitions) {
        if (!contradicts(transition)) possible.insert(transition.origin);
    }
    std::set<std::string> told;
    std::erase_if(report.findings, [&](const Finding& finding) {
        if (finding.code != contradiction) return false;
        const auto at =
            std::ranges::find(abstraction.transitions, finding.element, &PtTransition::id);
        return possible.contains(at->origin) || !told.insert(at->origin).second;
    });
}

void add_document_findings(const Net& net, Report& report) {
    for (nets::Finding& found : nets::check(net)) {
        const bool dead = found.code == "transition_unreachable";
        const bool known = std::ranges::any_of(report.findings, [&](const Finding& finding) {
            return dead && finding.code == "never_fires" && finding.pointer == found.pointer;
        });
        if (known) continue;
        Finding& made = report.findings.emplace_back();
        made.severity =
            found.severity == nets::Severity::error ? Severity::error : Severity::warning;
        made.code = std::move(found.code);
        made.message = std::move(found.message);
        made.pointer = std::move(found.pointer);
    }
}

/// "Yes" to a question about what can happen, where data may keep it from happening.
void name_the_condition(const PtNet& abstraction, Report& report) {
    const bool data = std::ranges::any_of(report.abstracted, [](const Abstraction& made) {
        return made.kind == Abstraction::Kind::guard || made.kind == Abstraction::Kind::data;
    });
    const bool open = std::ranges::any_of(abstraction.transitions, [](const PtTransition& made) {
        return made.may_refuse || !made.rivals.empty();
    });
    if (!data || !open) return;
    for (Verdict& verdict : report.verdicts) {
        const bool possibility = verdict.property != Property::bounded &&
                                 verdict.property != Property::one_safe &&
                                 verdict.property != Property::proper_completion;
        if (possibility && verdict.answer == Answer::proved)
            verdict.reason += " (where the data let it)";
    }
}

}  // namespace

Report check(const Net& net, const Limits& limits, const ProgressCallback& progress) {
    const PtNet abstraction = abstracted(net, Values::told_apart);
    Report report = check(abstraction, limits, progress);
    report.places = net.places.size();
    std::erase_if(report.findings, [](const Finding& finding) {
        return finding.code == rest ||
               std::ranges::find(told_by_lint, finding.code) != told_by_lint.end();
    });
    withdraw_proofs(report);
    mind_or_joins(net, report);
    mind_counted_joins(net, report);
    name_the_condition(abstraction, report);
    forgive_ways(abstraction, report);
    point_into_document(abstraction, report);
    mind_other_cases(net, report);
    tell_captured(net, report);
    add_document_findings(net, report);
    std::ranges::move(guard_findings(net), std::back_inserter(report.findings));
    return report;
}

}  // namespace nets::analysis
