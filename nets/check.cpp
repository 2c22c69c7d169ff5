#include "nets/check.hpp"

#include "base/json.hpp"
#include "nets/lint.hpp"
#include "nets/shapes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace nets {

std::vector<Finding> check(const Net& net) {
    auto findings = check_shapes(net);
    for (const auto& transition : net.transitions) {
        const auto* cron = std::get_if<Cron>(&transition.action);
        if (cron == nullptr || zone_known(cron->zone)) continue;
        findings.push_back(
            {Severity::error,
             base::pointer_child("/transitions", transition.name) + "/cron/zone",
             "zone_unknown",
             fmt::format(
                 "the time zone database of this machine has no '{}'; names are like Europe/Berlin",
                 cron->zone
             )}
        );
    }
    std::ranges::move(lint(net), std::back_inserter(findings));
    std::vector<Finding> ordered;
    ordered.reserve(findings.size());
    for (const auto severity : {Severity::error, Severity::warning}) {
        std::ranges::copy_if(findings, std::back_inserter(ordered), [&](const Finding& finding) {
            return finding.severity == severity;
        });
    }
    return ordered;
}

}  // namespace nets
