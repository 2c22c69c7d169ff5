#include "base/json_schema_suite.hpp"

#include "base/files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <system_error>

namespace base {

namespace {

constexpr std::size_t suite_bytes_max = std::size_t{64} << 20U;
constexpr std::string_view remotes_uri = "http://localhost:1234/";

bool is_suite(const Json& groups) {
    return groups.is_array() && std::ranges::all_of(groups, [](const Json& group) {
               const auto field = [&](const char* name) {
                   return group.is_object() && group.contains(name);
               };
               if (!field("description") || !field("schema") || !field("tests")) return false;
               return group["tests"].is_array() &&
                      std::ranges::all_of(group["tests"], [](const Json& test) {
                          return test.is_object() && test.contains("description") &&
                                 test.contains("data") && test.contains("valid") &&
                                 test["valid"].is_boolean();
                      });
           });
}

std::string text_of(const Json& description) {
    return description.is_string() ? description.get<std::string>() : description.dump();
}

void run_group(const Json& group, const SchemaOptions& options, SchemaSuiteReport& report) {
    const auto schema = Schema::compile(group["schema"], options);
    for (const auto& test : group["tests"]) {
        const bool expected = test["valid"].get<bool>();
        auto valid = schema ? schema->validate(test["data"]) : fail(schema.error());
        const bool verdict = valid || valid.error().code == ErrorCode::validation;
        if (schema && verdict && valid.has_value() == expected) {
            ++report.passed;
            continue;
        }
        report.failures.push_back(
            {text_of(group["description"]),
             text_of(test["description"]),
             expected,
             valid ? "valid" : valid.error().message}
        );
    }
}

Result<Json> read_json(const std::filesystem::path& file) {
    const auto bytes = read_file(file, suite_bytes_max);
    if (!bytes) return fail(bytes.error());
    auto json = parse_json(*bytes, {.bytes_max = suite_bytes_max});
    if (!json)
        return fail(json.error().code, fmt::format("{}: {}", file.string(), json.error().message));
    return json;
}

Result<void> add_remotes(SchemaDocuments& documents, const std::filesystem::path& folder) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) return {};
    auto entry = std::filesystem::recursive_directory_iterator(folder, error);
    for (; !error && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(error)) {
        if (entry->path().extension() != ".json") continue;
        auto document = read_json(entry->path());
        if (!document) return fail(std::move(document.error()));
        const auto path = entry->path().lexically_relative(folder).generic_string();
        if (auto added = documents.add(std::string(remotes_uri) + path, std::move(*document));
            !added) {
            return added;
        }
    }
    if (error) {
        return fail(
            ErrorCode::internal, fmt::format("list {}: {}", folder.string(), error.message())
        );
    }
    return {};
}

}  // namespace

Result<SchemaSuiteReport> run_schema_suite(const Json& groups, const SchemaOptions& options) {
    if (!is_suite(groups)) {
        return fail(
            ErrorCode::validation,
            "not a suite: groups of {description, schema, tests: [{description, data, valid}]} are"
        );
    }
    SchemaSuiteReport report;
    for (const auto& group : groups)
        run_group(group, options, report);
    return report;
}

Result<SchemaSuiteReport> run_schema_suite_file(
    const std::filesystem::path& file, const SchemaOptions& options
) {
    auto groups = read_json(file);
    if (!groups) return fail(std::move(groups.error()));
    SchemaDocuments documents;
    const auto remotes = std::filesystem::absolute(file).parent_path().parent_path() / "remotes";
    if (auto added = add_remotes(documents, remotes); !added) return fail(added.error());
    SchemaOptions with_remotes = options;
    with_remotes.documents = &documents;
    return run_schema_suite(*groups, with_remotes);
}

}  // namespace base
