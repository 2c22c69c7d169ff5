#include "base/clock.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/inline_data.hpp"
#include "cli/table.hpp"
#include "cli/wait.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace cli {

namespace {

using base::Json;

// A master holds one request no longer than this; longer waits are several.
constexpr auto wait_at_once_max = base::seconds(25);

struct StartOptions {
    std::string net;
    InlineData given;
    Wait wait;
};

void declare_start(CLI::App& app, StartOptions& options) {
    app.add_option("NET", options.net, "Name of the net")->required();
    declare_inline_data(app, options.given);
    declare_wait(app, options.wait, "the end of the case");
}

struct CaseOptions {
    std::string id;
    Wait wait;
};
void declare_case(CLI::App& app, CaseOptions& options) {
    app.add_option("ID", options.id, "The case, such as c42")->required();
}
void declare_show(CLI::App& app, CaseOptions& options) {
    declare_case(app, options);
    declare_wait(app, options.wait, "the end of the case");
}

struct ListOptions {
    std::string net;
    std::string state;
    std::string limit;
    std::string cursor;
};
void declare_list(CLI::App& app, ListOptions& options) {
    app.add_option("--net", options.net, "Only of this net");
    app.add_option("--state", options.state, "running, waiting, completed, failed or cancelled");
    app.add_option("--limit", options.limit, "At most so many");
    app.add_option("--cursor", options.cursor, "Go on after the page that named it");
}

bool over(const Json& value) {
    const auto state = field(value, "state");
    return state == "completed" || state == "failed" || state == "cancelled";
}

void print_case(const Json& value) {
    print(fmt::format(
        "case {} of net '{}' is {}", field(value, "id"), field(value, "net"), field(value, "state")
    ));
    for (const char* list : {"end", "left", "deadLetters"}) {
        for (const auto& token : value.at(list)) {
            const auto held = field(token, "reservedBy");
            print(fmt::format(
                "  {} on '{}'{}: {}",
                field(token, "id"),
                field(token, "place"),
                held.empty() ? "" : ", held by " + held,
                in_short(token.at("data"))
            ));
        }
    }
    for (const auto& operation : value.at("operations")) {
        auto line = fmt::format(
            "  operation {} of '{}' is {}",
            field(operation, "id"),
            field(operation, "transition"),
            field(operation, "state")
        );
        if (!field(operation, "toolId").empty()) line += ", tool " + field(operation, "toolId");
        if (operation.contains("error") && operation.at("error").is_object()) {
            line += ": " + field(operation.at("error"), "message");
        }
        print(line);
    }
    const auto net = field(value, "net");
    const bool open = field(value, "state") == "running" || field(value, "state") == "waiting";
    if (open)
        print(fmt::format("what each transition waits for: netwright transition show {}", net));
}

// Prints the case as it is and says what that means for who waited for it.
Outcome<Exit> tell(const Context& context, const std::string& answer, bool waited) {
    const auto value = parsed(answer);
    if (!value) return std::unexpected(value.error());
    if (context.json) {
        print(answer);
    } else {
        print_case(*value);
    }
    const auto state = field(*value, "state");
    if (state == "failed" || (waited && state == "cancelled")) return Exit::negative;
    return waited && !over(*value) ? Exit::waited : Exit::good;
}

// Asks for the case until it is over or the wait has run out.
Outcome<std::string> await_case(
    MasterClient& master, const std::string& target, base::Duration wait
) {
    const auto& clock = base::system_clock();
    const auto deadline = clock.elapsed() + wait;
    while (true) {
        const auto left = std::max(deadline - clock.elapsed(), base::Duration{});
        const auto at_once = base::milliseconds(std::min(left, wait_at_once_max).ms());
        const auto query = at_once.us > 0 ? "?wait=" + base::text(at_once) : "";
        auto answer = master.get(target + query, at_once);
        if (!answer || at_once.us == 0) return answer;
        const auto value = parsed(*answer);
        if (!value) return std::unexpected(value.error());
        if (over(*value)) return answer;
    }
}

Outcome<Exit> start(Context& context, const StartOptions& options) {
    const auto wait = options.wait.duration();
    if (!wait) return std::unexpected(wait.error());
    const auto values = inline_values(options.given);
    if (!values) return std::unexpected(values.error());
    if (values->size() > 1) return wrong_usage("a case has one input, and more are given");
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto input = values->empty() ? Json::object() : values->front();
    auto answer = master->post(
        model_target(context.model_name(), {"nets", options.net, "cases"}), base::canonical(input)
    );
    if (!answer) return std::unexpected(std::move(answer.error()));
    if (options.wait.given()) {
        const auto started = parsed(*answer);
        if (!started) return std::unexpected(started.error());
        const auto id = field(*started, "id");
        // Said before the wait: who interrupts it still knows which case runs.
        if (!context.json) print(fmt::format("case {} is started", id));
        std::fflush(stdout);
        answer = await_case(*master, model_target(context.model_name(), {"cases", id}), *wait);
        if (!answer) return std::unexpected(std::move(answer.error()));
    }
    return tell(context, *answer, options.wait.given());
}

Outcome<Exit> show(Context& context, const CaseOptions& options) {
    const auto wait = options.wait.duration();
    if (!wait) return std::unexpected(wait.error());
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer =
        await_case(*master, model_target(context.model_name(), {"cases", options.id}), *wait);
    if (!answer) return std::unexpected(answer.error());
    const auto exit = tell(context, *answer, options.wait.given());
    // A look without a wait succeeds, whatever the state of the case.
    return exit && !options.wait.given() ? Outcome<Exit>(Exit::good) : exit;
}

Outcome<Exit> list(Context& context, const ListOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("net", options.net)
        .add_given("state", options.state)
        .add_given("limit", options.limit)
        .add_given("cursor", options.cursor);
    const auto answer = master->get(model_target(context.model_name(), {"cases"}) + query.text());
    return show_answer(context, answer, [](const Json& page) {
        Table table({"CASE", "NET", "VERSION", "STATE", "END", "LEFT", "DEAD LETTERS"});
        for (const auto& value : page.at("items")) {
            table.add(
                {field(value, "id"),
                 field(value, "net"),
                 field(value, "version"),
                 field(value, "state"),
                 std::to_string(value.at("end").size()),
                 std::to_string(value.at("left").size()),
                 std::to_string(value.at("deadLetters").size())}
            );
        }
        table.print();
        if (page.contains("next")) print("more: --cursor " + field(page, "next"));
    });
}

Outcome<Exit> cancel(Context& context, const CaseOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer =
        master->post(model_target(context.model_name(), {"cases", options.id, "cancel"}), "");
    if (!answer) return std::unexpected(answer.error());
    print(context.json ? *answer : fmt::format("case {} is cancelled", options.id));
    return Exit::good;
}

}  // namespace

void add_case(CLI::App& app, Context& context) {
    auto& group = add_group(app, "case", "Cases: runs of nets");
    add_command<StartOptions>(group, {"start", "Start a case"}, context, &declare_start, &start);
    add_command<CaseOptions>(group, {"show", "One case"}, context, &declare_show, &show);
    add_command<ListOptions>(
        group, {"list", "Cases, the oldest first"}, context, &declare_list, &list
    );
    add_command<CaseOptions>(
        group,
        {"cancel", "Cancel a case, down to its running processes"},
        context,
        &declare_case,
        &cancel
    );
}

}  // namespace cli
