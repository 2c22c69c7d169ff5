#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/grammar.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace nets {

namespace {

void compile_tokens(const base::Json& tokens, const At& at, Draft& draft, Place& into) {
    if (!expect_list(tokens, at, draft.faults)) return;
    for (const auto& token : tokens)
        into.tokens.push_back(base::canonical(token));
}

// Compiling looks at the schema alone, never at a token: a replay compiles too.
void compile_place_schema(const base::Json& schema, const At& at, Draft& draft, Place& into) {
    if (!schema.is_boolean() && !schema.is_object()) {
        return draft.faults.add(at, wrong_type("a JSON Schema: an object, true or false", schema));
    }
    auto document = base::canonical(schema);
    if (document.size() > schema_bytes_max) {
        return draft.faults.add(
            at,
            fmt::format("{} bytes; a schema has at most {}", document.size(), schema_bytes_max),
            base::ErrorCode::too_large
        );
    }
    auto compiled = base::Schema::compile(schema, {.unknown_keywords_refused = true});
    if (compiled) {
        into.schema = PlaceSchema{std::move(*compiled), std::move(document)};
        return;
    }
    for (auto detail : compiled.error().details) {
        detail.pointer = at.pointer() + detail.pointer;
        draft.faults.add(std::move(detail));
    }
    if (compiled.error().details.empty()) draft.faults.add(at, compiled.error().message);
}

void check_system_place(const Fields& fields, const At& at, Draft& draft, const Place& place) {
    if (!place.shared) {
        draft.faults.add(
            at,
            fmt::format(
                "names that begin with 'p-' are the system's; to read the system place '{}', say "
                "\"shared\": true",
                place.name
            )
        );
    }
    for (const std::string_view field : {"capacity", "tokens", "schema", "cases"}) {
        if (fields.has(field)) {
            draft.faults.add(
                at / field,
                fmt::format("the place '{}' is the system's: it has its own", place.name)
            );
        }
    }
}

void compile_place(const base::Json& value, const At& at, Draft& draft, Place& into) {
    const Fields fields(value, at, draft.faults, grammar::place);
    if (!base::valid_name(into.name)) {
        read_name(into.name, at, draft.faults);
    }
    if (const auto* description = fields.find("description")) {
        read_text(*description, at / "description", draft.faults);
    }
    if (const auto* schema = fields.find("schema")) {
        compile_place_schema(*schema, at / "schema", draft, into);
    }
    if (const auto* shared = fields.find("shared")) {
        into.shared = read_boolean(*shared, at / "shared", draft.faults).value_or(false);
    }
    if (const auto* cases = fields.find("cases")) {
        into.cases = read_boolean(*cases, at / "cases", draft.faults).value_or(true);
    }
    if (const auto* tokens = fields.find("tokens")) {
        compile_tokens(*tokens, at / "tokens", draft, into);
    }
    if (const auto* capacity = fields.find("capacity")) {
        const auto count =
            read_integer(*capacity, at / "capacity", draft.faults, {1, capacity_max});
        if (count) into.capacity = static_cast<std::uint64_t>(*count);
        if (into.capacity && *into.capacity < into.tokens.size()) {
            draft.faults.add(
                at / "capacity",
                fmt::format(
                    "the place '{}' has room for {} tokens and begins with {}",
                    into.name,
                    *into.capacity,
                    into.tokens.size()
                )
            );
        }
    }
    if (system_place(into.name)) check_system_place(fields, at, draft, into);
}

}  // namespace

bool system_place(std::string_view name) {
    return name.starts_with("p-");
}

void compile_places(const base::Json& places, const At& at, Draft& draft) {
    if (!expect_object(places, at, draft.faults)) return;
    if (places.size() > places_max) {
        return draft.faults.add(
            at,
            fmt::format("{} places; a net has at most {}", places.size(), places_max),
            base::ErrorCode::too_large
        );
    }
    const auto& members = places.get_ref<const base::Json::object_t&>();
    draft.net.places.reserve(members.size());
    draft.place_names.reserve(members.size());
    for (const auto& [name, value] : members) {
        auto& place = draft.net.places.emplace_back();
        place.name = name;
        draft.place_names.push_back(name);
        compile_place(value, at / name, draft, place);
    }
}

}  // namespace nets
