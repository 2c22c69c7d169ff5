#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

/// Subcommands that only look, or do one thing to one thing: transition, operation, executors,
/// dead-letter.
namespace cli {

namespace {

using base::Json;

struct TransitionOptions {
    std::string net;
    std::string transition;
};
void declare_transition(CLI::App& app, TransitionOptions& options) {
    app.add_option("NET", options.net, "Name of the net")->required();
    app.add_option("TRANSITION", options.transition, "Its transition (default: all)");
}

struct IdOptions {
    std::string id;
    std::string reason;
};
void declare_id(CLI::App& app, IdOptions& options) {
    app.add_option("ID", options.id, "As a list shows it")->required();
}
void declare_abandon(CLI::App& app, IdOptions& options) {
    declare_id(app, options);
    app.add_option("--reason", options.reason, "Why; it is recorded")->required();
}

struct PageOptions {
    std::string limit;
    std::string cursor;
};
void declare_page(CLI::App& app, PageOptions& options) {
    app.add_option("--limit", options.limit, "At most so many");
    app.add_option("--cursor", options.cursor, "Go on after the page that named it");
}

void print_transition(const Json& view) {
    print(fmt::format(
        "{} ({}): {}, in flight {}, fired {}, failed {}",
        field(view, "id"),
        field(view, "kind"),
        field(view, "state"),
        field(view, "inFlight"),
        field(view, "fired"),
        field(view, "failed")
    ));
    if (!view.contains("whyNot")) return;
    for (auto reason : view.at("whyNot")) {
        const auto arc = field(reason, "arc");
        const auto words = field(reason, "reason");
        reason.erase("arc");
        reason.erase("reason");
        print(fmt::format(
            "  {}{}{}",
            arc.empty() ? "" : "arc '" + arc + "': ",
            words,
            reason.empty() ? "" : " " + in_short(reason)
        ));
    }
}

Outcome<Exit> show_transition(Context& context, const TransitionOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const bool one = !options.transition.empty();
    const auto target =
        one ? model_target(
                  context.model_name(), {"nets", options.net, "transitions", options.transition}
              )
            : model_target(context.model_name(), {"nets", options.net, "transitions"});
    const auto answer = master->get(target);
    return show_answer(context, answer, [&](const Json& view) {
        if (one) {
            print_transition(view);
            return;
        }
        for (const auto& item : view.at("items"))
            print_transition(item);
    });
}

Outcome<Exit> list_operations(Context& context, const PageOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("limit", options.limit).add_given("cursor", options.cursor);
    const auto answer =
        master->get(model_target(context.model_name(), {"operations"}) + query.text());
    return show_answer(context, answer, [](const Json& page) {
        Table table(
            {"OPERATION", "NET", "TRANSITION", "STATE", "TOOL", "ATTEMPT", "CASE", "EXECUTOR"}
        );
        for (const auto& item : page.at("items")) {
            table.add_fields(
                item, {"id", "net", "transition", "state", "toolId", "attempt", "case", "executor"}
            );
        }
        table.print();
        if (page.contains("next")) print("more: --cursor " + field(page, "next"));
    });
}

Outcome<Exit> show_operation(Context& context, const IdOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->get(model_target(context.model_name(), {"operations", options.id}));
    return show_answer(context, answer, &print_fields);
}

Outcome<Exit> abandon(Context& context, const IdOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->post(
        model_target(context.model_name(), {"operations", options.id, "abandon"}),
        base::canonical(Json{{"reason", options.reason}})
    );
    if (!answer) return std::unexpected(answer.error());
    print(context.json ? *answer : fmt::format("operation {} is abandoned", options.id));
    return Exit::good;
}

Outcome<Exit> list_dead(Context& context, const PageOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("limit", options.limit).add_given("cursor", options.cursor);
    const auto answer =
        master->get(model_target(context.model_name(), {"dead-letters"}) + query.text());
    return show_answer(context, answer, [](const Json& page) {
        Table table({"DEAD LETTER", "CASE", "SINCE", "DATA"});
        for (const auto& item : page.at("items"))
            table.add(
                {field(item, "id"),
                 field(item, "case"),
                 field(item, "at"),
                 in_short(item.at("data"))}
            );
        table.print();
        if (page.contains("next")) print("more: --cursor " + field(page, "next"));
    });
}

Outcome<Exit> settle_dead(Context& context, const std::string& id, std::string_view act) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer =
        master->post(model_target(context.model_name(), {"dead-letters", id, act}), "");
    if (!answer) return std::unexpected(answer.error());
    const auto* done = act == "drop" ? "is dropped" : "goes back to where its tokens were";
    print(context.json ? *answer : fmt::format("dead letter {} {}", id, done));
    return Exit::good;
}
Outcome<Exit> redrive(Context& context, const IdOptions& options) {
    return settle_dead(context, options.id, "redrive");
}
Outcome<Exit> drop(Context& context, const IdOptions& options) {
    return settle_dead(context, options.id, "drop");
}

Outcome<Exit> executors(Context& context, const NoOptions& /*options*/) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->get("/api/executors");
    return show_answer(context, answer, [](const Json& page) {
        Table table({"EXECUTOR", "STATE", "SLOTS", "RUNNING", "LAST SEEN", "LABELS"});
        for (const auto& item : page.at("items")) {
            table.add(
                {field(item, "id"),
                 field(item, "state"),
                 field(item, "slots"),
                 std::to_string(item.at("running").size()),
                 field(item, "lastSeen"),
                 field(item, "labels")}
            );
        }
        table.print();
    });
}

}  // namespace

void add_transition(CLI::App& app, Context& context) {
    auto& group = add_group(app, "transition", "Transitions of a net");
    add_command<TransitionOptions>(
        group,
        {"show", "State of a transition, and why it does not fire"},
        context,
        &declare_transition,
        &show_transition
    );
    add_firing(group, context);
}

void add_operation(CLI::App& app, Context& context) {
    auto& group = add_group(app, "operation", "Operations: firings that have an effect outside");
    add_command<PageOptions>(
        group, {"list", "Operations that are not over"}, context, &declare_page, &list_operations
    );
    add_command<IdOptions>(group, {"show", "One operation"}, context, &declare_id, &show_operation);
    add_command<IdOptions>(
        group,
        {"abandon", "End one whose outcome nobody knows"},
        context,
        &declare_abandon,
        &abandon
    );
}

void add_dead_letter(CLI::App& app, Context& context) {
    auto& group = add_group(app, "dead-letter", "What failed and had no way to go");
    add_command<PageOptions>(group, {"list", "Dead letters"}, context, &declare_page, &list_dead);
    add_command<IdOptions>(
        group, {"redrive", "Put its tokens back to where they were"}, context, &declare_id, &redrive
    );
    add_command<IdOptions>(group, {"drop", "Give it up"}, context, &declare_id, &drop);
}

void add_executors(CLI::App& app, Context& context) {
    add_command<NoOptions>(
        app,
        {"executors", "Executors and what they hold", Takes::master},
        context,
        &declare_nothing,
        &executors
    );
}

}  // namespace cli
