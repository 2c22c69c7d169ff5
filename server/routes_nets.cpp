#include "nets/schema.hpp"
#include "server/api.hpp"
#include "server/deploy_check.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

Result<std::string> deployed_view(
    const engine::State& state, const std::string& net, const std::string& warnings, bool changed
) {
    const auto entry = state.nets.find(net);
    if (entry == state.nets.end())
        return fail(ErrorCode::not_found, fmt::format("net '{}' is not deployed", net));
    Json view = net_view(state, net, entry->second);
    put_stored(view, "warnings", warnings);
    view["changed"] = changed;
    return base::canonical(view);
}

http::Task<http::Response> deploy_net(Api& api, http::Request request) {
    if (auto known = request.query.only({"force"}); !known)
        co_return http::error_response(known.error());
    const auto force = request.query.one("force");
    if (!force) co_return http::error_response(force.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    const bool forced = *force && **force == "true";
    if (api.checks.queued() >= checks_waiting_max)
        co_return http::error_response(too_many_checks());
    auto checked = co_await on_pool<CheckedNet>(api.checks, [body = request.body, forced] {
        return check_for_deployment(body, forced);
    });
    if (!checked) co_return http::error_response(checked.error());
    const std::string model = request.parameter("m");
    const std::string net = checked->net->name;
    const engine::DeployOptions options{.forced = checked->forced};
    auto answer = co_await write<std::string>(
        api,
        model,
        std::move(*asker),
        [checked = *checked,
         options](engine::Model& open, const engine::Asker& who) -> Result<std::string> {
            const auto deployed = engine::deploy(open, checked.net, options, who);
            if (!deployed) return fail(deployed.error());
            return deployed_view(
                open.state(), checked.net->name, checked.warnings, deployed->changed
            );
        },
        [checked = *checked](const engine::Model& open, base::Seq) {
            return deployed_view(open.state(), checked.net->name, checked.warnings, true);
        }
    );
    co_return created(std::move(answer), fmt::format("/api/models/{}/nets/{}", model, net));
}

http::Task<http::Response> list_nets(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    co_return respond(co_await look(
        api,
        request,
        [](const engine::Model& model) -> Result<std::string> {
            std::vector<std::string> items;
            for (const auto& [name, entry] : model.state().nets) {
                if (entry.current)
                    items.push_back(base::canonical(net_view(model.state(), name, entry)));
            }
            return list_json(items);
        }
    ));
}

Result<const engine::NetEntry*> entry_of(const engine::State& state, const std::string& net) {
    const auto entry = state.nets.find(net);
    if (entry != state.nets.end()) return &entry->second;
    return fail(
        ErrorCode::not_found,
        fmt::format("model '{}' has no net '{}'", state.model, net),
        "list them: netwright net list"
    );
}

http::Task<http::Response> get_net(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    co_return respond(co_await look(
        api,
        request,
        [net = request.parameter("n")](const engine::Model& model) -> Result<std::string> {
            const auto entry = entry_of(model.state(), net);
            if (!entry) return fail(entry.error());
            Json view = net_view(model.state(), net, **entry);
            if ((*entry)->current) put_stored(view, "document", (*entry)->current->net->document);
            return base::canonical(view);
        }
    ));
}

http::Task<http::Response> list_versions(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    co_return respond(co_await look(
        api,
        request,
        [net = request.parameter("n")](const engine::Model& model) -> Result<std::string> {
            const auto entry = entry_of(model.state(), net);
            if (!entry) return fail(entry.error());
            std::vector<std::string> items;
            for (const auto& version : (*entry)->versions) {
                items.push_back(base::canonical(Json{
                    {"version", version.version},
                    {"seq", version.seq},
                    {"at", base::rfc3339(version.at)},
                    {"by", version.by},
                    {"digest", version.digest.hex()}
                }));
            }
            return list_json(items);
        }
    ));
}

http::Task<http::Response> undeploy_net(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    auto answer = co_await write<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [net = request.parameter("n"
         )](engine::Model& open, const engine::Asker& who) -> Result<std::string> {
            const auto seq = engine::undeploy(open, net, who);
            if (!seq) return fail(seq.error());
            return base::canonical(Json{{"net", net}, {"deployed", false}, {"seq", *seq}});
        },
        [net = request.parameter("n")](const engine::Model&, base::Seq seq) -> Result<std::string> {
            return base::canonical(Json{{"net", net}, {"deployed", false}, {"seq", seq}});
        }
    );
    co_return respond(std::move(answer));
}

