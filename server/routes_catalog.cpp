#include "server/api.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

Result<std::string> text_parameter(
    const http::Request& request, std::string_view name, std::string standard = {}
) {
    auto value = request.query.one(name);
    if (!value) return fail(value.error());
    return value->value_or(std::move(standard));
}

Result<catalog::Query> query_of(const http::Request& request) {
    catalog::Query query;
    const auto page = page_of(request);
    if (!page) return fail(page.error());
    query.limit = page->limit;
    if (page->cursor) {
        const auto& text = *page->cursor;
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), query.offset);
        if (error != std::errc{} || end != text.data() + text.size()) {
            return fail(malformed_cursor());
        }
    }
    for (const auto& [name, into] :
         {std::pair{"model", &query.model},
          {"q", &query.text},
          {"type", &query.type},
          {"status", &query.status},
          {"lifecycle", &query.lifecycle},
          {"capability", &query.capability}}) {
        auto value = text_parameter(request, name, *into);
        if (!value) return fail(value.error());
        *into = std::move(*value);
    }
    return query;
}

// A read answers once what it saw is durable: it goes over the strands of the models it looks into.
http::Task<Result<std::string>> seen_durable(
    Api& api, std::string model, std::move_only_function<Result<std::string>()> view
) {
    auto answer = std::make_shared<Result<std::string>>(view());  // shared: over two strands
    for (const std::string& name : {model, std::string(catalog::global_model)}) {
        if (api.engine.durable(name) == 0) continue;
        auto seen = co_await read<bool>(api, name, [](const engine::Model&) -> Result<bool> {
            return true;
        });
        if (!seen) co_return fail(std::move(seen.error()));
    }
    co_return std::move(*answer);
}

http::Task<http::Response> search_tools(Api& api, http::Request request) {
    if (auto known = request.query.only(
            {"type", "q", "status", "lifecycle", "capability", "model", "limit", "cursor"}
        );
        !known) {
        co_return http::error_response(known.error());
    }
    auto query = query_of(request);
    if (!query) co_return http::error_response(query.error());
    const std::string model = query->model;
    co_return respond(co_await seen_durable(
        api,
        model,
        [&api, query = std::move(*query)]() -> Result<std::string> {
            const auto page = api.catalog.search(query);
            std::vector<std::string> items;
            for (const auto& found : page.items)
                items.push_back(catalog::item_json(found));
            std::optional<std::string> next;
            if (page.more) next = std::to_string(query.offset + items.size());
            return list_json(items, std::move(next));
        }
    ));
}

Result<std::string> item_of(
    Api& api, const std::string& model, const std::string& id, const std::string& version
) {
    auto found = api.catalog.resolve(model, id);
    if (found && !version.empty() && found->item->version_hash != version &&
        found->item->version != version) {
        const auto older = api.catalog.version(model, id, version);
        found = older ? std::optional(catalog::Found{
                            std::make_shared<const catalog::Item>(*older),
                            found->model,
                            found->global,
                            false
                        })
                      : std::nullopt;
    }
    if (found) return catalog::item_json(*found);
    return fail(
        ErrorCode::not_found,
        fmt::format(
            "tool '{}' is in neither the catalog of model '{}' nor the global one", id, model
        ),
        "search for it: netwright tool search"
    );
}

// The entry as a model's catalog held it: its own first, then the global one at the same time.
Result<std::string> item_in_past(const engine::Model& past, const std::string& id) {
    std::optional<catalog::Item> item;
    for (auto& version : catalog::Catalog::versions(past, id))
        item = std::move(version);
    if (!item) {
        return fail(
            ErrorCode::not_found,
            fmt::format(
                "tool '{}' was not in the catalog of model '{}' then", id, past.state().model
            )
        );
    }
    const bool global = past.state().model == catalog::global_model;
    return catalog::item_json(
        {std::make_shared<const catalog::Item>(std::move(*item)), past.state().model, global, false}
    );
}

http::Task<Result<std::string>> as_of_item(
    Api& api, std::string model, std::string id, std::string as_of
) {
    auto seq = co_await on_worker<base::Seq>(api, [&api, model, as_of]() -> Result<base::Seq> {
        base::Seq value = 0;
        const auto [end, error] = std::from_chars(as_of.data(), as_of.data() + as_of.size(), value);
        if (error == std::errc{} && end == as_of.data() + as_of.size()) return value;
        const auto at = base::timestamp(as_of);
        if (!at)
            return fail(
                ErrorCode::validation,
                fmt::format("asOf '{}' is neither a seq nor an RFC 3339 time", as_of)
            );
        return engine::seq_at(api.engine.log(), model, *at);
    });
    if (!seq) co_return fail(std::move(seq.error()));
    const auto past = co_await model_after(api, model, *seq);
    if (!past) co_return fail(past.error());
    auto item = item_in_past(**past, id);
    if (item || model == catalog::global_model) co_return item;
    // Not local then: the global catalog at the time of that record.
    const std::string at = base::rfc3339((*past)->state().ts);
    co_return co_await as_of_item(api, std::string(catalog::global_model), std::move(id), at);
}

