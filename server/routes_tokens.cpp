#include "base/limits.hpp"
#include "nets/cel/cel.hpp"
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

constexpr std::size_t scanned_max = 1'000'000;  // tokens looked at for one page

engine::PlaceName place_of(const http::Request& request, bool shared) {
    return {shared ? std::string{} : request.parameter("n"), request.parameter("p")};
}

Result<std::vector<engine::PutToken>> read_tokens(const Json& body) {
    std::vector<base::ErrorDetail> faults;
    std::vector<engine::PutToken> tokens;
    const auto read_one = [&](const Json& one, const std::string& pointer) {
        engine::PutToken token;
        if (!one.is_object()) {
            faults.push_back({pointer, ErrorCode::validation, "must be an object with 'data'"});
            return;
        }
        for (const auto& [key, value] : one.items()) {
            if (key == "data") {
                token.data = base::canonical(value);
            } else if (key == "case") {
                const auto id =
                    value.is_string() ? base::case_id(value.get<std::string>()) : std::nullopt;
                if (!id)
                    faults.push_back(
                        {pointer + "/case", ErrorCode::validation, "is no id of a case"}
                    );
                token.case_id = id.value_or(base::CaseId{});
            } else {
                faults.push_back(
                    {base::pointer_child(pointer, key), ErrorCode::validation, "is unknown"}
                );
            }
        }
        if (!one.contains("data"))
            faults.push_back({pointer + "/data", ErrorCode::validation, "is missing"});
        tokens.push_back(std::move(token));
    };
    if (body.is_object() && body.contains("tokens")) {
        const auto& list = body.at("tokens");
        if (body.size() != 1 || !list.is_array()) {
            faults.push_back({"/tokens", ErrorCode::validation, "must be a list, and alone"});
        } else {
            for (std::size_t i = 0; i < list.size(); ++i)
                read_one(list[i], fmt::format("/tokens/{}", i));
        }
    } else {
        read_one(body, "");
    }
    if (faults.empty()) return tokens;
    return fail(base::Error{
        ErrorCode::validation,
        "no token was put",
        "mend these and send all again",
        std::move(faults)
    });
}

Result<std::string> put_view(const engine::Model& model, base::Seq seq) {
    std::vector<std::string> items;
    for (std::uint32_t n = 0;; ++n) {
        const auto slot = model.state().store.find({seq, n});
        if (slot == places::no_slot) break;
        items.push_back(base::canonical(token_view(model.state(), model.state().store.token(slot)))
        );
    }
    return list_json(items);
}

http::Task<http::Response> put_token(Api& api, http::Request request, bool shared) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    const auto body = co_await json_body(api, request);
    if (!body) co_return http::error_response(body.error());
    auto tokens = read_tokens(*body);
    if (!tokens) co_return http::error_response(tokens.error());
    const auto place = place_of(request, shared);
    const std::string location = request.target;
    auto answer = co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [place, tokens = std::move(*tokens)](
            engine::Model& open, const engine::Asker& who
        ) mutable -> Result<std::string> {
            const auto seq = engine::put_tokens(open, place, std::move(tokens), who);
            if (!seq) return fail(seq.error());
            return put_view(open, *seq);
        },
        [](const engine::Model& open, base::Seq seq) { return put_view(open, seq); }
    );
    co_return created(std::move(answer), location);
}

struct TokenFilter {
    engine::PlaceName place;
    PageRequest page;
    std::optional<nets::cel::Program> where;
};

bool takes(const TokenFilter& filter, const places::Token& token) {
    if (!filter.where) return true;
    const auto data = base::parse_json(token.data.view(), base::limits::stored);
    if (!data) return true;  // it is shown with the reason why nobody can tell
    const auto value = nets::cel::Value::json(*data);
    nets::cel::Budget budget;
    const auto taken = filter.where->evaluate({&value, 1}, budget);
    return taken && taken->is(nets::cel::Kind::boolean) && taken->as_boolean();
}

