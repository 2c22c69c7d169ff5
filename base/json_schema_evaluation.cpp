#include "base/json_schema_evaluation.hpp"

#include "base/json_schema_compiler.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace base::schema {

std::string ValuePath::pointer() const {
    if (parent == nullptr) return {};
    const auto above = parent->pointer();
    return pointer_child(above, index ? std::to_string(*index) : std::string(key));
}

void Evaluated::add_item(std::size_t index) {
    if (items.size() <= index) items.resize(index + 1);
    items[index] = true;
}

bool Evaluated::has_item(std::size_t index) const {
    return all_items || (index < items.size() && items[index]);
}

void Evaluated::merge(const Evaluated& other) {
    all_members |= other.all_members;
    members.insert(other.members.begin(), other.members.end());
    all_items |= other.all_items;
    for (std::size_t i = 0; i < other.items.size(); ++i) {
        if (other.items[i]) add_item(i);
    }
}

std::uint64_t weight(const Json& value) {
    std::uint64_t count = 1;
    if (value.is_structured()) {
        for (const auto& child : value)
            count += weight(child);
    }
    return count;
}

Result<void> Evaluation::run(const Json& value) {
    if (deeper_than(value, compiled_.limits.depth_max)) {
        return fail(
            ErrorCode::limit,
            fmt::format("the value has more than {} levels", compiled_.limits.depth_max)
        );
    }
    const ValuePath root;
    const bool valid = apply(0, {value, root, nullptr});
    if (gave_up_) return fail(ErrorCode::limit, *gave_up_, "make the schema or the value simpler");
    if (valid) return {};
    const auto& first = faults_.front();
    const std::string where = first.pointer.empty() ? "" : fmt::format(" at '{}'", first.pointer);
    return fail(Error{
        ErrorCode::validation,
        faults_.size() == 1
            ? fmt::format("the value does not fit its schema{}: {}", where, first.message)
            : fmt::format(
                  "the value does not fit its schema in {} places; the first{}: {}",
                  faults_.size(),
                  where,
                  first.message
              ),
        {},
        faults_
    });
}

bool Evaluation::fault(const Subject& subject, std::string message) {
    if (silent_ > 0 || stopped_) return false;
    faults_.push_back({subject.path.pointer(), ErrorCode::validation, std::move(message)});
    if (faults_.size() >= faults_max_) stopped_ = true;
    return false;
}

void Evaluation::give_up(std::string why) {
    if (!gave_up_) gave_up_ = std::move(why);
    stopped_ = true;
}

bool Evaluation::spend(std::uint64_t steps) {
    steps_ += steps;
    if (steps_ > compiled_.limits.steps_max) {
        give_up(fmt::format("the validation takes more than {} steps", compiled_.limits.steps_max));
    }
    return !stopped_;
}

bool Evaluation::apply(NodeId id, const Subject& subject) {
    if (!spend(1)) return false;
    if (recursion_ == compiled_.limits.recursion_max) {
        give_up(fmt::format("schemas are applied {} deep", compiled_.limits.recursion_max));
        return false;
    }
    const Node& node = compiled_.nodes[id];
    if (node.refuses_all) return fault(subject, "is not allowed");
    ++recursion_;
    const bool entered = scope_.empty() || scope_.back() != node.resource;
    if (entered) scope_.push_back(node.resource);
    bool valid = false;
    const bool asks =
        (node.array && node.array->unevaluated) || (node.object && node.object->unevaluated);
    if (asks || subject.evaluated != nullptr) {
        // Its own account: what a schema that fails has looked at does not count.
        Evaluated own;
        valid = apply_rules(node, {subject.value, subject.path, &own});
        if (valid && subject.evaluated != nullptr) {
            spend(own.members.size() + own.items.size());
            subject.evaluated->merge(own);
        }
    } else {
        valid = apply_rules(node, subject);
    }
    if (entered) scope_.pop_back();
    --recursion_;
    return valid && !stopped_;
}

bool Evaluation::apply_rules(const Node& node, const Subject& subject) {
    bool valid = true;
    const auto and_also = [&](bool holds) {
        valid = valid && holds;
        return valid || !enough();
    };
    const auto& value = subject.value;
    if (node.value && !and_also(value_rules(*node.value, subject))) return false;
    if (node.number && value.is_number() && !and_also(number_rules(*node.number, subject))) {
        return false;
    }
    if (node.string && value.is_string() && !and_also(string_rules(*node.string, subject))) {
        return false;
    }
    // What a schema in place that fails has looked at does not count: what is left over then is not
    // known, and the value is refused all the same.
    const bool in_place = !node.in_place || in_place_rules(*node.in_place, subject);
    if (!and_also(in_place)) return false;
    if (node.array && value.is_array()) {
        if (!and_also(array_rules(*node.array, subject))) return false;
        if (node.array->unevaluated && in_place) {
            and_also(unevaluated_items(*node.array->unevaluated, subject));
        }
    }
    if (node.object && value.is_object()) {
        if (!and_also(object_rules(*node.object, subject))) return false;
        if (node.object->unevaluated && in_place) {
            and_also(unevaluated_members(*node.object->unevaluated, subject));
        }
    }
    return valid;
}

