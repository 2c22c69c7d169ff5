#pragma once

#include "base/json_schema_documents.hpp"
#include "base/json_schema_node.hpp"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace base::schema {

/// Makes nodes of schemas. What is wrong with them becomes faults; the nodes are of use only when
/// there are none.
class Compiler {
public:
    explicit Compiler(const SchemaOptions& options)
        : options_(options), faults_(options.limits.faults_max), index_(options, faults_) {}

    Result<Compiled> run(const Json& schema);

private:
    /// The schema that is being made into a node.
    struct Source {
        const Json& schema;
        const Location& at;
        const Dialect& dialect;
        /// The keyword's value; null when it is not given or means nothing in the dialect.
        [[nodiscard]] const Json* given(std::string_view keyword) const;
    };

    NodeId node(const Json& schema);
    Node build(const Json& schema);
    void build_value(const Source& source, Node& node);
    void build_number(const Source& source, Node& node);
    void build_string(const Source& source, Node& node);
    void build_array(const Source& source, Node& node);
    void build_items(const Source& source, ArrayRules& rules);
    void build_object(const Source& source, Node& node);
    void build_dependencies(const Source& source, Node& node);
    void build_in_place(const Source& source, Node& node);
    void build_references(const Source& source, Node& node);
    void note_unknown(const Source& source);
    void add_dynamic_anchors();
    void find_endless_loops();

    // Readers of one keyword: they add a fault when its value is of the wrong kind.
    std::uint8_t types(const Source& source, const Json& value);
    std::uint8_t type(const Source& source, const Json& value);
    const Json* number(const Source& source, std::string_view keyword);
    std::optional<std::uint64_t> count(const Source& source, std::string_view keyword);
    std::optional<std::size_t> pattern(
        const Source& source, std::string_view keyword, const std::string& text
    );
    std::vector<std::string> names(
        const Source& source, std::string_view keyword, const Json& value
    );
    MaybeNode child(const Source& source, std::string_view keyword);
    std::vector<NodeId> children(const Source& source, std::string_view keyword);
    std::map<std::string, NodeId> members(const Source& source, std::string_view keyword);
    void wrong(const Source& source, std::string_view keyword, std::string message);

    const SchemaOptions& options_;
    SchemaFaults faults_;
    SchemaIndex index_;
    Compiled compiled_;
    std::unordered_map<const Json*, NodeId> ids_;
    std::vector<const Json*> sources_;  // by NodeId
    std::map<std::string, std::size_t, std::less<>> patterns_;
    std::size_t pattern_instructions_ = 0;
};

/// Levels of nesting beyond `depth_max`: true.
bool deeper_than(const Json& value, std::size_t depth_max);

}  // namespace base::schema
