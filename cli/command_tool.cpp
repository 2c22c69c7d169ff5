#include "base/json.hpp"
#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "cli/tool_directory.hpp"
#include "http/target.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

namespace cli {

namespace {

using base::Json;

struct RegisterOptions {
    std::vector<std::string> paths;
    std::string expected_version;
};
void declare_register(CLI::App& app, RegisterOptions& options) {
    app.add_option("DIR|FILE", options.paths, "Directories with a tool.json, or such files")
        ->required();
    app.add_option(
        "--expected-version", options.expected_version, "Only if this is the current version's hash"
    );
}

struct SearchOptions {
    std::string query;
    std::string type;
    std::string status;
    std::string lifecycle;
    std::string capability;
    std::string limit;
    std::string cursor;
};
void declare_search(CLI::App& app, SearchOptions& options) {
    app.add_option(
        "QUERY", options.query, "Words in id, name, description, capabilities, examples"
    );
    app.add_option("--type", options.type, "Of the binding, such as script");
    app.add_option("--status", options.status, "approved or registered");
    app.add_option("--lifecycle", options.lifecycle, "draft, active, deprecated or archived");
    app.add_option("--capability", options.capability, "Only tools that name it");
    app.add_option("--limit", options.limit, "At most so many");
    app.add_option("--cursor", options.cursor, "Go on after the page that named it");
}

struct ToolOptions {
    std::string id;
    std::string version;
    std::string as_of;
};
void declare_versions(CLI::App& app, ToolOptions& options) {
    app.add_option("ID", options.id, "The tool")->required();
}
void declare_show(CLI::App& app, ToolOptions& options) {
    declare_versions(app, options);
    app.add_option("--version", options.version, "Its version's hash or label");
    app.add_option("--as-of", options.as_of, "As it was: a seq or an RFC 3339 time");
}

std::string scope_of(const Json& item) {
    const auto scope = field(item, "scope");
    return item.value("shadowed", false) ? scope + ", shadowed" : scope;
}

// A tool is one script: one that reads a file next to it finds none where it runs.
void warn_of(const std::vector<std::string>& not_uploaded, const std::string& folder) {
    if (not_uploaded.empty()) return;
    constexpr std::size_t named_max = 10;
    const auto count = std::min(named_max, not_uploaded.size());
    fmt::print(
        stderr,
        "netwright: a tool is one script: {} of {} {} not part of it: {}{}\n",
        base::plural(not_uploaded.size(), "other file"),
        folder,
        not_uploaded.size() == 1 ? "is" : "are",
        fmt::join(
            not_uploaded.begin(), not_uploaded.begin() + static_cast<std::ptrdiff_t>(count), ", "
        ),
        count < not_uploaded.size() ? ", ..." : ""
    );
}

Outcome<Exit> register_tools(Context& context, const RegisterOptions& options) {
    std::vector<Json> bodies;
    for (const auto& path : options.paths) {
        auto tool = read_tool(path);
        if (!tool) return std::unexpected(std::move(tool.error()));
        warn_of(tool->not_uploaded, path);
        // No model: the global catalog.
        if (context.model) tool->body["model"] = *context.model;
        if (!options.expected_version.empty()) {
            tool->body["expectedVersion"] = options.expected_version;
        }
        bodies.push_back(std::move(tool->body));
    }
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    for (const auto& body : bodies) {
        const auto answer = master->post("/api/tool-catalog/scripts", base::canonical(body));
        if (!answer) return std::unexpected(answer.error());
        if (context.json) {
            print(*answer);
            continue;
        }
        const auto item = parsed(*answer);
        if (!item) return std::unexpected(item.error());
        print(fmt::format(
            "tool '{}' {} is registered ({}, version {})",
            field(*item, "id"),
            field(*item, "version"),
            field(*item, "scope") == "local" ? "local to model '" + field(*item, "model") + "'"
                                             : "global",
            field(*item, "versionHash")
        ));
    }
    return Exit::good;
}

Outcome<Exit> print_items(const Context& context, const std::string& answer) {
    if (context.json) {
        print(answer);
        return Exit::good;
    }
    const auto page = parsed(answer);
    if (!page) return std::unexpected(page.error());
    Table table({"TOOL", "VERSION", "TYPE", "STATUS", "SCOPE", "HASH", "DESCRIPTION"});
    for (const auto& item : page->at("items")) {
        table.add(
            {field(item, "id"),
             field(item, "version"),
             item.contains("binding") ? field(item.at("binding"), "type") : "",
             field(item, "status"),
             scope_of(item),
             field(item, "versionHash").substr(0, 12),
             field(item, "description")}
        );
    }
    table.print();
    if (page->contains("next")) print("more: --cursor " + field(*page, "next"));
    return Exit::good;
}

Outcome<Exit> search(Context& context, const SearchOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("q", options.query)
        .add_given("type", options.type)
        .add_given("status", options.status)
        .add_given("lifecycle", options.lifecycle)
        .add_given("capability", options.capability)
        .add_given("model", context.model.value_or(""))
        .add_given("limit", options.limit)
        .add_given("cursor", options.cursor);
    const auto answer = master->get("/api/tool-catalog" + query.text());
    if (!answer) return std::unexpected(answer.error());
    return print_items(context, *answer);
}

Outcome<Exit> show(Context& context, const ToolOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("model", context.model.value_or(""))
        .add_given("version", options.version)
        .add_given("asOf", options.as_of);
    const auto answer =
        master->get("/api/tool-catalog/" + http::percent_encode(options.id) + query.text());
    return show_answer(context, answer, [&](const Json& item) {
        constexpr int indent = 2;
        print(item.dump(indent));
    });
}

Outcome<Exit> versions(Context& context, const ToolOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("model", context.model.value_or(""));
    const auto answer = master->get(
        "/api/tool-catalog/" + http::percent_encode(options.id) + "/versions" + query.text()
    );
    if (!answer) return std::unexpected(answer.error());
    return print_items(context, *answer);
}

}  // namespace

void add_tool(CLI::App& app, Context& context) {
    auto& group = add_group(app, "tool", "The tool catalog");
    add_command<RegisterOptions>(
        group,
        {"register", "Register tools: globally, or with --model for one model"},
        context,
        &declare_register,
        &register_tools
    );
    add_command<SearchOptions>(
        group, {"search", "Tools that a model sees"}, context, &declare_search, &search
    );
    add_command<ToolOptions>(
        group, {"show", "One tool, as a model sees it"}, context, &declare_show, &show
    );
    add_command<ToolOptions>(
        group, {"versions", "Every version of a tool"}, context, &declare_versions, &versions
    );
}

}  // namespace cli
