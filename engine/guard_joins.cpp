#include "engine/guard_joins.hpp"

#include "base/json.hpp"
#include "base/limits.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace engine {

namespace {

// The only name that the side speaks of, when it is an arc that binds a single token.
std::optional<std::size_t> only_arc(const nets::Transition& rules, const nets::cel::Program& side) {
    std::optional<std::size_t> found;
    for (std::size_t name = 0; name < rules.name_count(); ++name) {
        if (!side.uses(name)) continue;
        if (found || name >= rules.in.size()) return std::nullopt;
        found = name;
    }
    if (!found || !rules.in[*found].binds() || rules.in[*found].takes_list) return std::nullopt;
    return found;
}

}  // namespace

std::vector<GuardJoin> guard_joins(const nets::Transition& rules) {
    std::vector<GuardJoin> joins;
    if (!rules.guard || rules.or_join) return joins;
    for (auto& [left, right] : rules.guard->equalities()) {
        const auto left_arc = only_arc(rules, left);
        const auto right_arc = only_arc(rules, right);
        if (!left_arc || !right_arc || *left_arc == *right_arc) continue;
        joins.push_back({*left_arc, *right_arc, left, right});
        joins.push_back({*right_arc, *left_arc, right, left});
    }
    return joins;
}

std::optional<std::string> side_of(
    const nets::Transition& rules,
    std::size_t arc,
    const nets::cel::Program& side,
    const places::Token& token
) {
    const auto data = base::parse_json(token.data.view(), base::limits::stored);
    if (!data) return std::nullopt;
    std::vector<nets::cel::Value> values(rules.name_count());
    values[arc] = nets::cel::Value::json(*data);
    nets::cel::Budget budget;
    const auto value = side.evaluate(values, budget);
    if (!value) return std::nullopt;
    return nets::cel::identity(*value);
}

std::string joined_key(std::string_view source_key, std::string_view side) {
    std::string key = std::to_string(source_key.size());
    key += ':';
    key += source_key;
    key += side;
    return key;
}

}  // namespace engine
