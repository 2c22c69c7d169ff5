#include "server/master.hpp"

#include "base/files.hpp"
#include "base/log.hpp"
#include "blobstore/file_store.hpp"
#include "catalog/builtin_ids.hpp"
#include "engine/data_directory.hpp"
#include "server/answers.hpp"
#include "server/api.hpp"
#include "server/auth.hpp"
#include "server/executor_keys.hpp"
#include "server/idempotency.hpp"
#include "server/open_files.hpp"
#include "server/openapi.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <unistd.h>
#include <utility>

namespace server {

using base::fail;
using base::Json;
using base::Result;

/// In the order in which they are made; they end the other way round.
struct Master::Parts {
    explicit Parts(engine::DataDirectory opened) : directory(std::move(opened)) {}

    engine::DataDirectory directory;
    std::unique_ptr<blobstore::FileStore> blobs;
    std::unique_ptr<engine::EventLog> log;
    std::unique_ptr<engine::SnapshotStore> snapshots;
    catalog::Catalog catalog;
    std::unique_ptr<transitions::Dispatcher> dispatcher;
    std::unique_ptr<engine::Engine> engine;
    std::unique_ptr<ExecutorKeys> executor_keys;
    std::unique_ptr<base::WorkerPool> workers;
    std::unique_ptr<base::WorkerPool> checks;
    std::unique_ptr<Answers> answers;
    std::unique_ptr<Api> api;
    http::Router router;
    std::unique_ptr<http::Server> http;
    bool stopped = false;
};

namespace {

// The tool that measures: an executor answers it itself.
Json noop_entry() {
    return {
        {"id", catalog::builtin_tool_ids.front()},
        {"name", "No operation"},
        {"description", "Does nothing: answers its arguments. For measuring."},
        {"status", "approved"},
        {"lifecycle", "active"},
        {"capabilities", Json::array()},
        {"contract", {{"type", "script-io"}}},
        {"binding", {{"type", "builtin"}, {"function", "noop"}}},
        {"effect", "pure"},
        {"deterministic", true},
        {"approval", "none"},
        {"caps",
         {{"wallMs", 30'000},
          {"cpuMs", 10'000},
          {"memoryMb", 512},
          {"pids", 64},
          {"outputBytes", 4'194'304},
          {"artifactBytes", 67'108'864},
          {"cpus", 1},
          {"vramGb", 0}}},
        {"network", "deny"},
    };
}

Result<void> register_builtins(engine::Engine& engine, catalog::Catalog& catalog) {
    std::promise<Result<bool>> done;
    engine.write<bool>(
        catalog::global_model,
        {},
        [&catalog](engine::Model& open, const engine::Asker& asker) -> Result<bool> {
            static_assert(catalog::builtin_tool_ids.size() == 1, "each of them is registered here");
            const auto item = catalog.record(open, noop_entry(), std::nullopt, std::nullopt, asker);
            if (!item) return fail(item.error());
            return true;
        },
        {},
        [&done](Result<bool> result) { done.set_value(std::move(result)); }
    );
    auto result = done.get_future().get();
    if (!result) return fail(std::move(result.error()));
    return {};
}

Result<void> open_stores(const Master::Options& options, auto& parts) {
    auto blobs = blobstore::FileStore::open({.folder = parts.directory.blobs()});
    if (!blobs) return fail(std::move(blobs.error()));
    parts.blobs = std::move(*blobs);
    auto log = engine::open_rocks_log(
        parts.directory.log(), {.durability = options.durability, .blobs = parts.blobs.get()}
    );
    if (!log) return fail(std::move(log.error()));
    parts.log = std::move(*log);
    parts.snapshots = std::make_unique<engine::SnapshotStore>(parts.directory.snapshots());
    return {};
}

Result<void> open_engine(const Master::Options& options, auto& parts) {
    auto lease_key = token_of(parts.directory.lease_key_file());
    if (!lease_key) return fail(std::move(lease_key.error()));
    parts.dispatcher = std::make_unique<transitions::Dispatcher>(transitions::Dispatcher::Parts{
        .blobs = *parts.blobs,
        .catalog = parts.catalog,
        .clock = base::system_clock(),
        .executors_file = parts.directory.path() / "executors.json",
        .lease_key = std::move(*lease_key),
        .lease = options.lease,
    });
    parts.engine = std::make_unique<engine::Engine>(engine::Engine::Parts{
        .log = *parts.log,
        .snapshots = *parts.snapshots,
        .handler = *parts.dispatcher,
        .clock = base::system_clock(),
    });
    parts.dispatcher->attach(*parts.engine);
    if (const auto opened = parts.engine->open_all(); !opened) {
        base::log_error(opened.error().message);
        for (const auto& detail : opened.error().details)
            base::log_error(detail.pointer + ": " + detail.message);
    }
    // It is registered there already, and the other models run without it.
    if (parts.engine->stopped_by(catalog::global_model)) return {};
    return register_builtins(*parts.engine, parts.catalog);
}

Result<void> open_http(const Master::Options& options, auto& parts) {
    auto admin = token_of(parts.directory.admin_token_file());
    if (!admin) return fail(std::move(admin.error()));
    auto keys = ExecutorKeys::open(parts.directory.executor_keys_file(), base::system_clock());
    if (!keys) return fail(std::move(keys.error()));
    parts.executor_keys = std::move(*keys);
    parts.workers = std::make_unique<base::WorkerPool>(2);
    parts.checks = std::make_unique<base::WorkerPool>(1);
    auto answers = Answers::open(parts.directory.path() / "answers", {});
    if (!answers) return fail(std::move(answers.error()));
    parts.answers = std::move(*answers);
    parts.api = std::make_unique<Api>(
        *parts.engine,
        parts.catalog,
        *parts.dispatcher,
        *parts.blobs,
        *parts.workers,
        *parts.checks,
        *parts.snapshots,
        *parts.answers,
        *parts.executor_keys,
        options.durability == engine::Durability::sync ? "sync" : "relaxed"
    );
    Api& api = *parts.api;
    for (const auto add :
         {add_model_routes,
          add_net_routes,
          add_token_routes,
          add_case_routes,
          add_case_list_routes,
          add_operation_routes,
          add_work_routes,
          add_scheduling_routes,
          add_event_routes,
          add_catalog_routes,
          add_enrolment_routes,
          add_executor_routes,
          add_blob_routes,
          add_health_routes,
          add_audit_routes,
          add_backup_routes}) {
        add(parts.router, api);
    }
    parts.router.set_around(answer_once(api));
    parts.router.set_guard(guard_of(std::move(*admin), *parts.executor_keys));
    api.backups = parts.directory.path() / "backups";
    api.openapi = [document = openapi_document(parts.router)] { return document; };
    http::ServerLimits limits;
    limits.connections_max = connections_for(raise_open_files(), limits.connections_max);
    limits.peer_connections_max = std::max<std::size_t>(limits.connections_max / 2, 1);
    auto http = http::Server::start(
        {.host = options.host,
         .port = options.port,
         .tls = options.tls,
         .io_threads = 2,
         .limits = limits,
         .served =
             [&api](const http::Served&) { api.requests.fetch_add(1, std::memory_order_relaxed); }},
        parts.router
    );
    if (!http) return fail(std::move(http.error()));
    parts.http = std::move(*http);
    const Json endpoint = {{"url", parts.http->url()}, {"pid", ::getpid()}};
    return base::write_file_atomically(
        parts.directory.endpoint_file(), base::canonical(endpoint) + "\n"
    );
}

}  // namespace

Result<std::unique_ptr<Master>> Master::start(const Options& options) {
    auto directory = engine::DataDirectory::open(options.data);
    if (!directory) return fail(std::move(directory.error()));
    auto parts = std::make_unique<Parts>(std::move(*directory));
    // A leftover of a killed master would lead clients astray.
    std::error_code ignored;
    std::filesystem::remove(parts->directory.endpoint_file(), ignored);
    std::filesystem::remove_all(parts->directory.path() / "backups", ignored);
    if (auto done = open_stores(options, *parts); !done) return fail(std::move(done.error()));
    std::unique_ptr<Master> master(new Master(std::move(parts)));
    if (auto done = open_engine(options, *master->parts_); !done)
        return fail(std::move(done.error()));
    if (auto done = open_http(options, *master->parts_); !done)
        return fail(std::move(done.error()));
    return master;
}

Master::Master(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Master::~Master() {
    stop();
}

std::string Master::url() const {
    return parts_->http->url();
}

void Master::stop() {
    if (std::exchange(parts_->stopped, true)) return;
    if (parts_->http) parts_->http->stop(base::seconds(5));
    if (parts_->dispatcher) parts_->dispatcher->stop();
    if (parts_->engine) parts_->engine->stop();
    parts_->answers.reset();
    parts_->checks.reset();
    parts_->workers.reset();
    std::error_code ignored;
    std::filesystem::remove(parts_->directory.endpoint_file(), ignored);
}

}  // namespace server
