#include "engine/audit.hpp"
#include "engine/refold.hpp"
#include "server/api.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

http::Task<http::Response> show_health(Api& api, http::Request /*request*/) {
    co_return http::json_response(
        200, base::canonical(Json{{"status", "ok"}, {"durability", api.durability}})
    );
}

http::Task<http::Response> show_ready(Api& api, http::Request /*request*/) {
    const auto models = co_await on_worker<std::vector<std::string>>(api, [&api] {
        return api.engine.log().models();
    });
    if (!models) co_return http::error_response(503, models.error());
    std::vector<base::ErrorDetail> closed;
    for (const auto& model : *models) {
        auto open = co_await read<bool>(api, model, [](const engine::Model&) -> Result<bool> {
            return true;
        });
        if (open) continue;
        closed.push_back(
            {base::pointer_child("", model), open.error().code, std::move(open.error().message)}
        );
    }
    if (!closed.empty()) {
        const base::ErrorCode code = closed.front().code;
        co_return http::error_response(
            503,
            base::Error{
                code,
                fmt::format(
                    "{} of {} models cannot be used: {}",
                    closed.size(),
                    models->size(),
                    closed.front().message
                ),
                "the other models run; docs/operations.md says how to go on",
                std::move(closed)
            }
        );
    }
    co_return http::json_response(
        200, base::canonical(Json{{"status", "ready"}, {"models", models->size()}})
    );
}

struct ModelFigures {
    std::uint64_t seq = 0;
    std::uint64_t tokens = 0;
    std::uint64_t cases = 0;
    std::uint64_t operations = 0;
    std::uint64_t uncertain = 0;
    std::uint64_t returned = 0;
    std::uint64_t dead_letters = 0;
    std::uint64_t fired = 0;
    std::uint64_t failed = 0;
};

ModelFigures figures(const engine::State& state) {
    ModelFigures made{
        .seq = state.seq,
        .tokens = state.store.size(),
        .operations = state.operations.size(),
        .dead_letters = state.dead_letters,
    };
    for (const auto& [id, value] : state.cases)
        made.cases += value.state == engine::CaseState::running ? 1 : 0;
    for (const auto& [id, value] : state.operations) {
        made.uncertain += value.state == engine::OperationState::uncertain ? 1 : 0;
        made.returned += value.state == engine::OperationState::returned ? 1 : 0;
    }
    for (const auto& transition : state.transitions) {
        made.fired += transition.fired;
        made.failed += transition.failed;
    }
    return made;
}

http::Task<http::Response> show_metrics(Api& api, http::Request /*request*/) {
    std::string out;
    const auto metric = [&out](
                            std::string_view name, std::string_view type, std::string_view help
                        ) {
        out +=
            fmt::format("# HELP netwright_{} {}\n# TYPE netwright_{} {}\n", name, help, name, type);
    };
    const auto plain =
        [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t value
        ) {
            metric(name, type, help);
            out += fmt::format("netwright_{} {}\n", name, value);
        };
    const auto totals = api.engine.committed();
    plain("commits_total", "counter", "Synced writes to the log.", totals.groups);
    plain("records_total", "counter", "Records committed since the start.", totals.records);
    plain(
        "record_bytes_total", "counter", "Bytes of records committed since the start.", totals.bytes
    );
    plain(
        "http_requests_total", "counter", "Requests answered since the start.", api.requests.load()
    );
    const auto load = api.dispatcher.load();
    plain("jobs_waiting", "gauge", "Attempts that wait for an executor.", load.waiting);
    plain("jobs_leased", "gauge", "Attempts that an executor holds.", load.leased);
    plain(
        "executors", "gauge", "Executors seen since the start.", api.dispatcher.executors().size()
    );
    const auto usage = api.blobs.usage();
    plain("blobs", "gauge", "Blobs in the store.", usage.blobs);
    plain("blob_bytes", "gauge", "Bytes in the store.", usage.bytes);
    std::vector<std::pair<std::string, ModelFigures>> models;
    const auto names = co_await on_worker<std::vector<std::string>>(api, [&api] {
        return api.engine.log().models();
    });
    plain("log_readable", "gauge", "Whether the log can be read: 1 or 0.", names ? 1 : 0);
    for (const auto& model : names.value_or(std::vector<std::string>{})) {
        auto found = co_await read<ModelFigures>(
            api,
            model,
            [](const engine::Model& open) -> Result<ModelFigures> { return figures(open.state()); }
        );
        if (found) models.emplace_back(model, *found);
    }
    const auto each = [&](std::string_view name,
                          std::string_view type,
                          std::string_view help,
                          std::uint64_t ModelFigures::* member) {
        metric(name, type, help);
        for (const auto& [model, values] : models)
            out += fmt::format("netwright_{}{{model=\"{}\"}} {}\n", name, model, values.*member);
    };
    each("model_seq", "counter", "Last durable record.", &ModelFigures::seq);
    each("model_tokens", "gauge", "Tokens in all places.", &ModelFigures::tokens);
    each("model_cases_running", "gauge", "Cases that are not over.", &ModelFigures::cases);
    each("model_operations", "gauge", "Operations that are not over.", &ModelFigures::operations);
    each(
        "model_operations_uncertain",
        "gauge",
        "Operations whose outcome nobody knows.",
        &ModelFigures::uncertain
    );
    each(
        "model_operations_returned",
        "gauge",
        "Operations whose answer waits for room in a place.",
        &ModelFigures::returned
    );
    each("model_dead_letters", "gauge", "Dead letters.", &ModelFigures::dead_letters);
    each("model_firings_total", "counter", "Firings that succeeded.", &ModelFigures::fired);
    each("model_firings_failed_total", "counter", "Firings that failed.", &ModelFigures::failed);
    co_return http::text_response(200, std::move(out), "text/plain; version=0.0.4; charset=utf-8");
}

