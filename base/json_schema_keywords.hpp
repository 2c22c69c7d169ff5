#pragma once

#include "base/json_schema.hpp"

#include <cstdint>
#include <string_view>

namespace base::schema {

/// What a schema's `$schema` stands for.
struct Dialect {
    SchemaDraft draft = SchemaDraft::draft2020_12;
    bool applicators = true;
    bool unevaluated = true;
    bool validation = true;
    bool formats_asserted = false;
    bool operator==(const Dialect&) const = default;
};

/// Where the value of a keyword holds schemas.
enum class Shape : std::uint8_t {
    none,
    schema,
    list,
    map,
    schema_or_list,
    map_of_schemas_or_strings,
};

enum class Vocabulary : std::uint8_t { core, applicator, unevaluated, validation, annotation };

struct Keyword {
    std::string_view name;
    Shape shape = Shape::none;
    Vocabulary vocabulary = Vocabulary::annotation;
    bool in_draft7 = true;
    bool in_draft2020_12 = true;
};

/// Null when the draft does not know it.
const Keyword* keyword(SchemaDraft draft, std::string_view name);

/// Known, and not left out by the dialect's vocabularies.
bool active(const Dialect& dialect, std::string_view name);

}  // namespace base::schema