bool Evaluation::apply_silently(NodeId id, const Subject& subject) {
    ++silent_;
    const bool valid = apply(id, subject);
    --silent_;
    return valid;
}

bool Evaluation::in_place_rules(const InPlaceRules& rules, const Subject& subject) {
    bool valid = references(rules, subject);
    if (!valid && enough()) return false;
    for (const NodeId id : rules.all_of) {
        valid = apply(id, subject) && valid;
        if (!valid && enough()) return false;
    }
    if (!rules.any_of.empty()) valid = any_of(rules.any_of, subject) && valid;
    if (!valid && enough()) return false;
    if (!rules.exactly_one_of.empty()) {
        valid = exactly_one_of(rules.exactly_one_of, subject) && valid;
    }
    if (!valid && enough()) return false;
    if (rules.negated) {
        if (apply_silently(*rules.negated, {subject.value, subject.path, nullptr})) {
            valid = fault(subject, "fits the schema under 'not'");
        }
    }
    if (rules.condition) valid = conditional(rules, subject) && valid;
    if (subject.value.is_object()) {
        for (const auto& [name, id] : rules.with_member) {
            if (!valid && enough()) return false;
            if (subject.value.contains(name)) valid = apply(id, subject) && valid;
        }
    }
    return valid;
}

bool Evaluation::references(const InPlaceRules& rules, const Subject& subject) {
    bool valid = true;
    if (rules.reference) valid = apply(*rules.reference, subject);
    if (!valid && enough()) return false;
    if (rules.dynamic_reference) {
        valid = apply(dynamic_target(*rules.dynamic_reference), subject) && valid;
    }
    return valid;
}

NodeId Evaluation::dynamic_target(const DynamicReference& reference) const {
    if (!reference.anchor.empty()) {
        for (const ResourceId resource : scope_) {
            const auto& anchors = compiled_.dynamic_anchors[resource];
            const auto found = anchors.find(reference.anchor);
            if (found != anchors.end()) return found->second;
        }
    }
    return reference.target;
}

bool Evaluation::any_of(const std::vector<NodeId>& alternatives, const Subject& subject) {
    bool valid = false;
    for (const NodeId id : alternatives) {
        valid = apply_silently(id, subject) || valid;
        // All that fit are asked what they looked at, when somebody wants to know.
        if (valid && subject.evaluated == nullptr) return true;
    }
    if (valid) return true;
    if (enough()) return false;
    return fault(
        subject,
        fmt::format(
            "fits none of the {} alternatives of 'anyOf'{}",
            alternatives.size(),
            first_faults(alternatives, subject)
        )
    );
}

bool Evaluation::exactly_one_of(const std::vector<NodeId>& alternatives, const Subject& subject) {
    std::optional<std::size_t> match;
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        if (!apply_silently(alternatives[i], subject)) continue;
        if (match) {
            return fault(
                subject,
                fmt::format("fits alternatives {} and {} of 'oneOf'; only one may fit", *match, i)
            );
        }
        match = i;
    }
    if (match) return true;
    if (enough()) return false;
    return fault(
        subject,
        fmt::format(
            "fits none of the {} alternatives of 'oneOf'{}",
            alternatives.size(),
            first_faults(alternatives, subject)
        )
    );
}

// One level only: explanations of explanations would cost too much, and nobody reads them.
std::string Evaluation::first_faults(
    const std::vector<NodeId>& alternatives, const Subject& subject
) {
    constexpr std::size_t explained_max = 3;
    if (explaining_) return {};
    explaining_ = true;
    std::string text;
    auto kept = std::move(faults_);
    const auto kept_max = std::exchange(faults_max_, 1);
    for (std::size_t i = 0; i < std::min(alternatives.size(), explained_max); ++i) {
        faults_.clear();
        apply(alternatives[i], {subject.value, subject.path, nullptr});
        if (gave_up_) break;
        stopped_ = false;
        if (faults_.empty()) continue;
        text += fmt::format(
            "{} {}: '{}' {}", text.empty() ? ";" : ",", i, faults_[0].pointer, faults_[0].message
        );
    }
    faults_ = std::move(kept);
    faults_max_ = kept_max;
    explaining_ = false;
    return text;
}

bool Evaluation::conditional(const InPlaceRules& rules, const Subject& subject) {
    const bool holds = apply_silently(*rules.condition, subject);
    if (stopped_) return false;
    const auto& next = holds ? rules.then : rules.otherwise;
    return !next || apply(*next, subject);
}

}  // namespace base::schema
