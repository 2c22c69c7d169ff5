#include "base/json_schema_compare.hpp"
#include "base/json_schema_evaluation.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

/// Rules that look at the items of an array and the members of an object.
namespace base::schema {

bool Evaluation::array_rules(const ArrayRules& rules, const Subject& subject) {
    const std::size_t size = subject.value.size();
    bool valid = true;
    if (rules.items_max && size > *rules.items_max) {
        valid =
            fault(subject, fmt::format("has {} items; at most {} may be", size, *rules.items_max));
    }
    if (rules.items_min && size < *rules.items_min) {
        valid = fault(
            subject, fmt::format("has {} items; at least {} must be", size, *rules.items_min)
        );
    }
    if (!valid && enough()) return false;
    if (rules.unique) valid = unique(subject) && valid;
    if (!valid && enough()) return false;
    valid = items(rules, subject) && valid;
    if (!valid && enough()) return false;
    if (rules.contains) valid = contains(rules, subject) && valid;
    return valid;
}

bool Evaluation::items(const ArrayRules& rules, const Subject& subject) {
    const auto& array = subject.value;
    const std::size_t end =
        rules.items ? array.size() : std::min(rules.prefix.size(), array.size());
    bool valid = true;
    for (std::size_t i = 0; i < end; ++i) {
        const ValuePath path{&subject.path, {}, i};
        const NodeId id = i < rules.prefix.size() ? rules.prefix[i] : *rules.items;
        valid = apply(id, {array[i], path, nullptr}) && valid;
        if (!valid && enough()) return false;
        if (subject.evaluated != nullptr) subject.evaluated->add_item(i);
    }
    return valid;
}

bool Evaluation::contains(const ArrayRules& rules, const Subject& subject) {
    const auto& array = subject.value;
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < array.size(); ++i) {
        const ValuePath path{&subject.path, {}, i};
        if (!apply_silently(*rules.contains, {array[i], path, nullptr})) continue;
        ++found;
        if (subject.evaluated != nullptr) subject.evaluated->add_item(i);
    }
    if (stopped_) return false;
    if (found < rules.contains_min) {
        return fault(
            subject,
            fmt::format(
                "holds {} items that fit 'contains'; at least {} must", found, rules.contains_min
            )
        );
    }
    if (rules.contains_max && found > *rules.contains_max) {
        return fault(
            subject,
            fmt::format(
                "holds {} items that fit 'contains'; at most {} may", found, *rules.contains_max
            )
        );
    }
    return true;
}

bool Evaluation::unique(const Subject& subject) {
    const auto& array = subject.value;
    const auto rounds = static_cast<std::uint64_t>(std::bit_width(array.size()));
    if (!spend(weight(array) * rounds)) return false;
    std::vector<std::size_t> order(array.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::sort(order, [&](std::size_t left, std::size_t right) {
        const auto compared = compare_values(array[left], array[right]);
        return compared != 0 ? compared < 0 : left < right;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (compare_values(array[order[i - 1]], array[order[i]]) != 0) continue;
        return fault(
            subject,
            fmt::format("its items {} and {} are equal; all must differ", order[i - 1], order[i])
        );
    }
    return true;
}

bool Evaluation::unevaluated_items(NodeId id, const Subject& subject) {
    const auto& array = subject.value;
    bool valid = true;
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (subject.evaluated->has_item(i)) continue;
        const ValuePath path{&subject.path, {}, i};
        valid = apply(id, {array[i], path, nullptr}) && valid;
        if (!valid && enough()) return false;
    }
    subject.evaluated->all_items = true;
    return valid;
}

bool Evaluation::object_rules(const ObjectRules& rules, const Subject& subject) {
    bool valid = object_counts(rules, subject);
    if (!valid && enough()) return false;
    for (const auto& name : rules.required) {
        if (!subject.value.contains(name)) {
            valid = fault(subject, fmt::format("the member '{}' is missing", name));
        }
    }
    for (const auto& [present, needed] : rules.required_with) {
        if (!subject.value.contains(present)) continue;
        for (const auto& name : needed) {
            if (subject.value.contains(name)) continue;
            valid = fault(
                subject,
                fmt::format("the member '{}' is missing, since '{}' is there", name, present)
            );
        }
    }
    if (!valid && enough()) return false;
    return members(rules, subject) && valid;
}

bool Evaluation::object_counts(const ObjectRules& rules, const Subject& subject) {
    const std::size_t size = subject.value.size();
    if (!spend(rules.required.size() + rules.required_with.size())) return false;
    if (rules.members_max && size > *rules.members_max) {
        return fault(
            subject, fmt::format("has {} members; at most {} may be", size, *rules.members_max)
        );
    }
    if (rules.members_min && size < *rules.members_min) {
        return fault(
            subject, fmt::format("has {} members; at least {} must be", size, *rules.members_min)
        );
    }
    return true;
}

bool Evaluation::members(const ObjectRules& rules, const Subject& subject) {
    const bool looks =
        !rules.properties.empty() || !rules.patterns.empty() || rules.additional || rules.names;
    if (!looks) return true;
    bool valid = true;
    for (const auto& [name, value] : subject.value.get_ref<const Json::object_t&>()) {
        if (!spend(1)) return false;
        const ValuePath path{&subject.path, name, std::nullopt};
        const Subject member{value, path, nullptr};
        bool looked = false;
        const auto look = [&](NodeId id) {
            looked = true;
            valid = apply(id, member) && valid;
        };
        if (const auto known = rules.properties.find(name); known != rules.properties.end()) {
            look(known->second);
        }
        for (const auto& [pattern, id] : rules.patterns) {
            if (!valid && enough()) return false;
            if (!spend(compiled_.patterns[pattern].steps(name))) return false;
            if (compiled_.patterns[pattern].found_in(name)) look(id);
        }
        if (!looked && rules.additional) look(*rules.additional);
        if (rules.names) valid = apply(*rules.names, {Json(name), path, nullptr}) && valid;
        if (!valid && enough()) return false;
        if (looked && subject.evaluated != nullptr) subject.evaluated->members.insert(name);
    }
    return valid;
}

bool Evaluation::unevaluated_members(NodeId id, const Subject& subject) {
    auto& evaluated = *subject.evaluated;
    bool valid = true;
    for (const auto& [name, value] : subject.value.get_ref<const Json::object_t&>()) {
        if (evaluated.all_members || evaluated.members.contains(name)) continue;
        const ValuePath path{&subject.path, name, std::nullopt};
        valid = apply(id, {value, path, nullptr}) && valid;
        if (!valid && enough()) return false;
    }
    evaluated.all_members = true;
    return valid;
}

}  // namespace base::schema
