#pragma once

#include "base/json_schema.hpp"
#include "base/json_schema_pattern.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a compiled schema is made of. Nodes refer to one another by index, since schemas are
/// graphs.
namespace base::schema {

using NodeId = std::uint32_t;
using ResourceId = std::uint32_t;
using MaybeNode = std::optional<NodeId>;

enum Type : std::uint8_t {
    type_null = 1,
    type_boolean = 2,
    type_integer = 4,
    type_number = 8,
    type_string = 16,
    type_array = 32,
    type_object = 64,
};

struct ValueRules {
    std::uint8_t types = 0;  // of Type; 0 = any
    std::optional<std::vector<Json>> one_of;
    std::optional<Json> constant;
};

struct NumberRules {
    std::optional<Json> multiple_of;
    std::optional<Json> maximum;
    std::optional<Json> exclusive_maximum;
    std::optional<Json> minimum;
    std::optional<Json> exclusive_minimum;
};

using FormatCheck = bool (*)(std::string_view);

struct StringRules {
    std::optional<std::uint64_t> length_max;
    std::optional<std::uint64_t> length_min;
    std::optional<std::size_t> pattern;
    std::string pattern_text;
    FormatCheck format = nullptr;
    std::string format_name;
};

struct ArrayRules {
    std::optional<std::uint64_t> items_max;
    std::optional<std::uint64_t> items_min;
    bool unique = false;
    std::vector<NodeId> prefix;
    MaybeNode items;
    MaybeNode contains;
    std::uint64_t contains_min = 1;
    std::optional<std::uint64_t> contains_max;
    MaybeNode unevaluated;
};

struct ObjectRules {
    std::optional<std::uint64_t> members_max;
    std::optional<std::uint64_t> members_min;
    std::vector<std::string> required;
    std::map<std::string, std::vector<std::string>> required_with;
    std::map<std::string, NodeId> properties;
    std::vector<std::pair<std::size_t, NodeId>> patterns;
    MaybeNode additional;
    MaybeNode names;
    MaybeNode unevaluated;
};

/// `$dynamicRef`: `target`, unless `anchor` is given and a resource of the dynamic scope has a
/// dynamic anchor of that name.
struct DynamicReference {
    NodeId target = 0;
    std::string anchor;
};

/// Schemas that are applied to the same value.
struct InPlaceRules {
    MaybeNode reference;
    std::optional<DynamicReference> dynamic_reference;
    std::vector<NodeId> all_of;
    std::vector<NodeId> any_of;
    std::vector<NodeId> exactly_one_of;
    MaybeNode negated;
    MaybeNode condition;
    MaybeNode then;
    MaybeNode otherwise;
    std::map<std::string, NodeId> with_member;
};

/// One schema. Groups that it has no rule of are absent.
struct Node {
    ResourceId resource = 0;
    bool refuses_all = false;  // the schema `false`
    std::unique_ptr<ValueRules> value;
    std::unique_ptr<NumberRules> number;
    std::unique_ptr<StringRules> string;
    std::unique_ptr<ArrayRules> array;
    std::unique_ptr<ObjectRules> object;
    std::unique_ptr<InPlaceRules> in_place;
};

struct Compiled {
    std::vector<Node> nodes;  // 0 is the root
    std::vector<Pattern> patterns;
    /// Of each resource: its dynamic anchors.
    std::vector<std::map<std::string, NodeId, std::less<>>> dynamic_anchors;
    SchemaLimits limits;
};

/// The check of a format; nothing when it is not known.
FormatCheck format_check(std::string_view name);

}  // namespace base::schema
