#include "nets/analysis/command.hpp"

#include "base/json.hpp"
#include "base/result.hpp"
#include "nets/analysis/abstract.hpp"
#include "nets/analysis/check.hpp"
#include "nets/analysis/check_net.hpp"
#include "nets/analysis/explain.hpp"
#include "nets/pnml/pnml.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>

namespace nets::analysis {
namespace {

/// Every fault as a finding, so that programs read one shape.
base::Json findings_of(const base::Error& error) {
    base::Json findings = base::Json::array();
    const auto add = [&](std::string_view pointer, base::ErrorCode code, std::string_view message) {
        findings.push_back(
            {{"severity", name(Severity::error)},
             {"pointer", pointer},
             {"code", base::name(code)},
             {"message", message}}
        );
    };
    for (const base::ErrorDetail& detail : error.details)
        add(detail.pointer, detail.code, detail.message);
    if (error.details.empty()) add("", error.code, error.message);
    return findings;
}

CheckOutput unusable(const CheckRequest& request, const base::Error& error) {
    if (request.json) {
        const base::Json json{{"ok", false}, {"findings", findings_of(error)}};
        return {.out = json.dump(2) + "\n", .err = {}};
    }
    std::string text = fmt::format("{}: {}\n", request.file, error.message);
    for (const base::ErrorDetail& detail : error.details) {
        const auto at = detail.pointer.empty() ? "" : " at " + detail.pointer;
        text += fmt::format("error{}: {}\n", at, detail.message);
    }
    if (!error.next.empty()) text += error.next + "\n";
    return {.out = {}, .err = std::move(text)};
}

base::Result<Net> net_of(std::string_view text) {
    const auto json = base::parse_json(text);
    if (!json) return base::fail(json.error());
    return compile(*json);
}

/// A PNML net does not say what it is for: transitions that stand idle are a fact, not a fault.
/// Well-known models have some that their first marking never needs.
void forgive_idle(Report& report) {
    for (Finding& finding : report.findings) {
        if (finding.code == "never_fires") finding.severity = Severity::warning;
    }
}

base::Result<Report> report_on(const CheckRequest& request, const ProgressCallback& progress) {
    if (request.format == CheckRequest::Format::pnml) {
        const auto document = pnml::read(request.text);
        if (!document) return base::fail(document.error());
        auto report = check(document->net, request.limits, progress);
        forgive_idle(report);
        return report;
    }
    const auto net = net_of(request.text);
    if (!net) return base::fail(net.error());
    return check(*net, request.limits, progress);
}

/// XML allows few characters in an id; what was there becomes the name.
void give_xml_ids(PtNet& net) {
    std::set<std::string> taken;
    const auto rename = [&](auto& node) {
        std::string id;
        for (const char c : node.id) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            const bool later = (c >= '0' && c <= '9') || c == '-' || c == '.';
            id += letter || c == '_' || (later && !id.empty()) ? c : '_';
        }
        while (!taken.insert(id).second)
            id += '_';
        if (node.name.empty()) node.name = node.id;
        node.id = std::move(id);
    };
    for (PtPlace& place : net.places)
        rename(place);
    for (PtTransition& transition : net.transitions)
        rename(transition);
}

}  // namespace

CheckOutput run_check(const CheckRequest& request, const ProgressCallback& progress) {
    const auto report = report_on(request, progress);
    if (!report) return unusable(request, report.error());
    return {
        .out = request.json ? to_json(*report).dump(2) + "\n" : explained(*report),
        .err = {},
        .negative = report->has_errors()
    };
}

CheckOutput run_pnml_export(const CheckRequest& request) {
    const auto net = net_of(request.text);
    if (!net) return unusable(request, net.error());
    PtNet plain_net = abstracted(*net);
    // A case is one token on the start; PNML knows no cases.
    if (plain_net.start) plain_net.places[*plain_net.start].initial += 1;
    give_xml_ids(plain_net);
    const auto xml =
        pnml::write({.net = std::move(plain_net), .place_positions = {}, .transition_positions = {}}
        );
    if (!xml) return unusable(request, xml.error());
    return {.out = *xml, .err = {}, .negative = false};
}

}  // namespace nets::analysis
