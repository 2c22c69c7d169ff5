#include "nets/analysis/explain.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <string_view>
#include <utility>
#include <vector>

namespace nets::analysis {
namespace {

constexpr std::size_t firings_shown_max = 40;
constexpr std::size_t notes_shown_max = 20;
constexpr std::size_t elements_shown_max = 6;

/// What is asked, so that "yes" is the good answer.
std::string_view question(Property property) {
    switch (property) {
        case Property::bounded:
            return "no place fills up without end";
        case Property::one_safe:
            return "no place ever holds two tokens";
        case Property::deadlock_free:
            return "something can always fire";
        case Property::quasi_live:
            return "every transition can fire at least once";
        case Property::live:
            return "every transition can always fire again";
        case Property::option_to_complete:
            return "a case can always be completed";
        case Property::proper_completion:
            return "a case that reaches its end leaves nothing behind";
        case Property::sound:
            return "sound: it completes, leaves nothing behind, uses everything";
    }
    base::check(false, "a property outside its enumeration");
    return {};
}

std::string_view said(Answer answer) {
    switch (answer) {
        case Answer::proved:
            return "yes";
        case Answer::refuted:
            return "no";
        case Answer::unknown:
            return "unknown";
    }
    base::check(false, "an answer outside its enumeration");
    return {};
}

/// Whether a "no" is worth a person's attention: that a net with cases comes to rest, or that a
/// place may hold two tokens, is what most nets do.
bool worth_showing(const Report& report, Property property) {
    const bool cases = report.verdict(Property::sound) != nullptr;
    return !cases || (property != Property::deadlock_free && property != Property::live);
}

std::string listed(const std::vector<std::string>& firings) {
    std::string text;
    for (std::size_t i = 0; i < std::min(firings.size(), firings_shown_max); ++i) {
        if (i > 0) text += ", ";
        text += firings[i];
    }
    if (firings.size() > firings_shown_max) {
        text += fmt::format(", ... ({} in all, see --json)", firings.size());
    }
    return text;
}

std::string explained(const Trace& trace, std::string_view indent) {
    std::string text;
    text += fmt::format(
        "{}to get there, fire: {}\n",
        indent,
        trace.firings.empty() ? "nothing, it begins so" : listed(trace.firings)
    );
    if (!trace.repeat.empty()) {
        text += fmt::format("{}then again and again: {}\n", indent, listed(trace.repeat));
    }
    std::vector<std::string> held;
    for (const auto& [place, count] : trace.marking) {
        held.push_back(count == 1 ? place : fmt::format("{} x {}", count, place));
    }
    text += fmt::format("{}tokens are then in: {}\n", indent, held.empty() ? "-" : listed(held));
    if (!trace.certain) {
        text += fmt::format("{}whether the real net can do this depends on data or time\n", indent);
    }
    return text;
}

std::string explained(const Finding& finding) {
    std::string text = fmt::format("{}: {}", name(finding.severity), finding.message);
    // Those of the behaviour name what they are about themselves.
    if (finding.pointer && !finding.pointer->empty() && !finding.trace) {
        text += fmt::format(" (at {})", *finding.pointer);
    }
    text += fmt::format(" [{}]\n", finding.code);
    if (finding.trace) text += explained(*finding.trace, "    ");
    return text;
}

/// One line for each thing that was abstracted, with all that it was of.
std::string abstracted_lines(const std::vector<Abstraction>& abstracted) {
    std::vector<std::pair<std::string_view, std::vector<std::string>>> lines;
    for (const Abstraction& abstraction : abstracted) {
        auto at =
            std::ranges::find(lines, abstraction.what, [](const auto& line) { return line.first; });
        if (at == lines.end()) at = lines.insert(at, {abstraction.what, {}});
        at->second.push_back(
            abstraction.element.empty() ? "the net" : "'" + abstraction.element + "'"
        );
    }
    std::string text;
    for (const auto& [what, elements] : lines) {
        text += "  ";
        for (std::size_t i = 0; i < std::min(elements.size(), elements_shown_max); ++i)
            text += (i > 0 ? ", " : "") + elements[i];
        if (elements.size() > elements_shown_max)
            text += fmt::format(" and {} more", elements.size() - elements_shown_max);
        text += fmt::format(": {}\n", what);
    }
    return text;
}

std::string size_line(const Report& report) {
    std::string text =
        fmt::format("{}: {} places, {} transitions", report.net, report.places, report.transitions);
    if (report.states) {
        text += fmt::format(", {} reachable states", *report.states);
        if (report.edges) text += fmt::format(" and {} firings between them", *report.edges);
    } else if (report.stopped) {
        text += fmt::format(
            ", more than {} reachable states (the limit on {} ended the search)",
            report.states_seen,
            name(*report.stopped)
        );
    }
    return text + "\n";
}

}  // namespace

std::string explained(const Report& report) {
    std::string text = size_line(report);
    for (const Verdict& verdict : report.verdicts) {
        if (!worth_showing(report, verdict.property)) continue;
        text += fmt::format(
            "  {:<8} {}: {}\n", said(verdict.answer), question(verdict.property), verdict.reason
        );
    }
    std::size_t notes = 0;
    for (const Finding& finding : report.findings) {
        if (finding.severity == Severity::note && ++notes > notes_shown_max) continue;
        text += explained(finding);
    }
    if (notes > notes_shown_max) {
        text += fmt::format("and {} more notes (see --json)\n", notes - notes_shown_max);
    }
    if (!report.abstracted.empty()) {
        text += "what this check cannot see, and so took either way:\n";
        text += abstracted_lines(report.abstracted);
    }
    const auto count = [&](Severity severity) {
        return std::ranges::count(report.findings, severity, &Finding::severity);
    };
    return text + fmt::format(
                      "{} errors, {} warnings\n", count(Severity::error), count(Severity::warning)
                  );
}

}  // namespace nets::analysis
