#include "nets/analysis/outcomes.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

namespace nets::analysis {
namespace {

constexpr std::size_t conditional_rules_max = 5;  ///< every subset of more is not tried
constexpr std::size_t ways_max = 64;
constexpr std::size_t each_copies_max = 2;  ///< `each` is tried with no, one and two elements

using Ways = std::vector<std::vector<const OutputRule*>>;

/// Which rules produce together, by `choose: first`: each conditional one alone, up to the first
/// that always holds.
Ways first_only(const std::vector<OutputRule>& rules) {
    Ways ways;
    for (const OutputRule& rule : rules) {
        if (rule.otherwise) continue;
        ways.push_back({&rule});
        if (!rule.when) return ways;
    }
    for (const OutputRule& rule : rules) {
        if (rule.otherwise) ways.push_back({&rule});
    }
    if (ways.empty()) ways.emplace_back();
    return ways;
}

/// Which rules produce together otherwise: those without a condition, with any of those that have
/// one; `otherwise` when none of these holds.
Ways all_that_hold(const std::vector<OutputRule>& rules, std::vector<Outcomes::Loss>& lost) {
    std::vector<const OutputRule*> always;
    std::vector<const OutputRule*> conditional;
    std::vector<const OutputRule*> otherwise;
    for (const OutputRule& rule : rules) {
        (rule.otherwise ? otherwise : rule.when ? conditional : always).push_back(&rule);
    }
    Ways ways;
    std::size_t count = conditional.size();
    if (count > conditional_rules_max) {
        lost.push_back({"of many conditional outputs only some combinations are tried", true});
        for (const OutputRule* rule : conditional) {
            ways.push_back(always);
            ways.back().push_back(rule);
        }
        ways.push_back(always);
        ways.back().insert(ways.back().end(), conditional.begin(), conditional.end());
        count = 0;
    }
    for (std::size_t subset = 1; subset < std::size_t{1} << count; ++subset) {
        std::vector<const OutputRule*> way = always;
        for (std::size_t i = 0; i < count; ++i) {
            if ((subset >> i & 1U) != 0) way.push_back(conditional[i]);
        }
        ways.push_back(std::move(way));
    }
    // When nothing holds and there is no `otherwise`, that is the error `unrouted`.
    if (conditional.empty() || !otherwise.empty() || !always.empty()) {
        ways.push_back(always);
        ways.back().insert(ways.back().end(), otherwise.begin(), otherwise.end());
    }
    return ways;
}

/// Adds the ways of `outputs` to `into`.
void add_ways(const Outputs& outputs, bool by_fail, Outcomes& into) {
    const Ways ways =
        outputs.first_only ? first_only(outputs.rules) : all_that_hold(outputs.rules, into.lost);
    for (const auto& way : ways) {
        std::vector<Outcome> made{{.produced = {}, .by_fail = by_fail, .certain = ways.size() == 1}
        };
        for (const OutputRule* rule : way) {
            if (!rule->each) {
                for (Outcome& outcome : made)
                    outcome.produced.push_back(rule->place);
                continue;
            }
            std::vector<Outcome> copies;
            for (std::size_t n = 0; n <= each_copies_max; ++n) {
                for (Outcome outcome : made) {
                    outcome.produced.insert(outcome.produced.end(), n, rule->place);
                    outcome.certain = false;
                    copies.push_back(std::move(outcome));
                }
            }
            made = std::move(copies);
            if (made.size() > ways_max) made.resize(ways_max);
        }
        into.ways.insert(into.ways.end(), made.begin(), made.end());
    }
    const auto any = [&](auto member) {
        return std::ranges::any_of(outputs.rules, [&](const OutputRule& rule) {
            return static_cast<bool>(rule.*member);
        });
    };
    if (any(&OutputRule::each)) {
        into.lost.push_back({"'each' is tried with no, one and two elements", true});
    }
    if (ways.size() > 1) into.lost.push_back({"which outputs are chosen may go any way", false});
}

/// A firing may fail by itself only where it does something outside, or where its templates may.
bool may_fail_without_data(const Transition& transition) {
    return std::holds_alternative<Call>(transition.action) ||
           std::holds_alternative<Command>(transition.action);
}

}  // namespace

Outcomes outcomes_of(const Transition& transition) {
    Outcomes result;
    add_ways(transition.out, false, result);
    if (transition.fail) {
        const std::size_t before = result.ways.size();
        add_ways(*transition.fail, true, result);
        for (std::size_t i = before; i < result.ways.size(); ++i) {
            if (!may_fail_without_data(transition)) result.ways[i].certain = false;
        }
    } else if (may_fail_without_data(transition)) {
        result.lost.push_back(
            {"a failure that is final puts its tokens among the dead letters: it has no 'fail'",
             false}
        );
    }
    std::set<std::pair<std::vector<PlaceIndex>, bool>> seen;
    for (Outcome& outcome : result.ways)
        std::ranges::sort(outcome.produced);
    std::erase_if(result.ways, [&](const Outcome& outcome) {
        return !seen.emplace(outcome.produced, outcome.by_fail).second;
    });
    if (result.ways.size() > ways_max) {
        result.ways.resize(ways_max);
        result.lost.push_back({"only some of the many ways to come out are tried", true});
    }
    return result;
}

}  // namespace nets::analysis
