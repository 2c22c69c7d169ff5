#pragma once

#include "base/worker_pool.hpp"
#include "blobstore/store.hpp"
#include "catalog/catalog.hpp"
#include "engine/engine.hpp"
#include "http/await.hpp"
#include "http/message.hpp"
#include "http/router.hpp"
#include "http/status.hpp"
#include "transitions/dispatcher.hpp"

#include <atomic>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace server {

class Answers;
class ExecutorKeys;

/// Who a bearer token stands for.
enum class Principal : std::uint8_t { admin, executor };

/// What the routes work with. Outlives them.
struct Api {
    engine::Engine& engine;
    catalog::Catalog& catalog;
    transitions::Dispatcher& dispatcher;
    blobstore::Store& blobs;
    base::WorkerPool& workers;
    base::WorkerPool& checks;  ///< for checks of nets alone: they may compute for a while
    engine::SnapshotStore& snapshots;
    Answers& answers;
    ExecutorKeys& executor_keys;
    std::string durability;
    std::filesystem::path backups;  ///< where copies of the log are held
    std::function<std::string()> openapi;
    std::atomic<std::uint64_t> requests{0};
};

inline constexpr base::Duration wait_max = base::seconds(60);
inline constexpr std::size_t page_items_max = 1000;
inline constexpr std::size_t page_items_default = 100;

/// The name under which the caller's requests stand in the log.
std::string actor_of(const http::Request& request);
/// Who asks, and under which Idempotency-Key.
base::Result<engine::Asker> asker_of(const http::Request& request);

/// Text from outside as JSON; of more than `body_bytes_inline` on a worker, so that it holds up no
/// other request.
http::Task<base::Result<base::Json>> parse_body(Api& api, std::string_view text);
inline constexpr std::size_t body_bytes_inline = std::size_t{64} << 10U;
/// The body as JSON, taken out of the request: once.
http::Task<base::Result<base::Json>> json_body(Api& api, http::Request& request);

struct PageRequest {
    std::size_t limit = page_items_default;
    std::optional<std::string> cursor;
};
base::Result<PageRequest> page_of(const http::Request& request);
base::Result<std::optional<base::Duration>> wait_of(const http::Request& request);
/// `{"items": [...], "next": cursor}`; items are JSON texts.
std::string list_json(const std::vector<std::string>& items, std::optional<std::string> next = {});
base::Error malformed_cursor();
/// The id that the page's cursor names, to go on behind it; without a cursor none.
template <class Id>
base::Result<Id> cursor_of(const PageRequest& page, std::optional<Id> (*parse)(std::string_view)) {
    if (!page.cursor) return Id{};
    if (const auto id = parse(*page.cursor)) return *id;
    return base::fail(malformed_cursor());
}
base::Error unknown_model(std::string_view model);
/// A page of operations, from a map or set of them by id: what `view` shows (as JSON text, or
/// nothing) of those after `after`.
template <class Range, class View>
std::string list_operations_after(
    const Range& range, base::OperationId after, std::size_t limit, View&& view
) {
    std::vector<std::string> items;
    std::string last;
    for (auto at = range.upper_bound(after); at != range.end(); ++at) {
        std::optional<std::string> item = view(*at);
        if (!item) continue;
        if (items.size() == limit) return list_json(items, std::move(last));
        items.push_back(std::move(*item));
        if constexpr (requires { at->first; })
            last = text(at->first);
        else
            last = text(*at);
    }
    return list_json(items);
}
/// One of the words that a parameter may be, or "" where it is not given.
base::Result<std::string> word_of(
    const http::Request& request,
    std::string_view parameter,
    std::initializer_list<std::string_view> words
);

/// A parameter that must be an id; not_found when it is none (an id has one spelling).
template <class Id>
base::Result<Id> id_of(
    const http::Request& request,
    std::string_view name,
    std::optional<Id> (*parse)(std::string_view)
) {
    const auto id = parse(request.parameter(name));
    if (id) return *id;
    return base::fail(
        base::ErrorCode::not_found, "'" + request.parameter(name) + "' is no id of this kind"
    );
}

/// The model as it was right after record `seq`.
http::Task<base::Result<engine::Engine::Past>> model_after(
    Api& api, const std::string& model, base::Seq seq
);

/// What a decision gave, or the seq of the record that did the same request before.
template <class T>
struct Decided {
    std::optional<T> value;
    base::Seq before = 0;
};

