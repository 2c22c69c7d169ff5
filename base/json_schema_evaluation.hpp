#pragma once

#include "base/json_schema_node.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace base::schema {

/// The way from the root of the value to a part of it. Lives on the stack.
struct ValuePath {
    const ValuePath* parent = nullptr;
    std::string_view key = {};
    std::optional<std::size_t> index = std::nullopt;

    [[nodiscard]] std::string pointer() const;
};

/// Members and items of one value that some schema has looked at: what `unevaluated...` leaves out.
struct Evaluated {
    bool all_members = false;
    std::unordered_set<std::string_view> members;
    bool all_items = false;
    std::vector<bool> items;

    void add_item(std::size_t index);
    [[nodiscard]] bool has_item(std::size_t index) const;
    void merge(const Evaluated& other);
};

/// One validation of one value.
class Evaluation {
public:
    explicit Evaluation(const Compiled& compiled) : compiled_(compiled) {}

    Result<void> run(const Json& value);

private:
    /// A value that a node is applied to. `evaluated` is null when nobody asks.
    struct Subject {
        const Json& value;
        const ValuePath& path;
        Evaluated* evaluated;
    };

    bool apply(NodeId id, const Subject& subject);
    bool apply_rules(const Node& node, const Subject& subject);
    bool apply_silently(NodeId id, const Subject& subject);

    bool value_rules(const ValueRules& rules, const Subject& subject);
    bool number_rules(const NumberRules& rules, const Subject& subject);
    bool string_rules(const StringRules& rules, const Subject& subject);

    bool array_rules(const ArrayRules& rules, const Subject& subject);
    bool items(const ArrayRules& rules, const Subject& subject);
    bool contains(const ArrayRules& rules, const Subject& subject);
    bool unique(const Subject& subject);
    bool object_rules(const ObjectRules& rules, const Subject& subject);
    bool object_counts(const ObjectRules& rules, const Subject& subject);
    bool members(const ObjectRules& rules, const Subject& subject);
    bool unevaluated_items(NodeId id, const Subject& subject);
    bool unevaluated_members(NodeId id, const Subject& subject);

    bool in_place_rules(const InPlaceRules& rules, const Subject& subject);
    bool references(const InPlaceRules& rules, const Subject& subject);
    bool any_of(const std::vector<NodeId>& alternatives, const Subject& subject);
    bool exactly_one_of(const std::vector<NodeId>& alternatives, const Subject& subject);
    bool conditional(const InPlaceRules& rules, const Subject& subject);
    NodeId dynamic_target(const DynamicReference& reference) const;
    std::string first_faults(const std::vector<NodeId>& alternatives, const Subject& subject);

    /// Notes a fault, unless silent; always false.
    bool fault(const Subject& subject, std::string message);
    /// False when the limit is passed; then everything else is given up.
    bool spend(std::uint64_t steps);
    void give_up(std::string why);
    /// After a failure there is nothing more to find out.
    [[nodiscard]] bool enough() const { return silent_ > 0 || stopped_; }

    const Compiled& compiled_;
    std::vector<ErrorDetail> faults_;
    std::size_t faults_max_ = compiled_.limits.faults_max;
    std::optional<std::string> gave_up_;
    bool stopped_ = false;
    bool explaining_ = false;
    std::size_t silent_ = 0;
    std::size_t recursion_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<ResourceId> scope_;  // resources entered, the outermost first
};

/// How many values there are in a value, itself counted.
std::uint64_t weight(const Json& value);

}  // namespace base::schema
