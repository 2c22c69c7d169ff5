#include "nets/schema.hpp"

#include "base/json.hpp"
#include "nets/grammar.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <span>
#include <string>

namespace {

std::set<std::string> words(std::span<const std::string_view> fields) {
    return {fields.begin(), fields.end()};
}

std::set<std::string> properties(const base::Json& schema) {
    CHECK(schema["additionalProperties"] == false);
    std::set<std::string> names;
    for (const auto& [name, value] : schema["properties"].items())
        names.insert(name);
    return names;
}

}  // namespace

TEST_CASE("the schema for editors knows exactly the fields that the reader knows") {
    const auto schema = base::parse_json(nets::document_schema());
    REQUIRE(schema.has_value());
    const auto& definitions = (*schema)["$defs"];
    namespace grammar = nets::grammar;
    CHECK(properties(*schema) == words(grammar::document));
    CHECK(properties(definitions["place"]) == words(grammar::place));
    CHECK(properties(definitions["transition"]) == words(grammar::transition));
    CHECK(properties(definitions["arc"]) == words(grammar::arc));
    CHECK(properties(definitions["range"]) == words(grammar::range));
    CHECK(properties(definitions["rule"]) == words(grammar::rule));
    CHECK(properties(definitions["retry"]) == words(grammar::retry));
    CHECK(properties(definitions["call"]) == words(grammar::call));
    CHECK(properties(definitions["command"]) == words(grammar::command));
    CHECK(properties(definitions["http"]) == words(grammar::http));
    CHECK(properties(definitions["llm"]) == words(grammar::llm));
    CHECK(properties(definitions["agent"]) == words(grammar::agent));
    CHECK(properties(definitions["net"]) == words(grammar::net));
    CHECK(properties(definitions["cron"]) == words(grammar::cron));
    CHECK(properties(definitions["link"]) == words(grammar::link));
}

TEST_CASE("every reference in the schema leads somewhere") {
    const auto schema = base::parse_json(nets::document_schema());
    REQUIRE(schema.has_value());
    for (const auto& [pointer, value] : schema->flatten().items()) {
        if (!pointer.ends_with("/$ref")) continue;
        const auto target = value.get<std::string>().substr(1);
        CHECK_MESSAGE(schema->contains(base::Json::json_pointer(target)), pointer << " " << target);
    }
}
