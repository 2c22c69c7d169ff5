#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

Result<std::string> view_of(const engine::Model& model, base::CaseId id) {
    const auto* found = model.state().find_case(id);
    if (found == nullptr)
        return fail(ErrorCode::not_found, fmt::format("case {} is unknown", text(id)));
    return base::canonical(case_view(model, *found));
}

// Until the case is over or the wait has passed; then what it looks like.
http::Task<Result<std::string>> wait_and_view(
    Api& api,
    std::string model,
    base::CaseId id,
    std::optional<base::Duration> wait,
    http::StopSignal stop
) {
    if (wait && wait->us > 0) {
        co_await http::await_callback<bool>(
            http::WaitLimits{.at_most = wait, .stop = stop},
            [&](http::Completion<bool> done) {
                api.engine.when_over(model, id, *wait, [done] { done(true); });
            }
        );
    }
    co_return co_await read<std::string>(api, model, [id](const engine::Model& open) {
        return view_of(open, id);
    });
}

http::Task<http::Response> start_one_case(Api& api, http::Request request) {
    if (auto known = request.query.only({"wait"}); !known)
        co_return http::error_response(known.error());
    const auto wait = wait_of(request);
    if (!wait) co_return http::error_response(wait.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    const auto input = json_body(request);
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
    auto view = co_await wait_and_view(api, model, {*seq}, *wait, request.stop);
    co_return created(std::move(view), fmt::format("/api/models/{}/cases/c{}", model, *seq));
}

http::Task<http::Response> get_case(Api& api, http::Request request) {
    if (auto known = request.query.only({"wait", "asOf"}); !known)
        co_return http::error_response(known.error());
    const auto wait = wait_of(request);
    if (!wait) co_return http::error_response(wait.error());
    const auto id = id_of(request, "c", &base::case_id);
    if (!id) co_return http::error_response(id.error());
    if (request.query.has("asOf")) {
        co_return respond(co_await look(api, request, [id = *id](const engine::Model& open) {
            return view_of(open, id);
        }));
    }
    co_return respond(co_await wait_and_view(api, request.parameter("m"), *id, *wait, request.stop)
    );
}

struct CaseFilter {
    std::string net;
    std::string state;
    PageRequest page;
};

Result<std::string> page_of_cases(const engine::Model& model, const CaseFilter& filter) {
    std::vector<const engine::Case*> found;
    base::CaseId after;
    if (filter.page.cursor) {
        const auto id = base::case_id(*filter.page.cursor);
        if (!id)
            return fail(
                ErrorCode::validation, "the cursor is malformed", "use 'next' of the page before"
            );
        after = *id;
    }
    for (const auto& [id, value] : model.state().cases) {
        if (id <= after || (!filter.net.empty() && value.deployment->net->name != filter.net))
            continue;
        if (!filter.state.empty() && case_state(model, value) != filter.state) continue;
        found.push_back(&value);
    }
    const std::size_t count = std::min(found.size(), filter.page.limit);
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::partial_sort(found, middle, {}, [](const engine::Case* value) {
        return value->id;
    });
    std::vector<std::string> items;
    for (auto value = found.begin(); value != middle; ++value)
        items.push_back(base::canonical(case_view(model, **value)));
    std::optional<std::string> next;
    if (count < found.size()) next = text(found[count - 1]->id);
    return list_json(items, std::move(next));
}

http::Task<http::Response> list_cases(Api& api, http::Request request, bool of_net) {
    if (auto known = request.query.only({"net", "state", "limit", "cursor", "asOf"}); !known)
        co_return http::error_response(known.error());
    CaseFilter filter;
    auto page = page_of(request);
    const auto net = request.query.one("net");
    const auto state = request.query.one("state");
    if (!page || !net || !state)
        co_return http::error_response(!page ? page.error() : !net ? net.error() : state.error());
    filter.page = std::move(*page);
    filter.net = of_net ? request.parameter("n") : net->value_or("");
    filter.state = state->value_or("");
    for (const char* good : {"", "running", "waiting", "completed", "failed", "cancelled"}) {
        if (filter.state != good) continue;
        co_return respond(co_await look(api, request, [filter](const engine::Model& model) {
            return page_of_cases(model, filter);
        }));
    }
    co_return http::error_response(base::Error{
        ErrorCode::validation,
        fmt::format("'{}' is no state of a case", filter.state),
        "use running, waiting, completed, failed or cancelled",
        {}
    });
}

http::Task<http::Response> cancel_case(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "c", &base::case_id);
    auto asker = asker_of(request);
    if (!id || !asker) co_return http::error_response(!id ? id.error() : asker.error());
    co_return respond(co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [id = *id](engine::Model& open, const engine::Asker& who) -> Result<std::string> {
            const auto done = engine::cancel_case(open, id, who);
            if (!done) return fail(done.error());
            return view_of(open, id);
        },
        [id = *id](const engine::Model& open, base::Seq) { return view_of(open, id); }
    ));
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
        "/api/models/{m}/nets/{n}/cases",
        [&api](Request r) { return list_cases(api, std::move(r), true); },
        {.description = "Cases of a net"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/cases",
        [&api](Request r) { return list_cases(api, std::move(r), false); },
        {.description = "Cases of a model"}
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
