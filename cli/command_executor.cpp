#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/stop_on_signal.hpp"
#include "executor/executor.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace cli {

namespace {

struct ExecutorOptions {
    std::string master;
    std::string token_file;
    std::string data;
    std::string work;
    std::int64_t slots = 1;
    std::vector<std::string> labels;
    std::string id;
    std::string ca_file;
    bool allow_unsandboxed = false;
};

void declare_executor(CLI::App& app, ExecutorOptions& options) {
    app.add_option("--master", options.master, "URL of the master");
    app.add_option("--token-file", options.token_file, "File with the executor token");
    app.add_option(
        "--data", options.data, "Directory of a master on this machine: its URL and token"
    );
    app.add_option("--work", options.work, "Directory to work in, made when absent");
    app.add_option("--slots", options.slots, "Jobs at a time")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_option("--label", options.labels, "k=v, as often as there are labels");
    app.add_option("--id", options.id, "Its name (default: kept in the work directory)");
    app.add_option("--ca", options.ca_file, "PEM file: trusted instead of the system's");
    app.add_flag(
        "--allow-unsandboxed",
        options.allow_unsandboxed,
        "Run jobs even where no sandbox works: only for tools that you trust like yourself"
    );
}

Outcome<std::map<std::string, std::string>> labels_of(const std::vector<std::string>& texts) {
    std::map<std::string, std::string> labels;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return wrong_usage(fmt::format("--label '{}' is no label", text), "write it as k=v");
        }
        if (!labels.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
            return wrong_usage(fmt::format("label '{}' is given twice", text.substr(0, equals)));
        }
    }
    return labels;
}

Outcome<std::string> url_in(const std::filesystem::path& data) {
    constexpr std::size_t endpoint_bytes_max = 4096;
    const auto text = base::read_file(data / "endpoint.json", endpoint_bytes_max);
    if (!text) {
        return std::unexpected(Failure{
            {base::ErrorCode::upstream,
             fmt::format("no master has left its address in {}", data.string()),
             "start one: netwright serve; or give --master and --token-file",
             {}},
            Exit::unreachable
        });
    }
    const auto endpoint = base::parse_json(*text);
    if (!endpoint || !endpoint->is_object() || !endpoint->contains("url")) {
        return wrong_usage((data / "endpoint.json").string() + " is not what a master writes");
    }
    return endpoint->at("url").get<std::string>();
}

Outcome<executor::Options> worker_options(const ExecutorOptions& options) {
    executor::Options worker;
    const bool local = options.master.empty();
    if (local && !options.token_file.empty()) {
        return wrong_usage("--token-file needs --master", "or give only --data");
    }
    if (!local && options.token_file.empty() && options.data.empty()) {
        return wrong_usage("--master needs --token-file");
    }
    const auto data = options.data.empty() ? default_data() : std::filesystem::path(options.data);
    worker.master = options.master;
    if (local) {
        auto url = url_in(data);
        if (!url) return std::unexpected(std::move(url.error()));
        worker.master = std::move(*url);
    }
    worker.token_file = options.token_file.empty() ? data / "executor.token"
                                                   : std::filesystem::path(options.token_file);
    if (options.work.empty() && !local) return wrong_usage("--work DIR is needed");
    worker.work = options.work.empty() ? data / "executor" : std::filesystem::path(options.work);
    worker.slots = options.slots;
    auto labels = labels_of(options.labels);
    if (!labels) return std::unexpected(std::move(labels.error()));
    worker.labels = std::move(*labels);
    if (!options.id.empty()) worker.id = options.id;
    if (!options.ca_file.empty()) worker.ca_file = options.ca_file;
    worker.allow_unsandboxed = options.allow_unsandboxed;
    return worker;
}

Outcome<Exit> run_executor(Context& /*context*/, const ExecutorOptions& options) {
    const auto worker = worker_options(options);
    if (!worker) return std::unexpected(worker.error());
    // The work folder is private; what a job makes has the same mode wherever the executor runs.
    ::umask(022);
    const StopOnSignal stop;
    auto ended = executor::run(*worker, stop.signal());
    if (!ended) return failed(std::move(ended.error()));
    return Exit::good;
}

}  // namespace

void add_executor(CLI::App& app, Context& context) {
    add_command<ExecutorOptions>(
        app,
        {"executor", "Run a worker, which makes outbound connections only", Takes::daemon},
        context,
        &declare_executor,
        &run_executor
    );
}

}  // namespace cli
