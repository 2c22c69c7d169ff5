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

http::Task<http::Response> get_operation(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    const auto id = id_of(request, "o", &base::operation_id);
    if (!id) co_return http::error_response(id.error());
    co_return respond(co_await look(
        api,
        request,
        [&api, id = *id](const engine::Model& model) -> Result<std::string> {
            const auto* operation = model.state().find_operation(id);
            if (operation == nullptr) {
                return fail(
                    ErrorCode::not_found,
                    fmt::format("operation {} is unknown or over", text(id)),
                    "its case shows how it ended"
                );
            }
            return base::canonical(operation_view(model, *operation, api.dispatcher));
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
        {.description = "One operation"}
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
