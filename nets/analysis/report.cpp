#include "nets/analysis/report.hpp"

#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace nets::analysis {
namespace {

using base::Json;

Json json_of(const Trace& trace) {
    Json marking = Json::object();
    for (const auto& [place, count] : trace.marking)
        marking[place] = count;
    Json result{
        {"firings", trace.firings}, {"marking", std::move(marking)}, {"certain", trace.certain}
    };
    if (!trace.repeat.empty()) result["repeat"] = trace.repeat;
    return result;
}

Json json_of(const Verdict& verdict) {
    Json result{
        {"property", name(verdict.property)},
        {"answer", name(verdict.answer)},
        {"reason", verdict.reason}
    };
    if (verdict.trace) result["trace"] = json_of(*verdict.trace);
    return result;
}

Json json_of(const Finding& finding) {
    Json result{
        {"severity", name(finding.severity)}, {"code", finding.code}, {"message", finding.message}
    };
    if (finding.pointer) result["pointer"] = *finding.pointer;
    if (!finding.element.empty()) result["element"] = finding.element;
    if (finding.trace) result["trace"] = json_of(*finding.trace);
    return result;
}

Json json_of(const NamedInvariant& invariant, bool with_value) {
    Json terms = Json::object();
    for (const auto& [id, factor] : invariant.terms)
        terms[id] = factor;
    Json result{{"terms", std::move(terms)}};
    if (with_value) result["value"] = invariant.value;
    return result;
}

Json json_of(const Abstraction& abstraction) {
    Json result{
        {"kind", name(abstraction.kind)},
        {"what", abstraction.what},
        {"narrows", abstraction.narrows}
    };
    if (!abstraction.element.empty()) result["element"] = abstraction.element;
    return result;
}

template <class T, class... More>
Json list_of(const std::vector<T>& items, More... more) {
    Json result = Json::array();
    for (const T& item : items)
        result.push_back(json_of(item, more...));
    return result;
}

}  // namespace

std::string_view name(Property property) {
    switch (property) {
        case Property::bounded:
            return "bounded";
        case Property::one_safe:
            return "one_safe";
        case Property::deadlock_free:
            return "deadlock_free";
        case Property::quasi_live:
            return "quasi_live";
        case Property::live:
            return "live";
        case Property::option_to_complete:
            return "option_to_complete";
        case Property::proper_completion:
            return "proper_completion";
        case Property::sound:
            return "sound";
    }
    base::check(false, "a property outside its enumeration");
    return {};
}

std::string_view name(Answer answer) {
    switch (answer) {
        case Answer::proved:
            return "proved";
        case Answer::refuted:
            return "refuted";
        case Answer::unknown:
            return "unknown";
    }
    base::check(false, "an answer outside its enumeration");
    return {};
}

std::string_view name(Severity severity) {
    switch (severity) {
        case Severity::error:
            return "error";
        case Severity::warning:
            return "warning";
        case Severity::note:
            return "note";
    }
    base::check(false, "a severity outside its enumeration");
    return {};
}

const Verdict* Report::verdict(Property property) const {
    const auto at = std::ranges::find(verdicts, property, &Verdict::property);
    return at == verdicts.end() ? nullptr : &*at;
}

bool Report::has_errors() const {
    return std::ranges::find(findings, Severity::error, &Finding::severity) != findings.end();
}

Json to_json(const Report& report) {
    Json result{
        {"ok", !report.has_errors()},
        {"net", report.net},
        {"places", report.places},
        {"transitions", report.transitions},
        {"states_seen", report.states_seen},
        {"verdicts", list_of(report.verdicts)},
        {"findings", list_of(report.findings)},
        {"abstracted", list_of(report.abstracted)},
        {"invariants",
         {{"places", list_of(report.place_invariants, true)},
          {"transitions", list_of(report.transition_invariants, false)},
          {"complete", report.invariants_complete}}}
    };
    const auto add = [&](const char* key, const auto& value) {
        if (value) result[key] = *value;
    };
    add("states", report.states);
    add("edges", report.edges);
    add("max_token_in_place", report.max_token_in_place);
    add("max_token_per_marking", report.max_token_per_marking);
    add("has_deadlock", report.has_deadlock);
    add("one_safe", report.one_safe);
    add("live", report.live);
    add("quasi_live", report.quasi_live);
    add("bounded", report.bounded);
    if (report.stopped) result["stopped"] = name(*report.stopped);
    return result;
}

}  // namespace nets::analysis