Result<std::string> page_of_tokens(const engine::Model& model, const TokenFilter& filter) {
    const auto& state = model.state();
    const auto place = state.place(filter.place);
    if (!place)
        return fail(ErrorCode::not_found, fmt::format("place '{}' is unknown", filter.place.name));
    const auto cursor = cursor_of(filter.page, &base::token_id);
    if (!cursor) return fail(cursor.error());
    const base::TokenId after = *cursor;
    auto slot = state.store.first_in(*place);
    if (filter.page.cursor) {
        const auto last = state.store.find(after);
        if (last != places::no_slot && state.store.token(last).place == *place)
            slot = state.store.next_in_place(last);
    }
    std::vector<std::string> items;
    std::optional<std::string> next;
    base::TokenId last_seen = after;
    for (std::size_t scanned = 0; slot != places::no_slot; slot = state.store.next_in_place(slot)) {
        const auto& token = state.store.token(slot);
        if (token.id <= after) continue;
        if (items.size() == filter.page.limit || ++scanned > scanned_max) {
            next = text(last_seen);
            break;
        }
        last_seen = token.id;
        if (takes(filter, token)) items.push_back(base::canonical(token_view(state, token)));
    }
    return list_json(items, std::move(next));
}

http::Task<http::Response> list_tokens(Api& api, http::Request request, bool shared) {
    if (auto known = request.query.only({"limit", "cursor", "where", "asOf"}); !known)
        co_return http::error_response(known.error());
    TokenFilter filter{.place = place_of(request, shared)};
    auto page = page_of(request);
    if (!page) co_return http::error_response(page.error());
    filter.page = std::move(*page);
    const auto where = request.query.one("where");
    if (!where) co_return http::error_response(where.error());
    if (*where) {
        auto program = nets::cel::Program::compile(**where, {{"token"}});
        if (!program) co_return http::error_response(program.error());
        filter.where = std::move(*program);
    }
    co_return respond(co_await look(
        api,
        request,
        [filter = std::move(filter)](const engine::Model& model) {
            return page_of_tokens(model, filter);
        }
    ));
}

http::Task<http::Response> remove_token(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "t", &base::token_id);
    auto asker = asker_of(request);
    if (!id || !asker) co_return http::error_response(!id ? id.error() : asker.error());
    const auto view = [id = *id](base::Seq seq) {
        return base::canonical(Json{{"id", text(id)}, {"removedBy", seq}});
    };
    co_return respond(co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [id = *id, view](engine::Model& open, const engine::Asker& who) -> Result<std::string> {
            const auto seq = engine::remove_token(open, id, who);
            if (!seq) return fail(seq.error());
            return view(*seq);
        },
        [view](const engine::Model&, base::Seq seq) -> Result<std::string> { return view(seq); }
    ));
}

http::Task<http::Response> get_token(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    const auto id = id_of(request, "t", &base::token_id);
    if (!id) co_return http::error_response(id.error());
    co_return respond(co_await look(
        api,
        request,
        [id = *id](const engine::Model& model) -> Result<std::string> {
            const auto slot = model.state().store.find(id);
            if (slot == places::no_slot)
                return fail(
                    ErrorCode::not_found, fmt::format("token {} is not in any place", text(id))
                );
            return base::canonical(token_view(model.state(), model.state().store.token(slot)));
        }
    ));
}

base::Error unreadable_record(base::Seq seq, std::string_view why) {
    return {
        ErrorCode::tamper,
        fmt::format("record {} cannot be read: {}", seq, why),
        "netwright audit verify",
        {}
    };
}

// The records that made the token and those it came from, the newest first.
Result<std::string> ancestry(Api& api, const std::string& model, base::TokenId token) {
    constexpr std::size_t records_max = 1000;
    std::vector<base::Seq> open = {token.seq};
    std::vector<base::Seq> seen;
    std::vector<std::string> items;
    while (!open.empty() && items.size() < records_max) {
        const auto newest = std::ranges::max_element(open);
        const base::Seq seq = *newest;
        open.erase(newest);
        if (std::ranges::find(seen, seq) != seen.end()) continue;
        seen.push_back(seq);
        const auto page = api.engine.log().read(model, seq, {.records_max = 1});
        if (!page) return fail(page.error());
        if (page->records.empty() || page->records.front().seq != seq) break;
        const auto record = base::parse_json(page->records.front().bytes, base::limits::stored);
        if (!record) return fail(unreadable_record(seq, record.error().message));
        items.push_back(record_view(page->records.front()));
        try {
            for (const char* key : {"consumed", "read"}) {
                const auto& data = record->at("data");
                if (!data.contains(key)) continue;
                for (const auto& id : data.at(key)) {
                    if (const auto parent = base::token_id(id.get<std::string>()))
                        open.push_back(parent->seq);
                }
            }
        } catch (const Json::exception& error) {
            return fail(unreadable_record(seq, error.what()));
        }
    }
    if (items.empty())
        return fail(ErrorCode::not_found, fmt::format("token {} was never made", text(token)));
    return list_json(items);
}

