#include "nets/analysis/outcomes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

namespace nets::analysis {
namespace {

constexpr std::size_t conditional_rules_max = 5;  ///< every subset of more is not tried
constexpr std::size_t ways_max = 64;
constexpr std::size_t each_copies_max = 2;  ///< `each` is tried with no, one and two elements

/// The rules that produce together, of each way. None at all: no rule ever takes the result.
using Ways = std::vector<std::vector<const OutputRule*>>;

/// What is known of each rule but those with `otherwise`.
struct Sorted {
    std::vector<const OutputRule*> sure{};
    std::vector<const OutputRule*> open{};
    const OutputRule* otherwise = nullptr;  ///< the first: the others never produce
};

Sorted sorted(const std::vector<OutputRule>& rules, const Judging& judging) {
    Sorted result;
    for (const OutputRule& rule : rules) {
        if (rule.otherwise) {
            if (result.otherwise == nullptr) result.otherwise = &rule;
            continue;
        }
        switch (rule.when ? judging.when(rule) : Holds::yes) {
            case Holds::yes:
                result.sure.push_back(&rule);
                break;
            case Holds::maybe:
                result.open.push_back(&rule);
                break;
            case Holds::no:
                break;
        }
    }
    return result;
}

/// Which rules produce together, by `choose: first`: each that may hold alone, up to the first that
/// holds for sure.
Ways first_only(const Sorted& rules) {
    Ways ways;
    const OutputRule* const last = rules.sure.empty() ? rules.otherwise : rules.sure.front();
    for (const OutputRule* rule : rules.open) {
        if (rules.sure.empty() || rule < rules.sure.front()) ways.push_back({rule});
    }
    if (last != nullptr) ways.push_back({last});
    return ways;
}

/// Which rules produce together otherwise: those that hold for sure, with any of those that may;
/// `otherwise` when none does.
Ways all_that_hold(const Sorted& rules, std::vector<Outcomes::Loss>& lost) {
    Ways ways;
    std::size_t count = rules.open.size();
    if (count > conditional_rules_max) {
        lost.push_back({"of many conditional outputs only some combinations are tried", true});
        for (const OutputRule* rule : rules.open) {
            ways.push_back(rules.sure);
            ways.back().push_back(rule);
        }
        ways.push_back(rules.sure);
        ways.back().insert(ways.back().end(), rules.open.begin(), rules.open.end());
        count = 0;
    }
    for (std::size_t subset = 1; subset < std::size_t{1} << count; ++subset) {
        std::vector<const OutputRule*> way = rules.sure;
        for (std::size_t i = 0; i < count; ++i) {
            if ((subset >> i & 1U) != 0) way.push_back(rules.open[i]);
        }
        ways.push_back(std::move(way));
    }
    if (!rules.sure.empty()) {
        ways.push_back(rules.sure);
    } else if (rules.otherwise != nullptr) {
        ways.push_back({rules.otherwise});
    }
    return ways;
}

/// Each way with no, one and two tokens of a rule with `each`.
std::vector<Outcome> with_copies(const std::vector<const OutputRule*>& way, Outcome first) {
    std::vector<Outcome> made{std::move(first)};
    for (const OutputRule* rule : way) {
        if (!rule->each) {
            for (Outcome& outcome : made)
                outcome.produced.push_back(rule);
            continue;
        }
        std::vector<Outcome> copies;
        for (std::size_t n = 0; n <= each_copies_max; ++n) {
            for (Outcome outcome : made) {
                outcome.produced.insert(outcome.produced.end(), n, rule);
                outcome.certain = false;
                copies.push_back(std::move(outcome));
            }
        }
        made = std::move(copies);
        if (made.size() > ways_max) made.resize(ways_max);
    }
    return made;
}

/// Adds the ways of `outputs` to `into`; false when no rule takes the result, whatever it is.
bool add_ways(const Outputs& outputs, bool by_fail, const Judging& judging, Outcomes& into) {
    const Sorted rules = sorted(outputs.rules, judging);
    Ways ways = outputs.first_only ? first_only(rules) : all_that_hold(rules, into.lost);
    if (outputs.rules.empty()) ways.emplace_back();
    // One alone that may hold, with nothing else to take the result, is no certain way.
    const bool certain = ways.size() == 1 && rules.open.empty();
    for (const auto& way : ways) {
        const auto made = with_copies(way, {.by_fail = by_fail, .certain = certain});
        into.ways.insert(into.ways.end(), made.begin(), made.end());
    }
    if (std::ranges::any_of(outputs.rules, [](const auto& rule) {
            return rule.each.has_value();
        })) {
        into.lost.push_back({"'each' is tried with no, one and two elements", true});
    }
    if (ways.size() > 1)
        into.lost.push_back({.what = "which outputs are chosen may go any way", .by_data = true});
    const bool may_be_unrouted =
        !rules.open.empty() && rules.sure.empty() && rules.otherwise == nullptr;
    if (may_be_unrouted) {
        into.lost.push_back(
            {.what = "a result that no rule takes is left out: it ends among the dead letters, or "
                     "by 'fail'",
             .by_data = true}
        );
    }
    return !ways.empty();
}

/// A firing may fail by itself only where it does something outside, or where its templates may.
bool may_fail_without_data(const Transition& transition) {
    return std::holds_alternative<Call>(transition.action) ||
           std::holds_alternative<Command>(transition.action);
}

void add_fail(const Transition& transition, bool routed, const Judging& judging, Outcomes& into) {
    const bool sure = !routed || may_fail_without_data(transition);
    const std::size_t before = into.ways.size();
    const bool taken = add_ways(*transition.fail, true, judging, into);
    for (std::size_t i = before; i < into.ways.size(); ++i)
        into.ways[i].certain = into.ways[i].certain && sure;
    if (!taken) into.ways.push_back({.by_fail = true, .certain = sure, .unrouted = true});
}

/// Tokens that are alike count as one.
void drop_doubles(const Judging& judging, Outcomes& result) {
    using Product = std::pair<PlaceIndex, const OutputRule*>;
    std::set<std::tuple<std::vector<Product>, bool, bool>> seen;
    std::erase_if(result.ways, [&](Outcome& outcome) {
        std::ranges::sort(outcome.produced, {}, [](const OutputRule* rule) {
            return std::pair(rule->place, rule);
        });
        std::vector<Product> products;
        for (const OutputRule* rule : outcome.produced)
            products.emplace_back(rule->place, judging.told_apart(rule->place) ? rule : nullptr);
        return !seen.emplace(std::move(products), outcome.by_fail, outcome.unrouted).second;
    });
}

}  // namespace

Outcomes outcomes_of(const Transition& transition, const Judging& judging) {
    Outcomes result;
    const bool routed = add_ways(transition.out, false, judging, result);
    if (transition.fail) {
        add_fail(transition, routed, judging, result);
    } else if (!routed) {
        result.ways.push_back({.unrouted = true});
    } else if (may_fail_without_data(transition)) {
        result.lost.push_back(
            {"a failure that is final puts its tokens among the dead letters: it has no 'fail'",
             false}
        );
    }
    drop_doubles(judging, result);
    if (result.ways.size() > ways_max) {
        result.ways.resize(ways_max);
        result.lost.push_back({"only some of the many ways to come out are tried", true});
    }
    return result;
}

}  // namespace nets::analysis
