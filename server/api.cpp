#include "server/api.hpp"

#include "base/json.hpp"
#include "base/length.hpp"
#include "server/idempotency.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Result;

std::string actor_of(const http::Request& request) {
    const auto* principal = std::any_cast<Principal>(&request.principal);
    if (principal == nullptr) return "nobody";  // of a public route
    return *principal == Principal::executor ? "executor" : "admin";
}

Result<engine::Asker> asker_of(const http::Request& request) {
    engine::Asker asker;
    asker.actor = actor_of(request);
    const auto* intake = std::any_cast<Intake>(&request.intake);
    if (intake == nullptr || !intake->question) return asker;
    asker.request_key =
        asker.actor + "/" + std::string(request.headers.find("Idempotency-Key").value_or(""));
    asker.request_digest = intake->question->digest;
    return asker;
}

http::Task<Result<base::Json>> parse_body(Api& api, std::string_view text) {
    base::JsonLimits limits = base::outside_limits;
    limits.bytes_max = text.size();  // the route has a limit of its own
    if (text.size() <= body_bytes_inline) co_return base::parse_json(text, limits);
    co_return co_await on_worker<base::Json>(api, [text, limits] {
        return base::parse_json(text, limits);
    });
}

http::Task<Result<base::Json>> json_body(Api& api, http::Request& request) {
    auto* intake = std::any_cast<Intake>(&request.intake);
    if (intake != nullptr && intake->body) {
        const auto body = std::exchange(intake->body, nullptr);
        co_return std::move(*body);
    }
    co_return co_await parse_body(api, request.body);
}

Result<PageRequest> page_of(const http::Request& request) {
    PageRequest page;
    const auto limit = request.query.one("limit");
    if (!limit) return fail(limit.error());
    if (*limit) {
        const std::string& text = **limit;
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), page.limit);
        if (error != std::errc{} || end != text.data() + text.size() || page.limit < 1 ||
            page.limit > page_items_max) {
            return fail(
                ErrorCode::validation,
                fmt::format("limit must be a number from 1 to {}", page_items_max)
            );
        }
    }
    auto cursor = request.query.one("cursor");
    if (!cursor) return fail(cursor.error());
    page.cursor = std::move(*cursor);
    return page;
}

Result<std::optional<base::Duration>> wait_of(const http::Request& request) {
    const auto text = request.query.one("wait");
    if (!text) return fail(text.error());
    if (!*text) return std::nullopt;
    const auto wait = base::length_within(**text, {base::Duration{}, wait_max});
    if (!wait) return fail(ErrorCode::validation, "wait " + wait.error().message);
    return *wait;
}

base::Error malformed_cursor() {
    return {ErrorCode::validation, "the cursor is malformed", "use 'next' of the page before", {}};
}

base::Error unknown_model(std::string_view model) {
    return {ErrorCode::not_found, fmt::format("model '{}' does not exist", model), {}, {}};
}

Result<std::string> word_of(
    const http::Request& request,
    std::string_view parameter,
    std::initializer_list<std::string_view> words
) {
    auto given = request.query.one(parameter);
    if (!given) return fail(std::move(given.error()));
    if (!*given || std::ranges::find(words, **given) != words.end()) return given->value_or("");
    return fail(
        ErrorCode::validation,
        fmt::format("'{}' is not what {} may be", **given, parameter),
        fmt::format("use one of: {}", fmt::join(words, ", "))
    );
}

std::string list_json(const std::vector<std::string>& items, std::optional<std::string> next) {
    std::string out = R"({"items":[)";
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i != 0) out += ',';
        out += items[i];
    }
    out += ']';
    if (next) {
        out += R"(,"next":)";
        base::append_canonical_string(out, *next);
    }
    out += '}';
    return out;
}

http::Response respond(Result<std::string> text, int status) {
    if (!text) return http::error_response(text.error());
    return http::json_response(status, std::move(*text));
}

http::Response created(Result<std::string> text, std::string location) {
    auto response = respond(std::move(text), 201);
    if (response.status == 201) response.headers.set("Location", location);
    return response;
}

Result<base::Seq> seq_of(
    Api& api, const std::string& model, std::string_view parameter, const std::string& text
) {
    base::Seq seq = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
    if (error == std::errc{} && end == text.data() + text.size()) return seq;
    const auto at = base::timestamp(text);
    if (!at)
        return fail(
            ErrorCode::validation,
            fmt::format("{} '{}' is neither a seq nor an RFC 3339 time", parameter, text)
        );
    return engine::seq_at(api.engine.log(), model, *at);
}

http::Task<Result<engine::Engine::Past>> model_after(
    Api& api, const std::string& model, base::Seq seq
) {
    auto past = co_await http::await_callback<Result<engine::Engine::Past>>(
        http::WaitLimits{},
        [&](http::Completion<Result<engine::Engine::Past>> done) {
            api.engine.as_of(model, seq, [done](Result<engine::Engine::Past> result) {
                done(std::move(result));
            });
        }
    );
    if (!past) co_return fail(ErrorCode::overloaded, "the master is stopping", "try again later");
    co_return std::move(*past);
}

http::Task<Result<std::string>> look(
    Api& api,
    const http::Request& request,
    std::move_only_function<Result<std::string>(const engine::Model&)> view
) {
    const std::string model = request.parameter("m");
    const auto as_of = request.query.one("asOf");
    if (!as_of) co_return fail(as_of.error());
    if (!*as_of) co_return co_await read<std::string>(api, model, std::move(view));
    auto seq = co_await on_worker<base::Seq>(api, [&api, model, text = **as_of] {
        return seq_of(api, model, "asOf", text);
    });
    if (!seq) co_return fail(std::move(seq.error()));
    const auto past = co_await model_after(api, model, *seq);
    if (!past) co_return fail(past.error());
    co_return view(**past);
}

}  // namespace server
