#include "base/clock.hpp"
#include "base/length.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "cli/executor_process.hpp"
#include "cli/listen_address.hpp"
#include "cli/stop_on_signal.hpp"
#include "server/master.hpp"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace cli {

namespace {

constexpr auto lease_max = base::seconds(86'400);

struct ServeOptions {
    std::string data;
    std::string listen = "127.0.0.1:7117";
    std::string lease = "30s";
    std::string durability = "sync";
    bool with_executor = false;
    std::int64_t slots = 2;
    bool allow_unsandboxed = false;
    std::string certificate;
    std::string key;
};

void declare_serve(CLI::App& app, ServeOptions& options) {
    app.add_option("--data", options.data, "Directory of log and blobs, made when absent");
    app.add_option("--listen", options.listen, "HOST:PORT; port 0 takes a free one")
        ->capture_default_str();
    app.add_option("--lease", options.lease, "Time to live of an executor's lease")
        ->capture_default_str();
    app.add_option(
           "--durability", options.durability, "sync, or relaxed: no sync, for experiments only"
    )
        ->check(CLI::IsMember({"sync", "relaxed"}))
        ->capture_default_str();
    app.add_flag("--with-executor", options.with_executor, "Run an executor beside the master");
    app.add_option("--slots", options.slots, "Jobs at a time of that executor")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_flag(
        "--allow-unsandboxed",
        options.allow_unsandboxed,
        "For that executor: see netwright executor"
    );
    auto* certificate = app.add_option("--tls-cert", options.certificate, "PEM file: the chain");
    auto* key = app.add_option("--tls-key", options.key, "PEM file: the private key");
    certificate->needs(key);
    key->needs(certificate);
}

Outcome<server::Master::Options> master_options(const ServeOptions& options) {
    auto address = parse_listen_address(options.listen);
    if (!address) return wrong_usage(std::move(address.error()));
    const auto lease = base::length_within(options.lease, {base::milliseconds(1), lease_max});
    if (!lease) return wrong_usage("--lease " + lease.error().message);
    server::Master::Options master;
    master.data = options.data.empty() ? default_data() : std::filesystem::path(options.data);
    master.host = std::move(address->host);
    master.port = address->port;
    master.lease = *lease;
    master.durability =
        options.durability == "sync" ? engine::Durability::sync : engine::Durability::relaxed;
    if (!options.certificate.empty()) {
        master.tls = http::TlsFiles{options.certificate, options.key};
    }
    return master;
}

std::vector<std::string> executor_arguments(
    const ServeOptions& options, const std::filesystem::path& data, const std::string& url
) {
    std::vector<std::string> arguments = {
        "executor",
        "--master",
        url,
        "--data",
        data.string(),
        "--work",
        (data / "executor").string(),
        "--slots",
        std::to_string(options.slots)
    };
    if (options.allow_unsandboxed) arguments.emplace_back("--allow-unsandboxed");
    if (!options.certificate.empty()) {
        arguments.insert(arguments.end(), {"--ca", options.certificate});
    }
    return arguments;
}

void wait_for_stop(const StopOnSignal& stop, ExecutorProcess* executor) {
    constexpr int look_after_ms = 1000;
    while (true) {
        pollfd waited{stop.descriptor(), POLLIN, 0};
        const int ready = ::poll(&waited, 1, executor == nullptr ? -1 : look_after_ms);
        if (ready > 0) return;
        if (ready == 0 && executor != nullptr) executor->look_after();
    }
}

Outcome<Exit> serve(Context& /*context*/, const ServeOptions& options) {
    auto master_for = master_options(options);
    if (!master_for) return std::unexpected(std::move(master_for.error()));
    // Records and blobs hold what the workflows work on.
    ::umask(077);
    const StopOnSignal stop;
    std::error_code ignored;
    const bool fresh = !std::filesystem::exists(master_for->data / "log", ignored);
    auto master = server::Master::start(*master_for);
    if (!master) return failed(std::move(master.error()));
    // A path with a typing error would otherwise look like a master that lost everything.
    if (fresh) base::log_info("new data directory " + master_for->data.string());
    if (master_for->durability == engine::Durability::relaxed) {
        base::log_warning("durability is relaxed: a crash of the machine loses what was answered");
    }
    print("listening on " + (*master)->url());
    std::fflush(stdout);
    {
        std::optional<ExecutorProcess> executor;
        if (options.with_executor) {
            executor.emplace(executor_arguments(options, master_for->data, (*master)->url()));
            if (auto started = executor->start(); !started) {
                return failed(std::move(started.error()));
            }
        }
        wait_for_stop(stop, executor ? &*executor : nullptr);
        base::log_info("stopping");
    }
    (*master)->stop();
    return Exit::good;
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
    add_command<ServeOptions>(
        app,
        {"serve", "Run the master: engine, catalog, blobs and API", Takes::daemon},
        context,
        &declare_serve,
        &serve
    );
}

}  // namespace cli
