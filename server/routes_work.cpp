#include "base/json.hpp"
#include "base/length.hpp"
#include "engine/claim_length.hpp"
#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

// One field of a request's body, or a fault.
class Body {
public:
    Body(const Json& body, std::initializer_list<std::string_view> known) : body_(body) {
        if (!body.is_object()) {
            fault("", "must be an object");
            return;
        }
        for (const auto& [key, value] : body.items()) {
            if (std::ranges::find(known, key) == known.end()) {
                fault(base::pointer_child("", key), "is unknown");
            }
        }
    }

    [[nodiscard]] const Json* find(const char* name) const {
        if (!body_.is_object()) return nullptr;
        const auto found = body_.find(name);
        return found == body_.end() ? nullptr : &*found;
    }
    std::string text(const char* name, bool required) {
        const Json* value = find(name);
        if (value == nullptr) {
            if (required) fault(base::pointer_child("", name), "is missing");
            return {};
        }
        if (value->is_string()) return value->get<std::string>();
        fault(base::pointer_child("", name), "must be a string");
        return {};
    }
    base::Duration duration(const char* name, base::Duration otherwise) {
        const auto given = text(name, false);
        if (given.empty()) return otherwise;
        const auto length = base::length_within(given, {engine::claim_min, engine::claim_max});
        if (!length) fault(base::pointer_child("", name), length.error().message);
        return length.value_or(otherwise);
    }
    std::uint64_t number(const char* name) {
        const Json* value = find(name);
        if (value == nullptr) return 0;
        if (value->is_number_integer() && value->get<std::int64_t>() >= 0)
            return value->get<std::uint64_t>();
        fault(
            base::pointer_child("", name),
            fmt::format(
                "must be a whole number from 0{}",
                value->is_number() ? ", not " + value->dump() : ""
            )
        );
        return 0;
    }
    void fault(std::string pointer, std::string message) {
        faults_.push_back({std::move(pointer), ErrorCode::validation, std::move(message)});
    }
    [[nodiscard]] Result<void> good() const {
        if (faults_.empty()) return {};
        return fail(base::Error{
            ErrorCode::validation, "the body has faults", "mend these and send it again", faults_
        });
    }

private:
    const Json& body_;
    std::vector<base::ErrorDetail> faults_;
};

Json hold_view(const engine::State& state, const engine::WorkHold& hold) {
    Json view = work_view(state, *state.find_operation(hold.operation));
    view["claim"] = hold.claim;
    return view;
}

http::Task<http::Response> list_work(Api& api, http::Request request) {
    if (auto known = request.query.only({"state", "skill", "limit", "cursor", "asOf"}); !known)
        co_return http::error_response(known.error());
    const auto state = word_of(request, "state", {"available", "claimed", "waiting", "returned"});
    const auto skill = request.query.one("skill");
    const auto page = page_of(request);
    if (!state || !skill || !page)
        co_return http::error_response(
            !state   ? state.error()
            : !skill ? skill.error()
                     : page.error()
        );
    const auto after = cursor_of(*page, &base::operation_id);
    if (!after) co_return http::error_response(after.error());
    co_return respond(co_await look(
        api,
        request,
        [state = *state, skill = skill->value_or(""), after = *after, limit = page->limit](
            const engine::Model& model
        ) -> Result<std::string> {
            const auto shown = [&](base::OperationId id) -> std::optional<std::string> {
                const Json view = work_view(model.state(), *model.state().find_operation(id));
                if (!state.empty() && view.at("state") != state) return std::nullopt;
                if (!skill.empty() && view.at("skill") != skill) return std::nullopt;
                return base::canonical(view);
            };
            return list_operations_after(model.state().work.open(), after, limit, shown);
        }
    ));
}

Result<const engine::Operation*> packet(const engine::Model& model, base::OperationId id) {
    const auto* operation = model.state().find_operation(id);
    if (operation != nullptr && engine::performer(operation->rules()) == engine::Performer::agent)
        return operation;
    return fail(
        ErrorCode::not_found,
        fmt::format("work {} is unknown or over", text(id)),
        "its case shows how it ended"
    );
}

http::Task<http::Response> get_work(Api& api, http::Request request) {
    if (auto known = request.query.only({"asOf"}); !known)
        co_return http::error_response(known.error());
    const auto id = id_of(request, "o", &base::operation_id);
    if (!id) co_return http::error_response(id.error());
    co_return respond(co_await look(
        api,
        request,
        [id = *id](const engine::Model& model) -> Result<std::string> {
            const auto found = packet(model, id);
            if (!found) return fail(found.error());
            return base::canonical(work_view(model.state(), **found));
        }
    ));
}

