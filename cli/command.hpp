#pragma once

#include "base/log.hpp"
#include "cli/context.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

namespace cli {

/// What a subcommand takes beside its own options.
enum class Takes : std::uint8_t {
    daemon,   ///< only its own; it writes a diary
    nothing,  ///< only --json
    master,   ///< also --data
    model,    ///< also --data and --model
};

struct CommandName {
    std::string name;
    std::string description;
    Takes takes = Takes::model;
};

void add_common_options(CLI::App& command, Context& context, Takes takes);

/// A subcommand: `declare` says which options it has, `run` does its work with what was given.
template <class Options>
void add_command(
    CLI::App& parent,
    const CommandName& command,
    Context& context,
    void (*declare)(CLI::App&, Options&),
    Outcome<Exit> (*run)(Context&, const Options&)
) {
    auto options = std::make_shared<Options>();  // shared: CLI11 copies callbacks
    CLI::App* app = parent.add_subcommand(command.name, command.description);
    declare(*app, *options);
    add_common_options(*app, context, command.takes);
    app->callback([&context, options, run, takes = command.takes] {
        if (takes != Takes::daemon) base::log_quietly();
        context.finish(run(context, *options));
    });
}

/// Of a subcommand that has no options of its own.
struct NoOptions {};
inline void declare_nothing(CLI::App& /*app*/, NoOptions& /*options*/) {}

/// A word that only groups subcommands, such as `net`.
CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& description);

void add_archive(CLI::App& app, Context& context);
void add_audit(CLI::App& app, Context& context);
void add_backup(CLI::App& app, Context& context);
void add_blob(CLI::App& app, Context& context);
void add_case(CLI::App& app, Context& context);
void add_dead_letter(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_events(CLI::App& app, Context& context);
void add_executor(CLI::App& app, Context& context);
void add_executors(CLI::App& app, Context& context);
void add_firing(CLI::App& group, Context& context);  ///< into `transition`
void add_net(CLI::App& app, Context& context);
/// The part of `net` that needs no master: check, pnml.
void add_net_check(CLI::App& group, Context& context);
void add_operation(CLI::App& app, Context& context);
void add_pause(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_schema(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_token(CLI::App& app, Context& context);
void add_tool(CLI::App& app, Context& context);
void add_transition(CLI::App& app, Context& context);
void add_work(CLI::App& app, Context& context);

}  // namespace cli
