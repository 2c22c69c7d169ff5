#include "base/json.hpp"
#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/inline_data.hpp"
#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <sstream>
#include <utility>
#include <vector>

namespace cli {

namespace {

using base::Json;

constexpr const char* place_help = "NET/PLACE, or PLACE for a shared place of the model";

struct PutOptions {
    std::string place;
    InlineData given;
    std::string lines;
    std::string case_id;
};
void declare_put(CLI::App& app, PutOptions& options) {
    app.add_option("PLACE", options.place, place_help)->required();
    declare_inline_data(app, options.given);
    app.add_option(
        "--lines", options.lines, "File with a JSON value a line, each a token; - = stdin"
    );
    app.add_option("--case", options.case_id, "The case that they belong to");
}

struct ListOptions {
    std::string place;
    std::string where;
    std::string as_of;
    std::string limit;
    std::string cursor;
};
void declare_list(CLI::App& app, ListOptions& options) {
    app.add_option("PLACE", options.place, place_help)->required();
    app.add_option(
        "--where", options.where, "Only those for which it is true: an expression over token"
    );
    app.add_option("--as-of", options.as_of, "As it was: a seq or an RFC 3339 time");
    app.add_option("--limit", options.limit, "At most so many");
    app.add_option("--cursor", options.cursor, "Go on after the page that named it");
}

struct TokenOptions {
    std::string id;
};
void declare_token(CLI::App& app, TokenOptions& options) {
    app.add_option("ID", options.id, "The token, such as t17-0")->required();
}

std::string place_target(const Context& context, const std::string& place) {
    const auto slash = place.find('/');
    if (slash == std::string::npos) {
        return model_target(context.model_name(), {"places", place, "tokens"});
    }
    return model_target(
        context.model_name(),
        {"nets", place.substr(0, slash), "places", place.substr(slash + 1), "tokens"}
    );
}

Outcome<void> add_lines(const std::string& file, std::vector<Json>& values) {
    const auto text = read_input(file);
    if (!text) return std::unexpected(text.error());
    std::istringstream lines(*text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        auto value = base::parse_json(line);
        if (!value) {
            return wrong_usage(fmt::format("{}, line {}: {}", file, number, value.error().message));
        }
        values.push_back(std::move(*value));
    }
    return {};
}

Outcome<Exit> put(Context& context, const PutOptions& options) {
    auto values = inline_values(options.given);
    if (!values) return std::unexpected(std::move(values.error()));
    if (!options.lines.empty()) {
        if (auto added = add_lines(options.lines, *values); !added) {
            return std::unexpected(std::move(added.error()));
        }
    }
    if (values->empty()) {
        return wrong_usage("no token is given", "use --value JSON, --input FILE or --lines FILE");
    }
    Json tokens = Json::array();
    for (auto& value : *values) {
        Json token = {{"data", std::move(value)}};
        if (!options.case_id.empty()) token["case"] = options.case_id;
        tokens.push_back(std::move(token));
    }
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const std::size_t count = tokens.size();
    const auto answer = master->post(
        place_target(context, options.place), base::canonical(Json{{"tokens", std::move(tokens)}})
    );
    if (!answer) return std::unexpected(answer.error());
    print(
        context.json ? *answer
                     : fmt::format("{} put on '{}'", base::plural(count, "token"), options.place)
    );
    return Exit::good;
}

Outcome<Exit> list(Context& context, const ListOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("where", options.where)
        .add_given("asOf", options.as_of)
        .add_given("limit", options.limit)
        .add_given("cursor", options.cursor);
    const auto answer = master->get(place_target(context, options.place) + query.text());
    return show_answer(context, answer, [](const Json& page) {
        Table table({"TOKEN", "CASE", "RESERVED BY", "SINCE", "DATA"});
        for (const auto& token : page.at("items")) {
            table.add(
                {field(token, "id"),
                 field(token, "case"),
                 field(token, "reservedBy"),
                 field(token, "at"),
                 in_short(token.at("data"))}
            );
        }
        table.print();
        if (page.contains("next")) print("more: --cursor " + field(page, "next"));
    });
}

Outcome<Exit> ancestry(Context& context, const TokenOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer =
        master->get(model_target(context.model_name(), {"tokens", options.id, "ancestry"}));
    return show_answer(context, answer, [](const Json& page) {
        Table table({"SEQ", "TIME", "TYPE", "ACTOR"});
        for (const auto& record : page.at("items"))
            table.add_fields(record, {"seq", "ts", "type", "actor"});
        table.print();
    });
}

Outcome<Exit> remove(Context& context, const TokenOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->remove(model_target(context.model_name(), {"tokens", options.id}));
    if (!answer) return std::unexpected(answer.error());
    print(context.json ? *answer : fmt::format("token {} is removed", options.id));
    return Exit::good;
}

}  // namespace

void add_token(CLI::App& app, Context& context) {
    auto& group = add_group(app, "token", "Tokens of places");
    add_command<PutOptions>(
        group, {"put", "Put tokens on a place, all or none"}, context, &declare_put, &put
    );
    add_command<ListOptions>(
        group, {"list", "Tokens of a place, the oldest first"}, context, &declare_list, &list
    );
    add_command<TokenOptions>(
        group,
        {"ancestry", "The records that led to a token, the newest first"},
        context,
        &declare_token,
        &ancestry
    );
    add_command<TokenOptions>(
        group, {"remove", "Remove a token that nothing holds"}, context, &declare_token, &remove
    );
}

}  // namespace cli
