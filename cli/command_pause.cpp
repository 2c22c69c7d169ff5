#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace cli {

namespace {

using base::Json;

struct PauseOptions {
    std::string net;
    std::string transition;
};
void declare_pause(CLI::App& app, PauseOptions& options) {
    auto* net = app.add_option("NET", options.net, "Only this net (default: the whole model)");
    app.add_option("TRANSITION", options.transition, "Only this transition of it")->needs(net);
}
void declare_one(CLI::App& app, PauseOptions& options) {
    app.add_option("NET", options.net, "Name of the net")->required();
    app.add_option("TRANSITION", options.transition, "Its transition")->required();
}

std::string target_of(const Context& context, const PauseOptions& options, std::string_view verb) {
    const auto model = context.model_name();
    if (options.net.empty()) return model_target(model, {verb});
    if (options.transition.empty()) return model_target(model, {"nets", options.net, verb});
    return model_target(model, {"nets", options.net, "transitions", options.transition, verb});
}

std::string named(const Context& context, const PauseOptions& options) {
    if (options.net.empty()) return fmt::format("model '{}'", context.model_name());
    if (options.transition.empty()) return fmt::format("net '{}'", options.net);
    return fmt::format("transition '{}' of net '{}'", options.transition, options.net);
}

Outcome<Exit> act(
    Context& context, const PauseOptions& options, std::string_view verb, std::string_view done
) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->post(target_of(context, options, verb), "");
    if (!answer) return std::unexpected(answer.error());
    print(context.json ? *answer : fmt::format("{} {}", named(context, options), done));
    return Exit::good;
}

Outcome<Exit> pause(Context& context, const PauseOptions& options) {
    return act(context, options, "pause", "is paused; firings in flight go on");
}
Outcome<Exit> resume(Context& context, const PauseOptions& options) {
    return act(context, options, "resume", "is no longer paused by itself");
}
Outcome<Exit> fire(Context& context, const PauseOptions& options) {
    return act(context, options, "fire", "fired once");
}

Outcome<Exit> try_once(Context& context, const PauseOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->post(target_of(context, options, "dry-run"), "");
    return show_answer(context, answer, [&](const Json& view) {
        for (const auto& [alias, tokens] : view.at("binding").items()) {
            for (const auto& token : tokens)
                print(fmt::format(
                    "takes '{}' {} {}", alias, field(token, "id"), in_short(token.at("data"))
                ));
        }
        for (const auto& token : view.value("produces", Json::array()))
            print(fmt::format("makes '{}' {}", field(token, "place"), in_short(token.at("data"))));
        for (const char* name : {"input", "error", "waits"})
            if (view.contains(name)) print(fmt::format("{} {}", name, in_short(view.at(name))));
        print("nothing was changed");
    });
}

}  // namespace

void add_pause(CLI::App& app, Context& context) {
    add_command<PauseOptions>(
        app,
        {"pause", "Hold back new firings of a model, a net or a transition"},
        context,
        &declare_pause,
        &pause
    );
    add_command<PauseOptions>(
        app, {"resume", "Let go what was paused"}, context, &declare_pause, &resume
    );
}

void add_firing(CLI::App& group, Context& context) {
    add_command<PauseOptions>(
        group, {"fire", "Fire a transition once, paused or not"}, context, &declare_one, &fire
    );
    add_command<PauseOptions>(
        group,
        {"try", "What its next firing would take and make; changes nothing"},
        context,
        &declare_one,
        &try_once
    );
}

}  // namespace cli