Result<engine::WorkRequest> read_claim(const Json& json, base::OperationId operation) {
    Body body(json, {"agent", "skill", "lease"});
    engine::WorkRequest wanted;
    wanted.operation = operation;
    wanted.agent = body.text("agent", true);
    wanted.skill = body.text("skill", false);
    wanted.length = body.duration("lease", wanted.length);
    if (auto good = body.good(); !good) return fail(std::move(good.error()));
    return wanted;
}

// "" when no packet fits.
http::Task<Result<std::string>> claim_once(
    Api& api, std::string model, engine::Asker asker, engine::WorkRequest wanted
) {
    co_return co_await write_existing<std::string>(
        api,
        std::move(model),
        std::move(asker),
        [wanted = std::move(wanted
         )](engine::Model& open, const engine::Asker& who) -> Result<std::string> {
            const auto hold = engine::claim_work(open, wanted, who);
            if (!hold) return fail(hold.error());
            if (!hold->operation) return std::string{};
            return base::canonical(hold_view(open.state(), *hold));
        },
        [](const engine::Model& open, base::Seq seq) -> Result<std::string> {
            // The claim's name ends with the record that made it.
            for (const auto id : open.state().work.open()) {
                const auto& operation = *open.state().find_operation(id);
                if (operation.claim.ends_with(fmt::format("-{}", seq)))
                    return base::canonical(hold_view(open.state(), {id, operation.claim}));
            }
            return fail(ErrorCode::fenced, "the claim is not in force any more", "claim again");
        }
    );
}

http::Task<http::Response> claim_work(Api& api, http::Request request, bool any) {
    if (auto known = request.query.only({"wait"}); !known)
        co_return http::error_response(known.error());
    const auto wait = wait_of(request);
    auto asker = asker_of(request);
    const auto body = co_await json_body(api, request);
    if (!wait || !asker || !body)
        co_return http::error_response(
            !wait    ? wait.error()
            : !asker ? asker.error()
                     : body.error()
        );
    base::OperationId operation;
    if (!any) {
        const auto id = id_of(request, "o", &base::operation_id);
        if (!id) co_return http::error_response(id.error());
        operation = *id;
    }
    auto wanted = read_claim(*body, operation);
    if (!wanted) co_return http::error_response(wanted.error());
    const std::string model = request.parameter("m");
    const auto until = base::system_clock().elapsed() + wait->value_or(base::Duration{});
    while (true) {
        const base::Seq seen = api.engine.durable(model);
        auto claimed = co_await claim_once(api, model, *asker, *wanted);
        if (!claimed || !claimed->empty()) {
            const auto location = fmt::format("/api/models/{}/work", model);
            co_return created(std::move(claimed), location);
        }
        const auto left = until - base::system_clock().elapsed();
        if (left.us <= 0 || request.stop.stopped()) break;
        co_await http::await_callback<bool>(
            http::WaitLimits{.at_most = left, .stop = request.stop},
            [&](http::Completion<bool> done) {
                api.engine.when_beyond(model, seen, left, [done] { done(true); });
            }
        );
    }
    co_return http::error_response(base::Error{
        ErrorCode::not_found, "no work packet is open that fits", "ask again, with ?wait=30s", {}
    });
}

using Act = std::move_only_function<
    Result<base::Seq>(engine::Model&, const engine::WorkHold&, const engine::Asker&)>;

// What only whoever holds the claim may do.
http::Task<http::Response> act(Api& api, http::Request request, std::string claim, Act act) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto id = id_of(request, "o", &base::operation_id);
    auto asker = asker_of(request);
    if (!id || !asker) co_return http::error_response(!id ? id.error() : asker.error());
    const auto view = [id = *id](const engine::Model& model, base::Seq seq) {
        const auto found = packet(model, id);
        Json said = found ? work_view(model.state(), **found)
                          : Json{{"operation", text(id)}, {"state", "over"}};
        said["seq"] = seq;
        return base::canonical(said);
    };
    co_return respond(co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [hold = engine::WorkHold{*id, std::move(claim)},
         act = std::move(act),
         view](engine::Model& open, const engine::Asker& who) mutable -> Result<std::string> {
            const auto seq = act(open, hold, who);
            if (!seq) return fail(seq.error());
            return view(open, *seq);
        },
        [view](const engine::Model& open, base::Seq seq) -> Result<std::string> {
            return view(open, seq);
        }
    ));
}

