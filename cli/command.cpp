#include "cli/command.hpp"

namespace cli {

void add_common_options(CLI::App& command, Context& context, Takes takes) {
    if (takes == Takes::daemon) return;
    command.add_flag("--json", context.json, "Results and errors as JSON");
    if (takes == Takes::nothing) return;
    command.add_option(
        "--data", context.data, "Data directory of a master on this machine, to find it by"
    );
    if (takes == Takes::model) {
        command.add_option("--model", context.model, "The model meant (default: default)");
    }
}

CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& description) {
    CLI::App* group = parent.add_subcommand(name, description);
    group->require_subcommand(1);
    return *group;
}

}  // namespace cli
