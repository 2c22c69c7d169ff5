#include "base/json.hpp"
#include "base/json_schema_suite.hpp"
#include "cli/command.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace cli {

namespace {

using base::Json;

struct SchemaOptions {
    std::string schema;
    std::string suite;
    std::string draft = std::string(base::name(base::SchemaDraft::draft2020_12));
    std::string data;
    bool formats = false;
};
void declare_schema_check(CLI::App& app, SchemaOptions& options) {
    auto* schema = app.add_option("--schema", options.schema, "File of the schema; - = stdin");
    auto* suite = app.add_option(
        "--suite", options.suite, "File of test cases, in the form of the official suite"
    );
    suite->excludes(schema);
    app.add_option("--draft", options.draft, "Of schemas that do not say: draft2020-12 or draft7")
        ->capture_default_str();
    app.add_flag("--formats", options.formats, "'format' is checked, not only noted");
    app.add_option("DATA", options.data, "File of the value to check; - = stdin")->needs(schema);
}

Outcome<Json> read_json(const std::string& name) {
    const auto text = read_input(name);
    if (!text) return std::unexpected(text.error());
    auto value = base::parse_json(*text);
    if (value) return std::move(*value);
    auto error = std::move(value.error());
    error.message = fmt::format("{}: {}", name, error.message);
    return wrong_usage(std::move(error));
}

// Faults of the schema or of the value, for people or as JSON.
Exit tell(const Context& context, std::string_view of, const base::Error& error) {
    auto details = error.details;
    if (details.empty()) details.push_back({"", error.code, error.message});
    Json errors = Json::array();
    for (const auto& detail : details) {
        if (context.json) {
            errors.push_back(
                {{"in", of},
                 {"pointer", detail.pointer},
                 {"code", base::name(detail.code)},
                 {"message", detail.message}}
            );
        } else {
            const auto at = detail.pointer.empty() ? "" : " at " + detail.pointer;
            print(fmt::format("{}{}: {}", of, at, detail.message));
        }
    }
    if (context.json) print(base::canonical(Json{{"ok", false}, {"errors", std::move(errors)}}));
    return Exit::negative;
}

Outcome<Exit> check_value(
    const Context& context, const SchemaOptions& options, const base::SchemaOptions& compiling
) {
    if (options.schema == "-" && options.data == "-") {
        return wrong_usage("the schema and the value cannot both come from stdin");
    }
    const auto document = read_json(options.schema);
    if (!document) return std::unexpected(document.error());
    const auto schema = base::Schema::compile(*document, compiling);
    if (!schema) return tell(context, "schema", schema.error());
    if (!options.data.empty()) {
        const auto value = read_json(options.data);
        if (!value) return std::unexpected(value.error());
        if (const auto fits = schema->validate(*value); !fits) {
            return tell(context, "data", fits.error());
        }
    }
    if (context.json) {
        print(base::canonical(Json{{"ok", true}, {"errors", Json::array()}}));
    } else {
        print(options.data.empty() ? "the schema is good" : "the value fits the schema");
    }
    return Exit::good;
}

Outcome<Exit> run_suite(
    const Context& context, const SchemaOptions& options, const base::SchemaOptions& compiling
) {
    auto report = base::run_schema_suite_file(options.suite, compiling);
    if (!report) return wrong_usage(std::move(report.error()));
    Json failures = Json::array();
    for (const auto& failure : report->failures) {
        if (context.json) {
            failures.push_back(
                {{"group", failure.group},
                 {"test", failure.test},
                 {"valid", failure.expected_valid},
                 {"found", failure.found}}
            );
            continue;
        }
        print(fmt::format(
            "{}: {}: should be {}, found: {}",
            failure.group,
            failure.test,
            failure.expected_valid ? "valid" : "invalid",
            failure.found
        ));
    }
    if (context.json) {
        print(base::canonical(Json{
            {"passed", report->passed},
            {"failed", report->failures.size()},
            {"failures", std::move(failures)}
        }));
    } else {
        print(fmt::format("{} passed, {} failed", report->passed, report->failures.size()));
    }
    return report->failures.empty() ? Exit::good : Exit::negative;
}

Outcome<Exit> check(Context& context, const SchemaOptions& options) {
    const auto draft = base::schema_draft_from_name(options.draft);
    if (!draft) {
        return wrong_usage(
            fmt::format("'{}' is no draft that is known", options.draft),
            "use draft2020-12 or draft7"
        );
    }
    base::SchemaOptions compiling{.draft = *draft, .format_assertions = options.formats};
    if (!options.suite.empty()) return run_suite(context, options, compiling);
    if (options.schema.empty()) {
        return wrong_usage(
            "neither --schema nor --suite is given",
            "netwright schema check --schema order.schema.json order.json"
        );
    }
    // A word that no draft knows is far more often misspelt than meant.
    compiling.unknown_keywords_refused = true;
    return check_value(context, options, compiling);
}

}  // namespace

void add_schema(CLI::App& app, Context& context) {
    auto& group = add_group(app, "schema", "JSON Schema, as places and tools use it");
    add_command<SchemaOptions>(
        group,
        {"check",
         "A value against a schema, a schema by itself, or a suite of test cases",
         Takes::nothing},
        context,
        &declare_schema_check,
        &check
    );
}

}  // namespace cli