http::Task<http::Response> show_openapi(Api& api, http::Request /*request*/) {
    co_return http::json_response(200, api.openapi());
}

Json findings_json(const std::vector<engine::AuditFinding>& findings) {
    Json list = Json::array();
    for (const auto& finding : findings) {
        list.push_back(
            {{"first", finding.first},
             {"last", finding.last},
             {"fault", engine::name(finding.fault)},
             {"message", finding.message}}
        );
    }
    return list;
}

// Every record folded from zero, and every snapshot held against that.
Result<Json> audit_model(
    Api& api, const std::string& model, bool state, const std::string& anchor
) {
    engine::AuditOptions options;
    if (!anchor.empty()) {
        const auto head = engine::parse_anchor(anchor);
        if (!head) return fail(head.error());
        options.anchor = *head;
    }
    using Derived = engine::Refold::Derived;
    engine::Refold refold(
        api.engine.log(), api.snapshots, model, state ? Derived::compared : Derived::left_alone
    );
    options.visit = [&](const engine::StoredRecord& record, const Json&) {
        return refold.visit(record);
    };
    const auto report = engine::verify(api.engine.log(), model, options);
    if (!report) return fail(report.error());
    Json wrong = engine::refold_json(refold.findings());
    return Json{
        {"model", model},
        {"ok", report->ok() && wrong.empty()},
        {"head", engine::anchor_text(report->head)},
        {"findings", findings_json(report->findings)},
        {"unlisted", report->unlisted},
        {"snapshots", std::move(wrong)},
    };
}

http::Task<http::Response> show_audit(Api& api, http::Request request) {
    if (auto known = request.query.only({"state", "anchor"}); !known)
        co_return http::error_response(known.error());
    const auto state = request.query.one("state");
    const auto anchor = request.query.one("anchor");
    if (!state || !anchor) co_return http::error_response(!state ? state.error() : anchor.error());
    const std::string model = request.parameter("m");
    if (api.engine.durable(model) == 0) {
        co_return http::error_response(unknown_model(model));
    }
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, model, state = *state && **state == "true", anchor = anchor->value_or("")](
        ) -> Result<std::string> {
            const auto report = audit_model(api, model, state, anchor);
            if (!report) return fail(report.error());
            return base::canonical(*report);
        }
    ));
}

}  // namespace

void add_health_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::get,
        "/healthz",
        [&api](Request r) { return show_health(api, std::move(r)); },
        {.scope = "public", .description = "The process lives"}
    );
    router.add(
        Method::get,
        "/readyz",
        [&api](Request r) { return show_ready(api, std::move(r)); },
        {.scope = "public", .description = "Every model is open"}
    );
    router.add(
        Method::get,
        "/metrics",
        [&api](Request r) { return show_metrics(api, std::move(r)); },
        {.description = "Figures for Prometheus"}
    );
    router.add(
        Method::get,
        "/api/openapi.json",
        [&api](Request r) { return show_openapi(api, std::move(r)); },
        {.scope = "public", .description = "This description"}
    );
}

void add_audit_routes(http::Router& router, Api& api) {
    router.add(
        http::Method::get,
        "/api/models/{m}/audit",
        [&api](http::Request r) { return show_audit(api, std::move(r)); },
        {.description =
             "Walk the log's hash chain; ?state=true folds the state and compares the snapshots"}
    );
}

}  // namespace server
