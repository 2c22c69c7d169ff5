#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "http/target.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <utility>

/// What the runs of tools and commands printed.
namespace cli {

namespace {

using base::Json;

struct LogsOptions {
    std::string operation;
    std::int64_t attempt = 0;
    std::string stream;
};
void declare_logs(CLI::App& app, LogsOptions& options) {
    app.add_option("OPERATION", options.operation, "As its case shows it")->required();
    app.add_option("--attempt", options.attempt, "That attempt (default: the last that printed)")
        ->check(CLI::PositiveNumber);
    app.add_option("--stream", options.stream, "Only stdout, or only stderr")
        ->check(CLI::IsMember({"stdout", "stderr"}));
}

void tell(const std::string& line) {
    // Nobody may be listening.
    (void)base::write_all(STDERR_FILENO, "netwright: " + line + "\n");
}

// All bytes of a stream as the job wrote them, or as many as were kept: then it says so.
Outcome<void> write_stream(
    MasterClient& master, const Json& output, const std::string& name, int to
) {
    if (!output.contains(name)) return {};
    if (output.contains(name + "Urn")) {
        const auto target =
            "/api/blobs/" + http::percent_encode(output.at(name + "Urn").get<std::string>());
        auto done = master.download(target, [&](std::string_view bytes) {
            return base::write_all(to, bytes);
        });
        if (!done) return done;
    } else if (auto written = base::write_all(to, output.at(name).get<std::string>()); !written) {
        return failed(std::move(written.error()));
    }
    if (output.contains(name + "BytesTotal")) {
        tell(fmt::format(
            "{} was cut: of {} bytes the first {} and the last were kept, {} in all",
            name,
            field(output, (name + "BytesTotal").c_str()),
            field(output, (name + "BytesHead").c_str()),
            field(output, (name + "Bytes").c_str())
        ));
    }
    return {};
}

// The attempt that was asked for, else the last one that printed something.
const Json* chosen(const Json& attempts, std::int64_t wanted) {
    const Json* found = nullptr;
    for (const auto& attempt : attempts) {
        if (!attempt.contains("output")) continue;
        if (wanted == 0 ? attempt.at("outcome") != "late" : attempt.at("attempt") == wanted)
            found = &attempt;
    }
    return found;
}

Outcome<Exit> show_logs(Context& context, const LogsOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer =
        master->get(model_target(context.model_name(), {"operations", options.operation, "output"})
        );
    if (!answer) return std::unexpected(answer.error());
    if (context.json) {
        print(*answer);
        return Exit::good;
    }
    const auto view = parsed(*answer);
    if (!view) return std::unexpected(view.error());
    const Json* attempt = chosen(view->at("attempts"), options.attempt);
    if (attempt == nullptr) {
        return failed(
            {base::ErrorCode::not_found,
             fmt::format(
                 "nothing is known of what operation {} printed: it is {}",
                 options.operation,
                 field(*view, "state")
             ),
             "netwright run logs --json shows its attempts",
             {}}
        );
    }
    for (const auto& [name, to] :
         {std::pair{"stdout", STDOUT_FILENO}, std::pair{"stderr", STDERR_FILENO}}) {
        if (!options.stream.empty() && options.stream != name) continue;
        auto done = write_stream(
            *master, attempt->at("output"), name, options.stream.empty() ? to : STDOUT_FILENO
        );
        if (!done) return std::unexpected(std::move(done.error()));
    }
    return Exit::good;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
    auto& group = add_group(app, "run", "Runs of tools and commands");
    add_command<LogsOptions>(
        group,
        {"logs", "What a run printed: stdout to stdout, stderr to stderr"},
        context,
        &declare_logs,
        &show_logs
    );
}

}  // namespace cli
