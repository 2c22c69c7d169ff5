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

constexpr int exit_good = 0;
constexpr int exit_errors_found = 1;
constexpr int exit_unusable = 2;

std::string explained(const base::Error& error, std::string_view file) {
    std::string text = fmt::format("{}: {}\n", file, error.message);
    for (const base::ErrorDetail& detail : error.details) {
        text += fmt::format("  {}: {}\n", detail.pointer, detail.message);
    }
    if (!error.next.empty()) text += error.next + "\n";
    return text;
}

CheckOutput unusable(const CheckRequest& request, const base::Error& error) {
    CheckOutput output{.out = {}, .err = {}, .exit_code = exit_unusable};
    if (!request.json) {
        output.err = explained(error, request.file);
        return output;
    }
    base::Json details = base::Json::array();
    for (const base::ErrorDetail& detail : error.details) {
        details.push_back(
            {{"pointer", detail.pointer},
             {"code", base::name(detail.code)},
             {"message", detail.message}}
        );
    }
    const base::Json json{
        {"error",
         {{"code", base::name(error.code)},
          {"message", error.message},
          {"details", std::move(details)}}}
    };
    output.out = json.dump(2) + "\n";
    return output;
}

base::Result<Net> net_of(std::string_view text) {
    const auto json = base::parse_json(text);
    if (!json) return base::fail(json.error());
    return compile(*json);
}

base::Result<Report> report_on(const CheckRequest& request, const ProgressCallback& progress) {
    if (request.format == CheckRequest::Format::pnml) {
        const auto document = pnml::read(request.text);
        if (!document) return base::fail(document.error());
        return check(document->net, request.limits, progress);
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
        .exit_code = report->has_errors() ? exit_errors_found : exit_good
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
    return {.out = *xml, .err = {}, .exit_code = exit_good};
}

}  // namespace nets::analysis
