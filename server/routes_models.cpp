#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

namespace server {

namespace {

base::Json model_view(const engine::State& state) {
    base::Json view = {
        {"id", state.model},
        {"seq", state.seq},
        {"epoch", state.epoch},
        {"tokens", state.store.size()},
        {"cases", state.cases.size() + state.retired},
        {"operations", state.operations.size()},
        {"deadLetters", state.dead_letters},
    };
    const auto pause = state.pauses.find(std::pair{std::string(), std::string()});
    if (pause != state.pauses.end()) view["paused"] = pause_view(pause->second);
    return view;
}

// A model that cannot be used, and why.
base::Json closed_view(const std::string& name, const base::Error& error) {
    base::Json view = {{"id", name}, {"fault", error.message}, {"code", base::name(error.code)}};
    if (!error.next.empty()) view["next"] = error.next;
    return view;
}

http::Task<http::Response> list_models(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto names = co_await on_worker<std::vector<std::string>>(api, [&api] {
        return api.engine.log().models();
    });
    if (!names) co_return http::error_response(names.error());
    std::vector<std::string> items;
    for (const auto& name : *names) {
        auto item = co_await read<std::string>(
            api,
            name,
            [](const engine::Model& model) -> base::Result<std::string> {
                return base::canonical(model_view(model.state()));
            }
        );
        items.push_back(item ? std::move(*item) : base::canonical(closed_view(name, item.error())));
    }
    co_return http::json_response(200, list_json(items));
}

http::Task<http::Response> get_model(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    co_return respond(co_await look(
        api,
        request,
        [](const engine::Model& model) -> base::Result<std::string> {
            return base::canonical(model_view(model.state()));
        }
    ));
}

}  // namespace

void add_model_routes(http::Router& router, Api& api) {
    router.add(
        http::Method::get,
        "/api/models",
        [&api](http::Request r) { return list_models(api, std::move(r)); },
        {.description = "All models"}
    );
    router.add(
        http::Method::get,
        "/api/models/{m}",
        [&api](http::Request r) { return get_model(api, std::move(r)); },
        {.description = "One model in figures"}
    );
}

}  // namespace server
