#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

base::Error unknown_case(base::CaseId id) {
    return {ErrorCode::not_found, fmt::format("case {} is unknown", text(id)), {}, {}};
}

// Of a case that left memory; `not_found` when it did not.
Result<engine::RetiredCase> find_retired(Api& api, const std::string& model, base::CaseId id) {
    const auto found = api.engine.log().cases(model, {id.seq - 1}, 1);
    if (!found) return fail(found.error());
    if (found->empty() || found->front().id != id) return fail(unknown_case(id));
    return engine::retired_case(found->front().text);
}

// What left memory before the model was looked at is in the index by the time that answers; and as
// of an earlier seq it was the same, or still in memory.
http::Task<Result<std::string>> show_case(Api& api, const http::Request& request, base::CaseId id) {
    auto there =
        co_await look(api, request, [id](const engine::Model& open) -> Result<std::string> {
            const auto* found = open.state().find_case(id);
            if (found == nullptr) return fail(unknown_case(id));
            return base::canonical(case_view(open, *found));
        });
    if (there || there.error().code != ErrorCode::not_found) co_return there;
    auto retired = co_await on_worker<engine::RetiredCase>(
        api, [&api, model = request.parameter("m"), id] { return find_retired(api, model, id); }
    );
    if (!retired && retired.error().code == ErrorCode::not_found) co_return there;
    if (!retired) co_return fail(std::move(retired.error()));
    co_return co_await look(
        api,
        request,
        [found = std::move(*retired)](const engine::Model& open) -> Result<std::string> {
            if (found.id.seq > open.state().seq) return fail(unknown_case(found.id));
            return base::canonical(case_view(open, found));
        }
    );
}

// Until the case is over or the wait has passed; then what it looks like.
http::Task<Result<std::string>> wait_and_show(
    Api& api, const http::Request& request, base::CaseId id, std::optional<base::Duration> wait
) {
    if (wait && wait->us > 0) {
        co_await http::await_callback<bool>(
            http::WaitLimits{.at_most = wait, .stop = request.stop},
            [&](http::Completion<bool> done) {
                api.engine.when_over(request.parameter("m"), id, *wait, [done] { done(true); });
            }
        );
    }
    co_return co_await show_case(api, request, id);
}

http::Task<http::Response> start_one_case(Api& api, http::Request request) {
    if (auto known = request.query.only({"wait"}); !known)
        co_return http::error_response(known.error());
    const auto wait = wait_of(request);
    if (!wait) co_return http::error_response(wait.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    const auto input = co_await json_body(api, request);
    if (!input) co_return http::error_response(input.error());
    const std::string model = request.parameter("m");
    // A case can only be started where a net is: this makes no model.
    auto seq = co_await write_existing<base::Seq>(
        api,
        model,
        std::move(*asker),
        [net = request.parameter("n"), input = base::canonical(*input)](
            engine::Model& open, const engine::Asker& who
        ) mutable { return engine::start_case(open, net, std::move(input), who); },
        [](const engine::Model&, base::Seq before) -> Result<base::Seq> { return before; }
    );
    if (!seq) co_return http::error_response(seq.error());
    auto view = co_await wait_and_show(api, request, {*seq}, *wait);
    co_return created(std::move(view), fmt::format("/api/models/{}/cases/c{}", model, *seq));
}

http::Task<http::Response> get_case(Api& api, http::Request request) {
    if (auto known = request.query.only({"wait", "asOf"}); !known)
        co_return http::error_response(known.error());
    const auto wait = wait_of(request);
    if (!wait) co_return http::error_response(wait.error());
    const auto id = id_of(request, "c", &base::case_id);
    if (!id) co_return http::error_response(id.error());
    if (request.query.has("asOf") && *wait) {
        co_return http::error_response(base::Error{
            ErrorCode::validation,
            "wait and asOf exclude each other: a case as of a past seq or time does not change",
            "leave one of them out",
            {}
        });
    }
    if (request.query.has("asOf")) co_return respond(co_await show_case(api, request, *id));
    co_return respond(co_await wait_and_show(api, request, *id, *wait));
}

http::Task<http::Response> cancel_case(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "c", &base::case_id);
    auto asker = asker_of(request);
    if (!id || !asker) co_return http::error_response(!id ? id.error() : asker.error());
    const std::string model = request.parameter("m");
    auto done = co_await write_existing<base::Seq>(
        api,
        model,
        std::move(*asker),
        [id = *id](engine::Model& open, const engine::Asker& who) {
            return engine::cancel_case(open, id, who);
        },
        [](const engine::Model&, base::Seq before) -> Result<base::Seq> { return before; }
    );
    if (done) co_return respond(co_await show_case(api, request, *id));
    if (done.error().code == ErrorCode::not_found) {
        const auto retired = co_await on_worker<engine::RetiredCase>(api, [&api, model, id = *id] {
            return find_retired(api, model, id);
        });
        if (retired) done = fail(engine::case_is_over(*id, retired->state));
    }
    co_return http::error_response(done.error());
}

}  // namespace

void add_case_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::post,
        "/api/models/{m}/nets/{n}/cases",
        [&api](Request r) { return start_one_case(api, std::move(r)); },
        {.long_poll = true,
         .description = "Start a case; the body is its input. ?wait=30s waits for its end"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/cases/{c}",
        [&api](Request r) { return get_case(api, std::move(r)); },
        {.long_poll = true, .description = "One case. ?wait=30s waits for its end"}
    );
    router.add(
        Method::post,
        "/api/models/{m}/cases/{c}/cancel",
        [&api](Request r) { return cancel_case(api, std::move(r)); },
        {.description = "Cancel a case, down to its running processes"}
    );
}

}  // namespace server
