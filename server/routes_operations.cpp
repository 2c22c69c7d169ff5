#include "base/limits.hpp"
#include "server/api.hpp"
#include "server/run_history.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

http::Task<http::Response> list_operations(Api& api, http::Request request) {
    if (auto known = request.query.only({"state", "limit", "cursor", "asOf"}); !known)
        co_return http::error_response(known.error());
    const auto state = word_of(request, "state", {"invoking", "retrying", "uncertain", "returned"});
    const auto page = page_of(request);
    if (!state || !page) co_return http::error_response(!state ? state.error() : page.error());
    const auto after = cursor_of(*page, &base::operation_id);
    if (!after) co_return http::error_response(after.error());
    co_return respond(co_await look(
        api,
        request,
        [&api, wanted = *state, after = *after, limit = page->limit](const engine::Model& model
        ) -> Result<std::string> {
            const auto view = [&](const auto& entry) -> std::optional<std::string> {
                const engine::Operation& operation = entry.second;
                if (!wanted.empty() && wanted != name(operation.state)) return std::nullopt;
                return base::canonical(operation_view(model, operation, api.dispatcher));
            };
            return list_operations_after(model.state().operations, after, limit, view);
        }
    ));
}

// What the state knows of an operation.
struct Known {
    base::Seq seq = 0;            ///< of the state
    std::optional<Json> view;     ///< while it is not over
    std::vector<base::Seq> late;  ///< records of late results
};

http::Task<Result<Known>> known_of(Api& api, const http::Request& request, base::OperationId id) {
    // Through text: `look` answers in it.
    const auto looked =
        co_await look(api, request, [&api, id](const engine::Model& model) -> Result<std::string> {
            const auto& state = model.state();
            Json found = {{"seq", state.seq}, {"late", Json::array()}};
            if (const auto* operation = state.find_operation(id))
                found["view"] = operation_view(model, *operation, api.dispatcher);
            for (const auto& [operation, seq] : state.late_results) {
                if (operation == id) found["late"].push_back(seq);
            }
            return found.dump();
        });
    if (!looked) co_return fail(looked.error());
    const Json found = *base::parse_json(*looked, base::limits::stored);
    Known known{.seq = found.at("seq"), .late = found.at("late").get<std::vector<base::Seq>>()};
    if (found.contains("view")) known.view = found.at("view");
    co_return known;
}

http::Task<http::Response> get_operation(Api& api, http::Request request) {
    if (auto only = request.query.only({"asOf"}); !only)
        co_return http::error_response(only.error());
    const auto id = id_of(request, "o", &base::operation_id);
    if (!id) co_return http::error_response(id.error());
    auto known = co_await known_of(api, request, *id);
    if (!known) co_return http::error_response(known.error());
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, model = request.parameter("m"), id = *id, known = std::move(*known)](
        ) -> Result<std::string> {
            Json view;
            if (known.view) {
                view = *known.view;
            } else {
                const auto history = run_history(api.engine.log(), model, id, known.seq);
                if (!history) return fail(history.error());
                view = ended_view(id, *history);
            }
            const auto late = late_records(api.engine.log(), model, known.late);
            if (!late) return fail(late.error());
            if (!late->empty()) view["lateResults"] = late_view(*late);
            return base::canonical(view);
        }
    ));
}

http::Task<http::Response> get_output(Api& api, http::Request request) {
    if (auto only = request.query.only({}); !only) co_return http::error_response(only.error());
    const auto id = id_of(request, "o", &base::operation_id);
    if (!id) co_return http::error_response(id.error());
    auto known = co_await known_of(api, request, *id);
    if (!known) co_return http::error_response(known.error());
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, model = request.parameter("m"), id = *id, known = std::move(*known)](
        ) -> Result<std::string> {
            const auto history = run_history(api.engine.log(), model, id, known.seq);
            if (!history) return fail(history.error());
            const auto late = late_records(api.engine.log(), model, known.late);
            if (!late) return fail(late.error());
            Json view = {{"operation", text(id)}, {"attempts", attempts_view(*history, *late)}};
            view["state"] =
                known.view ? known.view->at("state") : ended_view(id, *history)["state"];
            return base::canonical(view);
        }
    ));
}

Result<std::string> read_reason(const Json& body) {
    if (body.is_object() && body.size() == 1 && body.contains("reason") &&
        body.at("reason").is_string() && !body.at("reason").get_ref<const std::string&>().empty()) {
        return body.at("reason").get<std::string>();
    }
    return fail(
        ErrorCode::validation, R"(abandoning takes {"reason": "..."} and nothing else)", "say why"
    );
}

http::Task<http::Response> abandon_operation(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "o", &base::operation_id);
    auto asker = asker_of(request);
    if (!id || !asker) co_return http::error_response(!id ? id.error() : asker.error());
    const auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    auto reason = read_reason(*body);
    if (!reason) co_return http::error_response(reason.error());
    const auto view = [id = *id](base::Seq seq) {
        return base::canonical(Json{{"id", text(id)}, {"state", "abandoned"}, {"seq", seq}});
    };
    co_return respond(co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [id = *id, reason = std::move(*reason), view](engine::Model& open, const engine::Asker& who)
            -> Result<std::string> {
            const auto seq = engine::abandon(open, id, reason, who);
            if (!seq) return fail(seq.error());
            return view(*seq);
        },
        [view](const engine::Model&, base::Seq seq) -> Result<std::string> { return view(seq); }
    ));
}

}  // namespace

void add_operation_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::get,
        "/api/models/{m}/operations",
        [&api](Request r) { return list_operations(api, std::move(r)); },
        {.description = "Operations that are not over. ?state=invoking|retrying|uncertain|returned"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/operations/{o}",
        [&api](Request r) { return get_operation(api, std::move(r)); },
        {.description = "One operation, also one that is over, with results that came too late"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/operations/{o}/output",
        [&api](Request r) { return get_output(api, std::move(r)); },
        {.description = "What its attempts printed, used and told of their progress"}
    );
    router.add(
        Method::post,
        "/api/models/{m}/operations/{o}/abandon",
        [&api](Request r) { return abandon_operation(api, std::move(r)); },
        {.description = "End an operation whose outcome nobody knows or wants; the body is {reason}"
        }
    );
}

}  // namespace server
