#include "cli/command.hpp"

#include <csignal>
#include <cstdio>

namespace {

void add_subcommands(CLI::App& app, cli::Context& context) {
    cli::add_serve(app, context);
    cli::add_executor(app, context);
    cli::add_net(app, context);
    cli::add_case(app, context);
    cli::add_token(app, context);
    cli::add_tool(app, context);
    cli::add_events(app, context);
    cli::add_transition(app, context);
    cli::add_pause(app, context);
    cli::add_work(app, context);
    cli::add_operation(app, context);
    cli::add_dead_letter(app, context);
    cli::add_executors(app, context);
    cli::add_archive(app, context);
    cli::add_audit(app, context);
    cli::add_blob(app, context);
    cli::add_backup(app, context);
    cli::add_eval(app, context);
    cli::add_schema(app, context);
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    cli::Context context;
    CLI::App app{"Event-sourced Petri-net workflows whose tools are tokens", "netwright"};
    app.require_subcommand(1);
    app.set_version_flag("--version", "netwright " NETWRIGHT_VERSION);
    add_subcommands(app, context);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int status = app.exit(error);  // prints the help or what is wrong
        return status == 0 ? 0 : static_cast<int>(cli::Exit::usage);
    }
    std::fflush(stdout);
    return static_cast<int>(context.exit);
}