http::Task<http::Response> heartbeat(Api& api, http::Request request) {
    const auto json = co_await json_body(api, request);
    if (!json) co_return http::error_response(json.error());
    Body body(*json, {"claim", "lease", "steps", "note"});
    auto claim = body.text("claim", true);
    engine::WorkProgress progress;
    progress.length = body.duration("lease", progress.length);
    progress.steps = body.number("steps");
    progress.note = body.text("note", false);
    if (auto good = body.good(); !good) co_return http::error_response(good.error());
    co_return co_await act(
        api,
        std::move(request),
        std::move(claim),
        [progress](engine::Model& open, const engine::WorkHold& hold, const engine::Asker& who) {
            return engine::extend_work(open, hold, progress, who);
        }
    );
}

http::Task<http::Response> release(Api& api, http::Request request) {
    const auto json = co_await json_body(api, request);
    if (!json) co_return http::error_response(json.error());
    Body body(*json, {"claim", "reason"});
    auto claim = body.text("claim", true);
    auto reason = body.text("reason", false);
    if (reason.empty()) reason = "given up";
    if (auto good = body.good(); !good) co_return http::error_response(good.error());
    co_return co_await act(
        api,
        std::move(request),
        std::move(claim),
        [reason](engine::Model& open, const engine::WorkHold& hold, const engine::Asker& who) {
            return engine::release_work(open, hold, reason, who);
        }
    );
}

http::Task<http::Response> finish(
    Api& api, http::Request request, std::string claim, engine::WorkResult result
) {
    return act(
        api,
        std::move(request),
        std::move(claim),
        [result](engine::Model& open, const engine::WorkHold& hold, const engine::Asker& who) {
            return engine::finish_work(open, hold, result, who);
        }
    );
}

http::Task<http::Response> complete(Api& api, http::Request request) {
    const auto json = co_await json_body(api, request);
    if (!json) co_return http::error_response(json.error());
    Body body(*json, {"claim", "result", "steps"});
    auto claim = body.text("claim", true);
    engine::WorkResult result;
    result.steps = body.number("steps");
    if (const auto* given = body.find("result")) {
        result.result = base::canonical(*given);
    } else {
        body.fault("/result", "is missing");
    }
    if (auto good = body.good(); !good) co_return http::error_response(good.error());
    co_return co_await finish(api, std::move(request), std::move(claim), std::move(result));
}

http::Task<http::Response> fail_work(Api& api, http::Request request) {
    const auto json = co_await json_body(api, request);
    if (!json) co_return http::error_response(json.error());
    Body body(*json, {"claim", "code", "message", "steps"});
    auto claim = body.text("claim", true);
    const auto named = body.text("code", false);
    const auto code = base::error_code_from_name(named.empty() ? "upstream" : named);
    if (!code) body.fault("/code", "is no error code");
    engine::WorkResult result;
    result.steps = body.number("steps");
    result.error =
        base::Error{code.value_or(ErrorCode::upstream), body.text("message", true), {}, {}};
    if (auto good = body.good(); !good) co_return http::error_response(good.error());
    co_return co_await finish(api, std::move(request), std::move(claim), std::move(result));
}

}  // namespace

void add_work_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    const std::string work = "/api/models/{m}/work";
    router.add(
        Method::get,
        work,
        [&api](Request r) { return list_work(api, std::move(r)); },
        {.description = "Work packets that are open. ?state=available|claimed|waiting|returned, "
                        "?skill="}
    );
    router.add(
        Method::get,
        work + "/{o}",
        [&api](Request r) { return get_work(api, std::move(r)); },
        {.description = "One work packet"}
    );
    router.add(
        Method::post,
        work + "/claim",
        [&api](Request r) { return claim_work(api, std::move(r), true); },
        {.long_poll = true,
         .description = "Claim the oldest packet that fits: {agent, skill?, lease?}. ?wait=30s "
                        "waits for one"}
    );
    router.add(
        Method::post,
        work + "/{o}/claim",
        [&api](Request r) { return claim_work(api, std::move(r), false); },
        {.description = "Claim this packet: {agent, lease?}"}
    );
    router.add(
        Method::post,
        work + "/{o}/heartbeat",
        [&api](Request r) { return heartbeat(api, std::move(r)); },
        {.description = "Keep the claim: {claim, lease?, steps?, note?}"}
    );
    router.add(
        Method::post,
        work + "/{o}/complete",
        [&api](Request r) { return complete(api, std::move(r)); },
        {.description = "Hand in the result: {claim, result, steps?}"}
    );
    router.add(
        Method::post,
        work + "/{o}/fail",
        [&api](Request r) { return fail_work(api, std::move(r)); },
        {.description = "Say that it failed: {claim, message, code?, steps?}"}
    );
    router.add(
        Method::post,
        work + "/{o}/release",
        [&api](Request r) { return release(api, std::move(r)); },
        {.description = "Give the claim back: {claim, reason?}"}
    );
}

}  // namespace server
