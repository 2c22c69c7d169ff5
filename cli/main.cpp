#include "cli/command.hpp"
#include "cli/usage.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <span>
#include <string_view>

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
    cli::add_run(app, context);
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
    // A write beyond `ulimit -f` is refused like one to a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    cli::Context context;
    CLI::App app{"Event-sourced Petri-net workflows whose tools are tokens", "netwright"};
    app.require_subcommand(1);
    app.set_version_flag("--version", "netwright " NETWRIGHT_VERSION);
    add_subcommands(app, context);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        // The parse stopped before the flag was stored, or on a subcommand that does not exist.
        const std::span<char*> words(argv, static_cast<std::size_t>(argc));
        context.json =
            std::ranges::any_of(words, [](std::string_view word) { return word == "--json"; });
        context.report(cli::usage_error(app, error));
        return static_cast<int>(cli::Exit::usage);
    }
    std::fflush(stdout);
    return static_cast<int>(context.exit);
}
