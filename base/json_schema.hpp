#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace base {

namespace schema {
struct Compiled;
}

enum class SchemaDraft { draft7, draft2020_12 };

/// `draft7`, `draft2020-12`.
std::string_view name(SchemaDraft draft);
std::optional<SchemaDraft> schema_draft_from_name(std::string_view name);

/// Documents that a schema may refer to by URI. Nothing is ever fetched: what is not here, not in
/// the schema itself and no metaschema of the two drafts does not resolve. Not changed while a
/// compilation reads it; any number may.
class SchemaDocuments {
public:
    SchemaDocuments();
    ~SchemaDocuments();
    SchemaDocuments(SchemaDocuments&&) noexcept;
    SchemaDocuments& operator=(SchemaDocuments&&) noexcept;

    /// `uri` is absolute and has no fragment. conflict when it is there with other content.
    Result<void> add(std::string_view uri, Json document);
    /// Nothing when it was not added.
    [[nodiscard]] const Json* find(std::string_view uri) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

struct SchemaLimits {
    /// Levels of nesting of a schema, and of a value.
    std::size_t depth_max = 128;
    std::size_t subschemas_max = 50'000;
    /// Details of one error; further faults are not looked for.
    std::size_t faults_max = 100;
    /// Schemas applied within one another, by reference or by nesting.
    std::size_t recursion_max = 1000;
    /// What one validation may cost: a schema applied to a value, an item or a member looked at, 64
    /// bytes of a string read, or searched by a pattern: a large pattern costs as many times more
    /// as it has instructions.
    std::uint64_t steps_max = 5'000'000;
    /// Of all patterns of a schema together, once compiled; some 16 bytes each.
    std::size_t pattern_instructions_max = 2'000'000;
};

struct SchemaOptions {
    /// Of schemas that have no `$schema`.
    SchemaDraft draft = SchemaDraft::draft2020_12;
    /// Borrowed for the compilation.
    const SchemaDocuments* documents = nullptr;
    /// `format` is checked, not only noted; then a format that is not known here is refused.
    bool format_assertions = false;
    /// A keyword that the draft does not know is a fault of the schema (but for `x-...`). The
    /// drafts say it means nothing.
    bool unknown_keywords_refused = false;
    SchemaLimits limits = {};
};

/// A JSON Schema (2020-12 or draft-07), compiled. Immutable, cheap to copy, used by any number of
/// threads at once.
class Schema {
public:
    /// Every fault of the schema at once, with its pointer into `schema`: keywords of the wrong
    /// type, references that do not resolve, patterns that RE2 cannot run, endless loops. Code
    /// validation.
    static Result<Schema> compile(const Json& schema, const SchemaOptions& options = {});

    /// Every fault of the value at once, up to `faults_max`, with its pointer into `value`. Code
    /// validation; limit when the value is nested too deeply or its validation too costly.
    [[nodiscard]] Result<void> validate(const Json& value) const;

private:
    explicit Schema(std::shared_ptr<const schema::Compiled> compiled);
    // Shared: copies stand in nets, tools and running validations, and none outlives another.
    std::shared_ptr<const schema::Compiled> compiled_;
};

}  // namespace base
