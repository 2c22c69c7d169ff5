#include "nets/analysis/check_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace nets::analysis {
namespace {

std::optional<bool> known(const Report& report, Property property) {
    const Verdict* const verdict = report.verdict(property);
    if (verdict == nullptr || verdict->answer == Answer::unknown) return std::nullopt;
    return verdict->answer == Answer::proved;
}

std::string why_unknown(const CheckRun& run) {
    const bool late = run.budget.out_of_time();
    if (!run.report.stopped && !late) return "this was not decided";
    return fmt::format(
        "the limit on {} was reached after {} markings: raise it to look further",
        late ? name(LimitHit::time) : name(*run.report.stopped),
        run.report.states_seen
    );
}

/// Answers that others imply.
void draw_conclusions(CheckRun& run) {
    const Report& report = run.report;
    const bool transitions = !run.net.transitions.empty();
    if (known(report, Property::bounded) == false) {
        run.answer(Property::one_safe, Answer::refuted, "some place grows without end");
    }
    if (known(report, Property::live) == true) {
        run.answer(Property::quasi_live, Answer::proved, "each transition can always fire again");
        if (transitions) {
            run.answer(
                Property::deadlock_free, Answer::proved, "each transition can always fire again"
            );
        }
    }
    if (known(report, Property::deadlock_free) == false && transitions) {
        run.answer(
            Property::live,
            Answer::refuted,
            "nothing can fire after the sequence",
            report.verdict(Property::deadlock_free)->trace
        );
    }
    if (known(report, Property::quasi_live) == false) {
        run.answer(Property::live, Answer::refuted, "some transition can never fire at all");
    }
}

void conclude_soundness(CheckRun& run) {
    const auto completes = known(run.report, Property::option_to_complete);
    const auto proper = known(run.report, Property::proper_completion);
    const auto all_fire = known(run.report, Property::quasi_live);
    if (completes == false) {
        run.answer(Property::sound, Answer::refuted, "a case can get where it cannot complete");
    } else if (proper == false) {
        run.answer(Property::sound, Answer::refuted, "a case can end with tokens left over");
    } else if (all_fire == false) {
        run.answer(Property::sound, Answer::refuted, "some transition can never fire");
    } else if (completes && proper && all_fire) {
        run.answer(
            Property::sound,
            Answer::proved,
            "a case can always complete, leaves nothing behind, and every transition has a use"
        );
    }
}

/// In a net without cases a deadlock is the thing to tell; with cases, soundness told it better.
void report_deadlock(CheckRun& run) {
    if (run.net.start) return;
    const Verdict* const verdict = run.report.verdict(Property::deadlock_free);
    if (verdict == nullptr || verdict->answer != Answer::refuted) return;
    run.add(
        Severity::warning,
        "deadlock",
        "the net can come to a state in which nothing can ever fire again",
        verdict->trace
    );
}

/// The gravest first, otherwise as they came. (libstdc++ 12's stable_sort does not compile here.)
void order_by_severity(std::vector<Finding>& findings) {
    std::vector<Finding> ordered;
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
        std::ranges::copy_if(findings, std::back_inserter(ordered), [&](const Finding& finding) {
            return finding.severity == severity;
        });
    }
    findings = std::move(ordered);
}

}  // namespace

void conclude(CheckRun& run) {
    draw_conclusions(run);
    std::vector<Property> wanted{
        Property::bounded,
        Property::one_safe,
        Property::deadlock_free,
        Property::quasi_live,
        Property::live
    };
    if (run.net.start) {
        conclude_soundness(run);
        wanted.insert(
            wanted.end(),
            {Property::option_to_complete, Property::proper_completion, Property::sound}
        );
    }
    for (const Property property : wanted) {
        run.answer(property, Answer::unknown, why_unknown(run));
    }
    Report& report = run.report;
    std::ranges::sort(report.verdicts, {}, &Verdict::property);
    report_deadlock(run);
    order_by_severity(report.findings);
    report.bounded = known(report, Property::bounded);
    report.one_safe = known(report, Property::one_safe);
    report.live = known(report, Property::live);
    report.quasi_live = known(report, Property::quasi_live);
    if (const auto free = known(report, Property::deadlock_free)) report.has_deadlock = !*free;
}

}  // namespace nets::analysis
