#pragma once

#include "base/json_schema.hpp"
#include "base/json_schema_keywords.hpp"
#include "base/json_schema_node.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace base::schema {

/// Where a schema stands.
struct Location {
    ResourceId resource = 0;
    /// Of the document; empty: the schema that is being compiled.
    std::string document;
    std::string pointer;
};

/// The faults of the schema that is being compiled, up to a limit.
class SchemaFaults {
public:
    explicit SchemaFaults(std::size_t faults_max) : faults_max_(faults_max) {}
    /// `keyword` may be empty.
    void add(const Location& at, std::string_view keyword, ErrorCode code, std::string message);
    [[nodiscard]] bool empty() const { return details_.empty(); }
    [[nodiscard]] Error error() const;

private:
    std::size_t faults_max_;
    std::vector<ErrorDetail> details_;
};

/// A schema document or a part of it that has a URI of its own.
struct Resource {
    std::string uri;
    const Json* root = nullptr;
    Dialect dialect;
    std::map<std::string, const Json*, std::less<>> anchors;
    std::map<std::string, const Json*, std::less<>> dynamic_anchors;
};

struct ReferenceTarget {
    const Json* schema = nullptr;
    /// When the reference named a dynamic anchor.
    std::string dynamic_anchor;
};

/// Knows where every schema stands and what has which URI: of the document that is being compiled,
/// and of those that it refers to, which are looked into when first referred to.
class SchemaIndex {
public:
    SchemaIndex(const SchemaOptions& options, SchemaFaults& faults)
        : options_(options), faults_(faults) {}

    void add_root(const Json& schema);
    /// What `reference`, standing at `from`, refers to; a fault is added when that is nothing.
    std::optional<ReferenceTarget> find(
        const Location& from, std::string_view keyword, std::string_view reference
    );
    [[nodiscard]] const Location& location(const Json& schema) const;
    /// False only when there were too many schemas, which is a fault.
    [[nodiscard]] bool knows(const Json& schema) const { return locations_.contains(&schema); }
    [[nodiscard]] const std::vector<Resource>& resources() const { return resources_; }
    /// All schemas of the document that is being compiled, parents first.
    [[nodiscard]] const std::vector<const Json*>& schemas_of_root() const { return root_schemas_; }

private:
    std::optional<ResourceId> add_document(const Json& schema, const std::string& uri);
    std::optional<ResourceId> resource_of(const std::string& uri);
    const Json* document(std::string_view uri) const;
    void index(const Json& schema, Location at);
    void index_children(const Json& schema, const Location& at);
    void index_identifier(const Json& schema, Location& at);
    void index_anchor(const Json& schema, const Location& at, std::string_view keyword);
    void add_anchor(const Json& schema, const Location& at, std::string_view name, bool dynamic);
    std::optional<ResourceId> add_resource(
        const Json& schema, const std::string& uri, const Location& at
    );
    Dialect dialect(const Json& schema, const Dialect& inherited, const Location& at, int depth);
    Dialect custom_dialect(const std::string& uri, const Location& at, int depth);
    const Json* walk(const Location& from, const Resource& resource, std::string_view pointer);

    const SchemaOptions& options_;
    SchemaFaults& faults_;
    std::vector<Resource> resources_;
    std::map<std::string, ResourceId, std::less<>> by_uri_;
    std::unordered_map<const Json*, Location> locations_;
    std::vector<const Json*> root_schemas_;
};

/// A metaschema of the two drafts; null for any other URI.
const Json* metaschema(std::string_view uri);

}  // namespace base::schema