http::Task<http::Response> get_tool(Api& api, http::Request request) {
    if (auto known = request.query.only({"model", "version", "asOf"}); !known)
        co_return http::error_response(known.error());
    auto model = text_parameter(request, "model", std::string(catalog::global_model));
    auto version = text_parameter(request, "version");
    auto as_of = text_parameter(request, "asOf");
    if (!model || !version || !as_of)
        co_return http::error_response(
            !model     ? model.error()
            : !version ? version.error()
                       : as_of.error()
        );
    const std::string id = request.parameter("id");
    if (!as_of->empty() && !version->empty()) {
        co_return http::error_response(base::Error{
            ErrorCode::validation,
            "version and asOf exclude each other: the version of a past seq or time is found by it",
            "leave one of them out; the versions of a tool: GET /api/tool-catalog/{id}/versions",
            {}
        });
    }
    if (!as_of->empty()) co_return respond(co_await as_of_item(api, *model, id, *as_of));
    co_return respond(co_await seen_durable(
        api,
        *model,
        [&api, model = *model, id, version = *version] { return item_of(api, model, id, version); }
    ));
}

http::Task<http::Response> list_tool_versions(Api& api, http::Request request) {
    if (auto known = request.query.only({"model"}); !known)
        co_return http::error_response(known.error());
    auto model = text_parameter(request, "model", std::string(catalog::global_model));
    if (!model) co_return http::error_response(model.error());
    const std::string id = request.parameter("id");
    const auto found = api.catalog.resolve(*model, id);
    if (!found) co_return respond(item_of(api, *model, id, ""));
    co_return respond(co_await read<std::string>(
        api,
        found->model,
        [id](const engine::Model& open) -> Result<std::string> {
            std::vector<std::string> items;
            const bool global = open.state().model == catalog::global_model;
            for (auto& item : catalog::Catalog::versions(open, id)) {
                items.push_back(catalog::item_json(
                    {std::make_shared<const catalog::Item>(std::move(item)),
                     open.state().model,
                     global,
                     false}
                ));
            }
            return list_json(items);
        }
    ));
}

struct Registered {
    std::string item;
    bool changed = false;
};

http::Task<http::Response> register_script(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    const auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    auto script = catalog::read_script_registration(*body);
    if (!script) co_return http::error_response(script.error());
    const std::string model =
        script->model.empty() ? std::string(catalog::global_model) : script->model;
    // The blob is there, and pinned, before a durable record names it.
    using PinPtr = std::shared_ptr<blobstore::Pinned>;  // shared: held until the record is durable
    auto pinned =
        co_await on_worker<PinPtr>(api, [&api, content = script->content]() -> Result<PinPtr> {
            auto put = blobstore::put(api.blobs, content);
            if (!put) return fail(std::move(put.error()));
            return std::make_shared<blobstore::Pinned>(std::move(*put));
        });
    if (!pinned) co_return http::error_response(pinned.error());
    const std::string id = script->entry().at("id");
    const auto item_now = [&api, model, id]() -> Result<Registered> {
        const auto found = api.catalog.resolve(model, id);
        if (!found) return fail(ErrorCode::not_found, fmt::format("tool '{}' is gone", id));
        return Registered{catalog::item_json(*found), true};
    };
    auto answer = co_await write<Registered>(
        api,
        model,
        std::move(*asker),
        [&api,
         script = *script,
         item_now](engine::Model& open, const engine::Asker& who) -> Result<Registered> {
            const base::Seq before = open.state().seq;
            const auto item = api.catalog.record(
                open, script.entry(), script.version, script.expected_version, who
            );
            if (!item) return fail(item.error());
            auto made = item_now();
            if (made) made->changed = open.state().seq != before;
            return made;
        },
        [id](const engine::Model& then, base::Seq) -> Result<Registered> {
            auto item = item_in_past(then, id);
            if (!item) return fail(std::move(item.error()));
            return Registered{std::move(*item), true};
        }
    );
    if (!answer) co_return http::error_response(answer.error());
    if (!answer->changed) co_return http::json_response(200, std::move(answer->item));
    co_return created(
        std::move(answer->item), fmt::format("/api/tool-catalog/{}?model={}", id, model)
    );
}

}  // namespace

void add_catalog_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::get,
        "/api/tool-catalog",
        [&api](Request r) { return search_tools(api, std::move(r)); },
        {.description = "Search the tools that a model sees"}
    );
    router.add(
        Method::get,
        "/api/tool-catalog/{id}",
        [&api](Request r) { return get_tool(api, std::move(r)); },
        {.description = "One tool, as a model sees it"}
    );
    router.add(
        Method::get,
        "/api/tool-catalog/{id}/versions",
        [&api](Request r) { return list_tool_versions(api, std::move(r)); },
        {.description = "Every version of a tool"}
    );
    router.add(
        Method::post,
        "/api/tool-catalog/scripts",
        [&api](Request r) { return register_script(api, std::move(r)); },
        {.description = "Register a script"}
    );
}

}  // namespace server