http::Task<http::Response> get_ancestry(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "t", &base::token_id);
    if (!id) co_return http::error_response(id.error());
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, model = request.parameter("m"), id = *id]() -> Result<std::string> {
            if (id.seq > api.engine.durable(model))
                return fail(ErrorCode::not_found, fmt::format("token {} was never made", text(id)));
            return ancestry(api, model, id);
        }
    ));
}

http::Task<http::Response> list_dead(Api& api, http::Request request) {
    if (auto known = request.query.only({"limit", "cursor", "asOf"}); !known)
        co_return http::error_response(known.error());
    TokenFilter filter{.place = {"", std::string(engine::dead_letter_place)}};
    auto page = page_of(request);
    if (!page) co_return http::error_response(page.error());
    filter.page = std::move(*page);
    co_return respond(co_await look(
        api,
        request,
        [filter = std::move(filter)](const engine::Model& model) {
            return page_of_tokens(model, filter);
        }
    ));
}

http::Task<http::Response> settle_dead(Api& api, http::Request request, bool again) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "t", &base::token_id);
    auto asker = asker_of(request);
    if (!id || !asker) co_return http::error_response(!id ? id.error() : asker.error());
    const auto view = [id = *id](base::Seq seq) {
        return base::canonical(Json{{"id", text(id)}, {"seq", seq}});
    };
    co_return respond(co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [id = *id, view, again](engine::Model& open, const engine::Asker& who)
            -> Result<std::string> {
            const auto seq = again ? engine::redrive(open, id, who) : engine::drop(open, id, who);
            if (!seq) return fail(seq.error());
            return view(*seq);
        },
        [view](const engine::Model&, base::Seq seq) -> Result<std::string> { return view(seq); }
    ));
}

}  // namespace

void add_token_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    const std::string net_place = "/api/models/{m}/nets/{n}/places/{p}/tokens";
    const std::string shared_place = "/api/models/{m}/places/{p}/tokens";
    for (const bool shared : {false, true}) {
        const auto& pattern = shared ? shared_place : net_place;
        router.add(
            Method::post,
            pattern,
            [&api, shared](Request r) { return put_token(api, std::move(r), shared); },
            {.description = "Put one token, or an atomic batch"}
        );
        router.add(
            Method::get,
            pattern,
            [&api, shared](Request r) { return list_tokens(api, std::move(r), shared); },
            {.description =
                 "Tokens of a place, the oldest first. ?where= filters by an expression over token"}
        );
    }
    router.add(
        Method::get,
        "/api/models/{m}/tokens/{t}",
        [&api](Request r) { return get_token(api, std::move(r)); },
        {.description = "One token"}
    );
    router.add(
        Method::delete_,
        "/api/models/{m}/tokens/{t}",
        [&api](Request r) { return remove_token(api, std::move(r)); },
        {.description = "Remove a token that nothing holds"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/tokens/{t}/ancestry",
        [&api](Request r) { return get_ancestry(api, std::move(r)); },
        {.description = "The records that led to a token, the newest first"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/dead-letters",
        [&api](Request r) { return list_dead(api, std::move(r)); },
        {.description = "Dead letters"}
    );
    router.add(
        Method::post,
        "/api/models/{m}/dead-letters/{t}/redrive",
        [&api](Request r) { return settle_dead(api, std::move(r), true); },
        {.description = "Put the tokens of a dead letter back to where they were"}
    );
    router.add(
        Method::post,
        "/api/models/{m}/dead-letters/{t}/drop",
        [&api](Request r) { return settle_dead(api, std::move(r), false); },
        {.description = "Drop a dead letter"}
    );
}

}  // namespace server
