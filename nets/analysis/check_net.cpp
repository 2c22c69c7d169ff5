#include "nets/analysis/check_net.hpp"

#include "nets/analysis/abstract.hpp"
#include "nets/analysis/check.hpp"
#include "nets/lint.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

}  // namespace

Report check(const Net& net, const Limits& limits, const ProgressCallback& progress) {
    const PtNet abstraction = abstracted(net);
    Report report = check(abstraction, limits, progress);
    std::erase_if(report.findings, [](const Finding& finding) {
        return finding.code == rest ||
               std::ranges::find(told_by_lint, finding.code) != told_by_lint.end();
    });
    withdraw_proofs(report);
    for (nets::Finding& found : lint(net)) {
        const bool dead = found.code == "transition_unreachable";
        const bool known = std::ranges::any_of(report.findings, [&](const Finding& finding) {
            return dead && finding.code == "never_fires" &&
                   found.pointer == "/transitions/" + finding.element;
        });
        if (known) continue;
        report.findings.push_back(
            {found.severity == nets::Severity::error ? Severity::error : Severity::warning,
             std::move(found.code),
             std::move(found.pointer),
             std::move(found.message)}
        );
    }
    return report;
}

}  // namespace nets::analysis
