#include "jobs/enrolment.hpp"
#include "jobs/routes.hpp"
#include "jobs/sync.hpp"
#include "jobs/wire.hpp"
#include "server/api.hpp"
#include "server/executor_keys.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

constexpr std::size_t body_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t token_bytes_max = 256;

Result<std::string> executor_id(const http::Request& request) {
    if (auto known = request.query.only({}); !known) return fail(std::move(known.error()));
    const auto id = request.parameter("id");
    if (jobs::routes::valid_executor_id(id)) return id;
    return fail(
        ErrorCode::validation,
        fmt::format("'{}' is not a valid id of an executor", id),
        "use a-z, 0-9, '.', '_' and '-', at most 64 bytes"
    );
}

// It holds a secret, which nobody keeps: neither a proxy nor the answers to repeated requests.
http::Response not_stored(http::Response response) {
    response.headers.set("Cache-Control", "no-store");
    return response;
}

http::Task<http::Response> invite(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    jobs::wire::Faults faults;
    jobs::wire::ObjectReader reader(*body, "", faults);
    auto labels = reader.text_map("labels", jobs::labels_max);
    reader.finish();
    if (!faults.empty()) {
        co_return http::error_response(jobs::wire::error("the enrolment", std::move(faults)));
    }
    auto made = respond(
        co_await on_worker<std::string>(
            api,
            [&api, labels = std::move(labels)]() mutable -> Result<std::string> {
                auto token = api.executor_keys.invite(std::move(labels));
                if (!token) return token;
                return base::canonical(
                    Json{{"token", *token}, {"validMs", ExecutorKeys::invitation_valid.ms()}}
                );
            }
        ),
        201
    );
    co_return not_stored(std::move(made));
}

http::Task<http::Response> enrol(Api& api, http::Request request) {
    const auto id = executor_id(request);
    if (!id) co_return http::error_response(id.error());
    auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    jobs::wire::Faults faults;
    jobs::wire::ObjectReader reader(*body, "", faults);
    auto token = reader.text("token", {token_bytes_max, false});
    auto key = reader.text("publicKey", {token_bytes_max, false});
    auto signature = reader.text("signature", {token_bytes_max, false});
    reader.finish();
    if (!faults.empty()) {
        co_return http::error_response(jobs::wire::error("the enrolment", std::move(faults)));
    }
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api,
         id = *id,
         token = std::move(token),
         key = std::move(key),
         signature = std::move(signature)]() -> Result<std::string> {
            const auto renewed = api.executor_keys.enrol({id, token, key, signature});
            if (!renewed) return fail(renewed.error());
            if (*renewed) api.dispatcher.renewed(id);
            return std::string("{}");
        }
    ));
}

http::Task<http::Response> challenge(Api& api, http::Request request) {
    const auto id = executor_id(request);
    if (!id) co_return http::error_response(id.error());
    const Json answer = {{"challenge", api.executor_keys.challenge(*id)}};
    co_return http::json_response(200, base::canonical(answer));
}

http::Task<http::Response> give_access(Api& api, http::Request request) {
    const auto id = executor_id(request);
    if (!id) co_return http::error_response(id.error());
    auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    jobs::wire::Faults faults;
    jobs::wire::ObjectReader reader(*body, "", faults);
    const auto challenge = reader.text("challenge", {token_bytes_max, false});
    const auto signature = reader.text("signature", {token_bytes_max, false});
    reader.finish();
    if (!faults.empty()) {
        co_return http::error_response(jobs::wire::error("the request", std::move(faults)));
    }
    const auto token = api.executor_keys.access(*id, challenge, signature);
    if (!token) co_return http::error_response(token.error());
    const Json answer = {{"token", *token}, {"validMs", ExecutorKeys::access_valid.ms()}};
    co_return not_stored(http::json_response(200, base::canonical(answer)));
}

http::Task<http::Response> drain(Api& api, http::Request request) {
    const auto id = executor_id(request);
    if (!id) co_return http::error_response(id.error());
    if (auto done = api.dispatcher.drain(*id); !done) co_return http::error_response(done.error());
    co_return http::json_response(200, base::canonical(Json{{"id", *id}, {"state", "draining"}}));
}

}  // namespace

void add_enrolment_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::post,
        "/api/executor-enrolments",
        [&api](Request r) { return invite(api, std::move(r)); },
        {.body_bytes_max = body_bytes_max,
         .description = "A one-time token with which one executor may enrol"}
    );
    router.add(
        Method::post,
        "/api/executors/{id}/drain",
        [&api](Request r) { return drain(api, std::move(r)); },
        {.body_bytes_max = body_bytes_max,
         .description = "The executor takes no more, finishes what runs and ends"}
    );
    router.add(
        Method::post,
        jobs::enrolment::enrol_pattern,
        [&api](Request r) { return enrol(api, std::move(r)); },
        {.body_bytes_max = body_bytes_max,
         .scope = "public",
         .description = "An executor enrols its public key with a one-time token"}
    );
    router.add(
        Method::post,
        jobs::enrolment::challenge_pattern,
        [&api](Request r) { return challenge(api, std::move(r)); },
        {.body_bytes_max = body_bytes_max,
         .scope = "public",
         .description = "What an executor signs to get an access token"}
    );
    router.add(
        Method::post,
        jobs::enrolment::access_pattern,
        [&api](Request r) { return give_access(api, std::move(r)); },
        {.body_bytes_max = body_bytes_max,
         .scope = "public",
         .description = "An access token of 15 minutes for a signed challenge"}
    );
}

}  // namespace server
