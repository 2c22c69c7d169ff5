#include "nets/cel/conformance.hpp"

#include "nets/cel/cel.hpp"
#include "nets/cel/typed.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <fmt/format.h>
#include <utility>

namespace nets::cel {

namespace {

struct Case {
    std::string name;
    std::string expression;
    CompileOptions options;
    Scope scope;
    std::vector<Value> values;
    std::optional<Value> wanted;  // none: an error
};

std::unexpected<base::Error> malformed(std::size_t index, std::string_view what) {
    return base::fail(base::ErrorCode::validation, fmt::format("case {}: {}", index, what));
}

base::Result<std::string> text_field(
    const base::Json& given, std::size_t index, const std::string& key, bool required
) {
    if (!given.contains(key)) {
        if (required) return malformed(index, fmt::format("'{}' is missing", key));
        return std::string();
    }
    if (!given[key].is_string()) return malformed(index, fmt::format("'{}' is no string", key));
    return given[key].get<std::string>();
}

base::Result<void> known_fields(const base::Json& given, std::size_t index) {
    constexpr std::array<std::string_view, 8> known = {
        "section", "name", "expr", "value", "error", "bindings", "container", "disable_check"
    };
    if (!given.is_object()) return malformed(index, "not an object");
    for (const auto& [key, value] : given.items()) {
        if (std::ranges::find(known, key) == known.end()) {
            return malformed(index, fmt::format("unknown field '{}'", key));
        }
    }
    for (const char* flag : {"error", "disable_check"}) {
        if (given.contains(flag) && !given[flag].is_boolean()) {
            return malformed(index, fmt::format("'{}' is no bool", flag));
        }
    }
    if (given.contains("bindings") && !given["bindings"].is_object()) {
        return malformed(index, "'bindings' is no object");
    }
    const bool error = given.value("error", false);
    if (error == given.contains("value")) return malformed(index, "give either value or error");
    return {};
}

base::Result<Case> read_case(const base::Json& given, std::size_t index) {
    if (auto done = known_fields(given, index); !done) return std::unexpected(done.error());
    Case made;
    const auto section = text_field(given, index, "section", false);
    if (!section) return std::unexpected(section.error());
    const auto name = text_field(given, index, "name", false);
    if (!name) return std::unexpected(name.error());
    auto expression = text_field(given, index, "expr", true);
    if (!expression) return std::unexpected(expression.error());
    auto container = text_field(given, index, "container", false);
    if (!container) return std::unexpected(container.error());
    made.name = *section + "/" + *name;
    made.expression = std::move(*expression);
    made.options = {std::move(*container), !given.value("disable_check", false)};
    if (given.contains("bindings")) {
        for (const auto& [key, typed] : given["bindings"].items()) {
            auto value = from_typed(typed);
            if (!value) return malformed(index, value.error().message);
            made.scope.names.push_back(key);
            made.values.push_back(std::move(*value));
        }
    }
    if (given.contains("value")) {
        auto wanted = from_typed(given["value"]);
        if (!wanted) return malformed(index, wanted.error().message);
        made.wanted = std::move(*wanted);
    }
    return made;
}

std::string shown(const base::Result<Value>& value) {
    if (!value) return value.error().message;
    const auto typed = to_typed(*value);
    return typed ? typed->dump() : typed.error().message;
}

base::Result<Value> outcome(const Case& given) {
    const auto program = Program::compile(given.expression, given.scope, given.options);
    if (!program) return std::unexpected(program.error());
    Budget budget;
    return program->evaluate(given.values, budget);
}

}  // namespace

base::Result<ConformanceResult> run_cases(const base::Json& cases) {
    if (!cases.is_array()) {
        return base::fail(base::ErrorCode::validation, "the cases are not a JSON list");
    }
    ConformanceResult result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto given = read_case(cases[i], i);
        if (!given) return std::unexpected(given.error());
        const auto got = outcome(*given);
        const bool right = given->wanted ? got && identical(*got, *given->wanted) : !got;
        if (right) {
            ++result.passed;
            continue;
        }
        result.failures.push_back({
            given->name,
            given->expression,
            given->wanted ? shown(*given->wanted) : "an error",
            shown(got),
        });
    }
    return result;
}

}  // namespace nets::cel
