#include "base/json_schema.hpp"

#include "base/json_schema_compiler.hpp"
#include "base/json_schema_evaluation.hpp"

#include <fmt/format.h>

namespace base {

std::string_view name(SchemaDraft draft) {
    switch (draft) {
        case SchemaDraft::draft7:
            return "draft7";
        case SchemaDraft::draft2020_12:
            return "draft2020-12";
    }
    return {};
}

std::optional<SchemaDraft> schema_draft_from_name(std::string_view name) {
    for (const auto draft : {SchemaDraft::draft7, SchemaDraft::draft2020_12}) {
        if (base::name(draft) == name) return draft;
    }
    return std::nullopt;
}

struct SchemaDocuments::State {
    std::map<std::string, Json, std::less<>> documents;
};

SchemaDocuments::SchemaDocuments() : state_(std::make_unique<State>()) {}
SchemaDocuments::~SchemaDocuments() = default;
SchemaDocuments::SchemaDocuments(SchemaDocuments&&) noexcept = default;
SchemaDocuments& SchemaDocuments::operator=(SchemaDocuments&&) noexcept = default;

Result<void> SchemaDocuments::add(std::string_view uri, Json document) {
    if (schema::deeper_than(document, SchemaLimits{}.depth_max)) {
        return fail(
            ErrorCode::validation, fmt::format("the document {} is nested too deeply", uri)
        );
    }
    const auto [known, fresh] = state_->documents.try_emplace(std::string(uri), document);
    if (!fresh && known->second != document) {
        return fail(ErrorCode::conflict, fmt::format("another document has the URI {}", uri));
    }
    return {};
}

const Json* SchemaDocuments::find(std::string_view uri) const {
    const auto found = state_->documents.find(uri);
    return found == state_->documents.end() ? nullptr : &found->second;
}

Schema::Schema(std::shared_ptr<const schema::Compiled> compiled) : compiled_(std::move(compiled)) {}

Result<Schema> Schema::compile(const Json& schema, const SchemaOptions& options) {
    auto compiled = schema::Compiler(options).run(schema);
    if (!compiled) return fail(std::move(compiled.error()));
    return Schema(std::make_shared<const schema::Compiled>(std::move(*compiled)));
}

Result<void> Schema::validate(const Json& value) const {
    return schema::Evaluation(*compiled_).run(value);
}

}  // namespace base