http::Task<http::Response> get_transition(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto answer = co_await read<std::string>(
        api,
        request.parameter("m"),
        [&api,
         net = request.parameter("n"),
         name = request.parameter("t")](const engine::Model& model) -> Result<std::string> {
            const auto found = engine::transition_in_force(model.state(), net, name);
            if (!found) return fail(found.error());
            return base::canonical(transition_view(model, *found, api.dispatcher));
        }
    );
    co_return respond(std::move(answer));
}

http::Task<http::Response> list_transitions(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto answer = co_await read<std::string>(
        api,
        request.parameter("m"),
        [&api, net = request.parameter("n")](const engine::Model& model) -> Result<std::string> {
            const auto* current = model.state().current(net);
            if (current == nullptr)
                return fail(ErrorCode::not_found, fmt::format("net '{}' is not deployed", net));
            std::vector<std::string> items;
            for (const auto id : current->transitions) {
                if (items.size() >= page_items_max) break;
                items.push_back(base::canonical(transition_view(model, id, api.dispatcher)));
            }
            return list_json(items);
        }
    );
    co_return respond(std::move(answer));
}

http::Task<http::Response> list_links(Api& api, http::Request request) {
    if (auto known = request.query.only({"type", "place", "asOf"}); !known)
        co_return http::error_response(known.error());
    const auto type = request.query.one("type");
    const auto place = request.query.one("place");
    if (!type || !place) co_return http::error_response(!type ? type.error() : place.error());
    co_return respond(co_await look(
        api,
        request,
        [type = *type, place = *place](const engine::Model& model) -> Result<std::string> {
            std::vector<std::string> items;
            for (const auto& [name, entry] : model.state().nets) {
                if (!entry.current) continue;
                for (const auto& link : links_view(*entry.current->net)) {
                    if (type && link.at("type") != *type) continue;
                    if (place && link.at("from") != *place && link.at("to") != *place) continue;
                    items.push_back(base::canonical(link));
                }
            }
            return list_json(items);
        }
    ));
}

http::Task<http::Response> net_schema(http::Request /*request*/) {
    co_return http::json_response(200, std::string(nets::document_schema()));
}

}  // namespace

void add_net_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::post,
        "/api/models/{m}/nets",
        [&api](Request r) { return deploy_net(api, std::move(r)); },
        {.description =
             "Deploy a net; the body is its document. Errors of the check refuse it, unless "
             "force=true"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/nets",
        [&api](Request r) { return list_nets(api, std::move(r)); },
        {.description = "Nets deployed in a model"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/nets/{n}",
        [&api](Request r) { return get_net(api, std::move(r)); },
        {.description = "One net with its document"}
    );
    router.add(
        Method::delete_,
        "/api/models/{m}/nets/{n}",
        [&api](Request r) { return undeploy_net(api, std::move(r)); },
        {.description = "Undeploy a net that nothing uses"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/nets/{n}/versions",
        [&api](Request r) { return list_versions(api, std::move(r)); },
        {.description = "All versions of a net"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/nets/{n}/transitions",
        [&api](Request r) { return list_transitions(api, std::move(r)); },
        {.description = "Transitions of a net, each with why it does not fire"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/nets/{n}/transitions/{t}",
        [&api](Request r) { return get_transition(api, std::move(r)); },
        {.description = "One transition, with why it does not fire"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/links",
        [&api](Request r) { return list_links(api, std::move(r)); },
        {.description = "Typed relations between places. ?type= and ?place= narrow them down"}
    );
    router.add(
        Method::get,
        "/api/net-schema",
        [](Request r) { return net_schema(std::move(r)); },
        {.description = "JSON Schema of the net document"}
    );
}

}  // namespace server
