#include "base/json_schema_keywords.hpp"

#include <array>

namespace base::schema {

namespace {

constexpr bool only_new = false;  // for in_draft7

constexpr std::array keywords = {
    Keyword{"$id", Shape::none, Vocabulary::core},
    Keyword{"$schema", Shape::none, Vocabulary::core},
    Keyword{"$ref", Shape::none, Vocabulary::core},
    Keyword{"$comment", Shape::none, Vocabulary::core},
    Keyword{"$anchor", Shape::none, Vocabulary::core, only_new},
    Keyword{"$dynamicRef", Shape::none, Vocabulary::core, only_new},
    Keyword{"$dynamicAnchor", Shape::none, Vocabulary::core, only_new},
    Keyword{"$vocabulary", Shape::none, Vocabulary::core, only_new},
    Keyword{"$defs", Shape::map, Vocabulary::core, only_new},
    // Deprecated in 2020-12, and in wide use there.
    Keyword{"definitions", Shape::map, Vocabulary::core},
    Keyword{"dependencies", Shape::map_of_schemas_or_strings, Vocabulary::applicator},
    Keyword{"allOf", Shape::list, Vocabulary::applicator},
    Keyword{"anyOf", Shape::list, Vocabulary::applicator},
    Keyword{"oneOf", Shape::list, Vocabulary::applicator},
    Keyword{"not", Shape::schema, Vocabulary::applicator},
    Keyword{"if", Shape::schema, Vocabulary::applicator},
    Keyword{"then", Shape::schema, Vocabulary::applicator},
    Keyword{"else", Shape::schema, Vocabulary::applicator},
    Keyword{"dependentSchemas", Shape::map, Vocabulary::applicator, only_new},
    Keyword{"prefixItems", Shape::list, Vocabulary::applicator, only_new},
    Keyword{"items", Shape::schema_or_list, Vocabulary::applicator},
    Keyword{"additionalItems", Shape::schema, Vocabulary::applicator, true, false},
    Keyword{"contains", Shape::schema, Vocabulary::applicator},
    Keyword{"properties", Shape::map, Vocabulary::applicator},
    Keyword{"patternProperties", Shape::map, Vocabulary::applicator},
    Keyword{"additionalProperties", Shape::schema, Vocabulary::applicator},
    Keyword{"propertyNames", Shape::schema, Vocabulary::applicator},
    Keyword{"unevaluatedItems", Shape::schema, Vocabulary::unevaluated, only_new},
    Keyword{"unevaluatedProperties", Shape::schema, Vocabulary::unevaluated, only_new},
    Keyword{"type", Shape::none, Vocabulary::validation},
    Keyword{"enum", Shape::none, Vocabulary::validation},
    Keyword{"const", Shape::none, Vocabulary::validation},
    Keyword{"multipleOf", Shape::none, Vocabulary::validation},
    Keyword{"maximum", Shape::none, Vocabulary::validation},
    Keyword{"exclusiveMaximum", Shape::none, Vocabulary::validation},
    Keyword{"minimum", Shape::none, Vocabulary::validation},
    Keyword{"exclusiveMinimum", Shape::none, Vocabulary::validation},
    Keyword{"maxLength", Shape::none, Vocabulary::validation},
    Keyword{"minLength", Shape::none, Vocabulary::validation},
    Keyword{"pattern", Shape::none, Vocabulary::validation},
    Keyword{"maxItems", Shape::none, Vocabulary::validation},
    Keyword{"minItems", Shape::none, Vocabulary::validation},
    Keyword{"uniqueItems", Shape::none, Vocabulary::validation},
    Keyword{"maxContains", Shape::none, Vocabulary::validation, only_new},
    Keyword{"minContains", Shape::none, Vocabulary::validation, only_new},
    Keyword{"maxProperties", Shape::none, Vocabulary::validation},
    Keyword{"minProperties", Shape::none, Vocabulary::validation},
    Keyword{"required", Shape::none, Vocabulary::validation},
    Keyword{"dependentRequired", Shape::none, Vocabulary::validation, only_new},
    Keyword{"format"},
    Keyword{"title"},
    Keyword{"description"},
    Keyword{"default"},
    Keyword{"deprecated", Shape::none, Vocabulary::annotation, only_new},
    Keyword{"readOnly"},
    Keyword{"writeOnly"},
    Keyword{"examples"},
    Keyword{"contentEncoding"},
    Keyword{"contentMediaType"},
    Keyword{"contentSchema", Shape::schema, Vocabulary::annotation, only_new},
};

}  // namespace

const Keyword* keyword(SchemaDraft draft, std::string_view name) {
    for (const auto& known : keywords) {
        if (known.name != name) continue;
        const bool in_draft =
            draft == SchemaDraft::draft7 ? known.in_draft7 : known.in_draft2020_12;
        return in_draft ? &known : nullptr;
    }
    return nullptr;
}

bool active(const Dialect& dialect, std::string_view name) {
    const auto* known = keyword(dialect.draft, name);
    if (known == nullptr) return false;
    switch (known->vocabulary) {
        case Vocabulary::core:
        case Vocabulary::annotation:
            return true;
        case Vocabulary::applicator:
            return dialect.applicators;
        case Vocabulary::unevaluated:
            return dialect.unevaluated;
        case Vocabulary::validation:
            return dialect.validation;
    }
    return false;
}

}  // namespace base::schema