/// engine::Engine::write as a coroutine. `again` looks at the model as it was when the request was
/// done the first time.
template <class T>
http::Task<base::Result<T>> write(
    Api& api,
    std::string model,
    engine::Asker asker,
    std::move_only_function<base::Result<T>(engine::Model&, const engine::Asker&)> decide,
    std::move_only_function<base::Result<T>(const engine::Model&, base::Seq)> again
) {
    using Result = base::Result<Decided<T>>;
    auto answer = co_await http::await_callback<Result>(
        http::WaitLimits{},
        [&](http::Completion<Result> done) {
            api.engine.write<Decided<T>>(
                model,
                std::move(asker),
                [decide = std::move(decide
                 )](engine::Model& open, const engine::Asker& who) mutable -> Result {
                    auto value = decide(open, who);
                    if (!value) return base::fail(std::move(value.error()));
                    return Decided<T>{std::move(*value), 0};
                },
                [](const engine::Model&, base::Seq before) -> Result {
                    return Decided<T>{std::nullopt, before};
                },
                [done](Result result) { done(std::move(result)); }
            );
        }
    );
    if (!answer)
        co_return base::fail(
            base::ErrorCode::overloaded, "the master is stopping", "try again later"
        );
    if (!*answer) co_return base::fail(std::move(answer->error()));
    if ((*answer)->value) co_return std::move(*(*answer)->value);
    const base::Seq before = (*answer)->before;
    const auto past = co_await model_after(api, model, before);
    if (!past) co_return base::fail(past.error());
    co_return again(**past, before);
}

/// The same for what cannot make a model: `not_found` when there is none.
template <class T>
http::Task<base::Result<T>> write_existing(
    Api& api,
    std::string model,
    engine::Asker asker,
    std::move_only_function<base::Result<T>(engine::Model&, const engine::Asker&)> decide,
    std::move_only_function<base::Result<T>(const engine::Model&, base::Seq)> again
) {
    if (api.engine.durable(model) == 0) {
        co_return base::fail(
            base::ErrorCode::not_found,
            "model '" + model + "' does not exist",
            "a first deployment makes it"
        );
    }
    co_return co_await write<T>(
        api, std::move(model), std::move(asker), std::move(decide), std::move(again)
    );
}

/// engine::Engine::read as a coroutine.
template <class T>
http::Task<base::Result<T>> read(
    Api& api, std::string model, std::move_only_function<base::Result<T>(const engine::Model&)> look
) {
    auto answer = co_await http::await_callback<base::Result<T>>(
        http::WaitLimits{},
        [&](http::Completion<base::Result<T>> done) {
            api.engine.read<T>(model, std::move(look), [done](base::Result<T> result) {
                done(std::move(result));
            });
        }
    );
    if (!answer)
        co_return base::fail(
            base::ErrorCode::overloaded, "the master is stopping", "try again later"
        );
    co_return std::move(*answer);
}

/// A record's seq, or the last one at or before an RFC 3339 time (0: none). Blocks. `parameter` is
/// for the error.
base::Result<base::Seq> seq_of(
    Api& api, const std::string& model, std::string_view parameter, const std::string& text
);

/// Looks at the model as it is, or with `?asOf=` (a seq or an RFC 3339 time) as it was.
http::Task<base::Result<std::string>> look(
    Api& api,
    const http::Request& request,
    std::move_only_function<base::Result<std::string>(const engine::Model&)> view
);

/// Runs blocking work on a pool.
template <class T>
http::Task<base::Result<T>> on_pool(
    base::WorkerPool& pool, std::move_only_function<base::Result<T>()> work
) {
    auto answer = co_await http::await_callback<base::Result<T>>(
        http::WaitLimits{},
        [&](http::Completion<base::Result<T>> done) {
            pool.post([work = std::move(work), done]() mutable { done(work()); });
        }
    );
    if (!answer)
        co_return base::fail(
            base::ErrorCode::overloaded, "the master is stopping", "try again later"
        );
    co_return std::move(*answer);
}

template <class T>
http::Task<base::Result<T>> on_worker(Api& api, std::move_only_function<base::Result<T>()> work) {
    co_return co_await on_pool<T>(api.workers, std::move(work));
}

/// 200 with the text, or the error.
http::Response respond(base::Result<std::string> text, int status = 200);
/// 201 with its Location.
http::Response created(base::Result<std::string> text, std::string location);

void add_model_routes(http::Router& router, Api& api);
void add_net_routes(http::Router& router, Api& api);
void add_token_routes(http::Router& router, Api& api);
void add_case_routes(http::Router& router, Api& api);
void add_case_list_routes(http::Router& router, Api& api);
void add_operation_routes(http::Router& router, Api& api);
void add_work_routes(http::Router& router, Api& api);
void add_scheduling_routes(http::Router& router, Api& api);
void add_event_routes(http::Router& router, Api& api);
void add_catalog_routes(http::Router& router, Api& api);
void add_enrolment_routes(http::Router& router, Api& api);
void add_executor_routes(http::Router& router, Api& api);
void add_blob_routes(http::Router& router, Api& api);
void add_health_routes(http::Router& router, Api& api);
void add_audit_routes(http::Router& router, Api& api);
void add_backup_routes(http::Router& router, Api& api);

}  // namespace server
