#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "cli/wait.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

/// Work packets of `agent` transitions: for agents that use the command line, and for people.
namespace cli {

namespace {

using base::Json;

struct ListOptions {
    std::string state;
    std::string skill;
    std::string limit;
    std::string cursor;
};
void declare_list(CLI::App& app, ListOptions& options) {
    app.add_option("--state", options.state, "available, claimed or waiting");
    app.add_option("--skill", options.skill, "Only packets that want this skill");
    app.add_option("--limit", options.limit, "At most so many");
    app.add_option("--cursor", options.cursor, "Go on after the page that named it");
}

struct ClaimOptions {
    std::string id;
    std::string agent;
    std::string skill;
    std::string lease;
    Wait wait;
};
void declare_claim(CLI::App& app, ClaimOptions& options) {
    app.add_option("ID", options.id, "This packet (default: the oldest that fits)");
    app.add_option("--agent", options.agent, "Who claims")->required();
    app.add_option("--skill", options.skill, "Only a packet that wants this skill");
    app.add_option("--lease", options.lease, "How long the claim lasts (default: 60s)");
    declare_wait(app, options.wait, "a packet");
}

struct HoldOptions {
    std::string id;
    std::string claim;
    std::string lease;
    std::string note;
    std::string reason;
    std::string message;
    std::string code;
    std::string result;
    std::string steps;
};
void declare_hold(CLI::App& app, HoldOptions& options) {
    app.add_option("ID", options.id, "The packet")->required();
    app.add_option("--claim", options.claim, "As the claim was answered")->required();
}
void declare_steps(CLI::App& app, HoldOptions& options) {
    declare_hold(app, options);
    app.add_option("--steps", options.steps, "Taken so far");
}
void declare_heartbeat(CLI::App& app, HoldOptions& options) {
    declare_steps(app, options);
    app.add_option("--lease", options.lease, "How long the claim lasts from now (default: 60s)");
    app.add_option("--note", options.note, "How far it is; it is recorded");
}
void declare_release(CLI::App& app, HoldOptions& options) {
    declare_hold(app, options);
    app.add_option("--reason", options.reason, "Why; it is recorded");
}
void declare_complete(CLI::App& app, HoldOptions& options) {
    declare_steps(app, options);
    app.add_option("RESULT", options.result, "File of the result, JSON; - = stdin")->required();
}
void declare_fail(CLI::App& app, HoldOptions& options) {
    declare_steps(app, options);
    app.add_option("--message", options.message, "What went wrong")->required();
    app.add_option("--code", options.code, "An error code (default: upstream)");
}

Outcome<Exit> list(Context& context, const ListOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("state", options.state)
        .add_given("skill", options.skill)
        .add_given("limit", options.limit)
        .add_given("cursor", options.cursor);
    const auto answer = master->get(model_target(context.model_name(), {"work"}) + query.text());
    return show_answer(context, answer, [](const Json& page) {
        Table table({"WORK", "SKILL", "STATE", "AGENT", "UNTIL", "NET", "TRANSITION", "CASE"});
        for (const auto& item : page.at("items")) {
            table.add_fields(
                item, {"operation", "skill", "state", "agent", "until", "net", "transition", "case"}
            );
        }
        table.print();
        if (page.contains("next")) print("more: --cursor " + field(page, "next"));
    });
}

Outcome<Exit> claim(Context& context, const ClaimOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    Json body = {{"agent", options.agent}};
    if (!options.skill.empty()) body["skill"] = options.skill;
    if (!options.lease.empty()) body["lease"] = options.lease;
    const auto target = options.id.empty()
                            ? model_target(context.model_name(), {"work", "claim"})
                            : model_target(context.model_name(), {"work", options.id, "claim"});
    const auto wait = options.wait.duration();
    if (!wait) return std::unexpected(wait.error());
    QueryText query;
    if (options.wait.given()) query.add("wait", base::text(*wait));
    const auto answer = master->post(target + query.text(), base::canonical(body), *wait);
    return show_answer(context, answer, &print_fields);
}

Outcome<Exit> send(Context& context, const HoldOptions& options, std::string_view act, Json body) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    body["claim"] = options.claim;
    if (!options.steps.empty()) {
        auto steps = base::parse_json(options.steps);
        if (!steps) return wrong_usage("--steps takes a number");
        body["steps"] = std::move(*steps);
    }
    const auto answer = master->post(
        model_target(context.model_name(), {"work", options.id, act}), base::canonical(body)
    );
    return show_answer(context, answer, [&](const Json& view) {
        print(fmt::format("work {}: {}", options.id, field(view, "state")));
    });
}

Outcome<Exit> heartbeat(Context& context, const HoldOptions& options) {
    Json body = Json::object();
    if (!options.lease.empty()) body["lease"] = options.lease;
    if (!options.note.empty()) body["note"] = options.note;
    return send(context, options, "heartbeat", std::move(body));
}

Outcome<Exit> release(Context& context, const HoldOptions& options) {
    Json body = Json::object();
    if (!options.reason.empty()) body["reason"] = options.reason;
    return send(context, options, "release", std::move(body));
}

Outcome<Exit> complete(Context& context, const HoldOptions& options) {
    const auto text = read_input(options.result);
    if (!text) return std::unexpected(text.error());
    auto result = base::parse_json(*text);
    if (!result) return wrong_usage(std::move(result.error()));
    return send(context, options, "complete", Json{{"result", std::move(*result)}});
}

Outcome<Exit> fail(Context& context, const HoldOptions& options) {
    Json body = {{"message", options.message}};
    if (!options.code.empty()) body["code"] = options.code;
    return send(context, options, "fail", std::move(body));
}

}  // namespace

void add_work(CLI::App& app, Context& context) {
    auto& group = add_group(app, "work", "Work packets for agents outside");
    add_command<ListOptions>(
        group, {"list", "Packets that are open"}, context, &declare_list, &list
    );
    add_command<ClaimOptions>(
        group, {"claim", "Take a packet for a while"}, context, &declare_claim, &claim
    );
    add_command<HoldOptions>(
        group, {"heartbeat", "Keep a claim"}, context, &declare_heartbeat, &heartbeat
    );
    add_command<HoldOptions>(
        group, {"complete", "Hand in the result"}, context, &declare_complete, &complete
    );
    add_command<HoldOptions>(group, {"fail", "Say that it failed"}, context, &declare_fail, &fail);
    add_command<HoldOptions>(
        group, {"release", "Give a claim back"}, context, &declare_release, &release
    );
}

}  // namespace cli
