#include "server/deploy_check.hpp"

#include "base/json.hpp"
#include "nets/analysis/check_net.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

namespace analysis = nets::analysis;

constexpr std::uint64_t transitions_looked_at_max = 1'000'000'000;

/// Counts, so that a net gets the same answer on every machine.
analysis::Limits deployment_limits(const nets::Net& net) {
    return {
        .states_max = std::min<std::uint64_t>(
            analysis::deployment_states_max,
            transitions_looked_at_max / (net.transitions.size() + 1)
        ),
        .memory_bytes_max = std::size_t{256} << 20U,
    };
}

constexpr std::size_t firings_told_max = 40;

std::string in_words(const analysis::Finding& finding) {
    if (!finding.trace) return finding.message;
    std::string firings;
    for (std::size_t i = 0; i < finding.trace->firings.size(); ++i) {
        if (i == firings_told_max) {
            firings += ", ...";
            break;
        }
        firings += (i > 0 ? ", " : "") + finding.trace->firings[i];
    }
    if (firings.empty()) firings = "nothing, it begins so";
    return fmt::format("{} (to get there, fire: {})", finding.message, firings);
}

base::Error refusal(const nets::Net& net, const analysis::Report& report) {
    base::Error error{
        ErrorCode::validation,
        fmt::format("the check of net '{}' finds errors", net.name),
        "see them all: netwright net check FILE; to deploy it as it is: netwright net deploy "
        "--force FILE (force=true), which the log records",
        {}
    };
    for (const auto& finding : report.findings) {
        if (finding.severity != analysis::Severity::error) continue;
        error.details.push_back(
            {finding.pointer.value_or(""),
             ErrorCode::validation,
             fmt::format("{}: {}", finding.code, in_words(finding))}
        );
    }
    return error;
}

}  // namespace

base::Error too_many_checks() {
    return {ErrorCode::overloaded, "too many nets wait to be checked", "try again later", {}};
}

Result<CheckedNet> check_for_deployment(const std::string& document, bool force) {
    const auto json = base::parse_json(document, base::outside_limits);
    if (!json) return fail(json.error());
    auto net = nets::compile(*json);
    if (!net) return fail(std::move(net.error()));
    const auto report = analysis::check(*net, deployment_limits(*net));
    const bool errors = report.has_errors();
    if (errors && !force) return fail(refusal(*net, report));
    CheckedNet checked;
    checked.forced = errors;
    Json warnings = Json::array();
    for (const auto& finding : report.findings) {
        if (finding.severity == analysis::Severity::note) continue;
        warnings.push_back(
            {{"severity", analysis::name(finding.severity)},
             {"pointer", finding.pointer.value_or("")},
             {"code", finding.code},
             {"message", in_words(finding)}}
        );
    }
    checked.warnings = base::canonical(warnings);
    checked.net = std::make_shared<const nets::Net>(std::move(*net));
    return checked;
}

}  // namespace server
