#include "http/range.hpp"
#include "jobs/routes.hpp"
#include "jobs/sync.hpp"
#include "server/api.hpp"
#include "server/executor_keys.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

http::Task<http::Response> sync_executor(Api& api, http::Request request) {
    const std::string executor = request.parameter("id");
    if (!jobs::routes::valid_executor_id(executor)) {
        co_return http::error_response(base::Error{
            ErrorCode::validation, fmt::format("'{}' is no name for an executor", executor), {}, {}
        });
    }
    const auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    auto said = jobs::sync_request_from_json(*body);
    if (!said) co_return http::error_response(said.error());
    if (said->introduction) {
        // What its enrolment says of it holds, whatever it says itself.
        for (auto& [name, value] : api.executor_keys.labels_of(executor))
            said->introduction->labels.insert_or_assign(name, std::move(value));
    }
    transitions::Ticket ticket = 0;
    auto reply = co_await http::await_callback<Result<jobs::SyncReply>>(
        http::WaitLimits{.at_most = jobs::sync_wait_max + base::seconds(10), .stop = request.stop},
        [&](http::Completion<Result<jobs::SyncReply>> done) {
            ticket = api.dispatcher.sync(
                executor,
                std::move(*said),
                [done](Result<jobs::SyncReply> answer) { done(std::move(answer)); }
            );
        }
    );
    if (!reply) {
        api.dispatcher.closed(ticket);
        co_return http::error_response(
            base::Error{ErrorCode::overloaded, "the master is stopping", "try again later", {}}
        );
    }
    if (!*reply) co_return http::error_response(reply->error());
    co_return http::json_response(200, jobs::to_json(**reply).dump());
}

Result<std::uint64_t> number_parameter(const http::Request& request, std::string_view name) {
    const auto text = request.query.one(name);
    if (!text) return fail(text.error());
    std::uint64_t value = 0;
    if (*text) {
        const auto [end, error] =
            std::from_chars((*text)->data(), (*text)->data() + (*text)->size(), value);
        if (error == std::errc{} && end == (*text)->data() + (*text)->size()) return value;
    }
    return fail(ErrorCode::validation, fmt::format("'{}' must be a number", name));
}

http::Task<http::Response> take_output(Api& api, http::Request request) {
    if (auto known = request.query.only({"fencing", "offset", "sha256", "size"}); !known)
        co_return http::error_response(known.error());
    transitions::Dispatcher::OutputChunk chunk;
    chunk.executor = request.parameter("id");
    chunk.lease = {request.parameter("lease")};
    chunk.stream = request.parameter("stream");
    if (chunk.stream != jobs::routes::stdout_stream &&
        chunk.stream != jobs::routes::stderr_stream) {
        co_return http::error_response(
            base::Error{ErrorCode::not_found, "a job has stdout and stderr", {}, {}}
        );
    }
    const auto fencing = number_parameter(request, "fencing");
    const auto offset = number_parameter(request, "offset");
    if (!fencing || !offset)
        co_return http::error_response(!fencing ? fencing.error() : offset.error());
    chunk.fencing = *fencing;
    chunk.offset = *offset;
    if (request.query.has("sha256")) {
        const auto hex = request.query.one("sha256");
        const auto size = number_parameter(request, "size");
        if (!hex || !size) co_return http::error_response(!hex ? hex.error() : size.error());
        chunk.sha256 = base::Digest::from_hex(**hex);
        chunk.size = *size;
        if (!chunk.sha256)
            co_return http::error_response(
                base::Error{ErrorCode::validation, "sha256 must be 64 hex digits", {}, {}}
            );
    }
    chunk.bytes = std::move(request.body);
    auto held = std::make_shared<transitions::Dispatcher::OutputChunk>(std::move(chunk)
    );  // shared: a function must be copyable
    co_return respond(co_await on_worker<std::string>(api, [&api, held] {
        return api.dispatcher.output(std::move(*held));
    }));
}

http::Task<http::Response> give_content(Api& api, http::Request request) {
    if (auto known = request.query.only({"fencing"}); !known)
        co_return http::error_response(known.error());
    const auto fencing = number_parameter(request, "fencing");
    const auto digest = base::Digest::from_hex(request.parameter("sha256"));
    if (!fencing || !digest) {
        co_return http::error_response(
            !fencing ? fencing.error()
                     : base::Error{ErrorCode::validation, "sha256 must be 64 hex digits", {}, {}}
        );
    }
    auto bytes = co_await on_worker<std::string>(
        api,
        [&api,
         id = request.parameter("id"),
         lease = request.parameter("lease"),
         fencing = *fencing,
         digest = *digest] { return api.dispatcher.content(id, {lease}, fencing, digest); }
    );
    if (!bytes) co_return http::error_response(bytes.error());
    using Kind = http::RangeAsked::Kind;
    const auto range = http::range_of(request, bytes->size(), "");
    if (range.kind == Kind::unsatisfiable) co_return http::range_error(bytes->size());
    http::Response response;
    response.headers.set("Content-Type", "application/octet-stream");
    if (range.kind == Kind::part) {
        response.status = 206;
        response.headers.set("Content-Range", http::content_range(range, bytes->size()));
        response.body = bytes->substr(range.offset, range.length);
    } else {
        response.body = std::move(*bytes);
    }
    co_return response;
}

http::Task<http::Response> list_executors(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    std::vector<std::string> items;
    for (const auto& view : api.dispatcher.executors())
        items.push_back(base::canonical(executor_view(view)));
    co_return http::json_response(200, list_json(items));
}

http::Task<http::Response> get_executor(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const std::string id = request.parameter("id");
    for (const auto& view : api.dispatcher.executors()) {
        if (view.id == id) co_return http::json_response(200, base::canonical(executor_view(view)));
    }
    co_return http::error_response(base::Error{
        ErrorCode::not_found,
        fmt::format("executor '{}' was never seen", id),
        "list them: netwright executors",
        {}
    });
}

}  // namespace

void add_executor_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::get,
        "/api/executors",
        [&api](Request r) { return list_executors(api, std::move(r)); },
        {.description = "Executors and what they hold"}
    );
    router.add(
        Method::get,
        "/api/executors/{id}",
        [&api](Request r) { return get_executor(api, std::move(r)); },
        {.description = "One executor"}
    );
    router.add(
        Method::post,
        jobs::routes::sync_pattern,
        [&api](Request r) { return sync_executor(api, std::move(r)); },
        {.body_bytes_max = jobs::sync_body_bytes_max,
         .long_poll = true,
         .scope = "executor",
         .description = "An executor says what is, and learns what should be"}
    );
    router.add(
        Method::post,
        jobs::routes::output_pattern,
        [&api](Request r) { return take_output(api, std::move(r)); },
        {.body_bytes_max = jobs::routes::output_chunk_bytes,
         .scope = "executor",
         .description = "A chunk of a job's output"}
    );
    router.add(
        Method::get,
        jobs::routes::content_pattern,
        [&api](Request r) { return give_content(api, std::move(r)); },
        {.scope = "executor", .description = "Content that the job of a lease names"}
    );
}

}  // namespace server
