#include "base/json.hpp"
#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace server {

using base::fail;
using base::Json;
using base::Result;

namespace {

// Of a model, a net or a transition: what the path does not name is empty.
struct Target {
    std::string net;
    std::string transition;
};

Json paused_view(const engine::State& state, const Target& target, base::Seq seq) {
    Json view = {
        {"paused", state.pauses.contains(std::pair{target.net, target.transition})}, {"seq", seq}
    };
    if (!target.net.empty()) view["net"] = target.net;
    if (!target.transition.empty()) view["transition"] = target.transition;
    return view;
}

using Decide =
    Result<base::Seq> (*)(engine::Model&, std::string_view, std::string_view, const engine::Asker&);

http::Task<http::Response> decide_on(
    Api& api, http::Request request, Target target, Decide decide
) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    auto asker = asker_of(request);
    if (!asker) co_return http::error_response(asker.error());
    co_return respond(co_await write_existing<std::string>(
        api,
        request.parameter("m"),
        std::move(*asker),
        [target, decide](engine::Model& open, const engine::Asker& who) -> Result<std::string> {
            const auto seq = decide(open, target.net, target.transition, who);
            if (!seq) return fail(seq.error());
            return base::canonical(paused_view(open.state(), target, *seq));
        },
        [target](const engine::Model& open, base::Seq seq) -> Result<std::string> {
            return base::canonical(paused_view(open.state(), target, seq));
        }
    ));
}

Json tokens_view(const engine::State& state, const engine::Binding::Tokens& slots) {
    Json tokens = Json::array();
    for (const auto slot : slots)
        tokens.push_back(token_view(state, state.store.token(slot)));
    return tokens;
}

Json produced_view(const engine::State& state, const engine::Event& event) {
    Json made = Json::array();
    for (const auto& token : event.produced) {
        const auto& place = state.store.place(token.place);
        Json one = {{"place", place.name}};
        put_stored(one, "data", token.data.view());
        if (!place.net.empty()) one["net"] = place.net;
        if (token.case_id && place.cases) one["case"] = text(token.case_id);
        if (token.visible_at.us != 0) one["visibleAt"] = base::rfc3339(token.visible_at);
        made.push_back(std::move(one));
    }
    return made;
}

Json dry_run_view(
    const engine::State& state, const nets::Transition& rules, const engine::DryRun& run
) {
    Json binding = Json::object();
    for (std::size_t arc = 0; arc < run.binding.arcs.size() && arc < rules.in.size(); ++arc)
        binding[rules.in[arc].alias] = tokens_view(state, run.binding.arcs[arc]);
    Json view = {{"transition", rules.name}, {"binding", std::move(binding)}};
    if (run.binding.case_id) view["case"] = text(run.binding.case_id);
    if (run.event) {
        view["record"] = name(run.event->type);
        view["produces"] = produced_view(state, *run.event);
        if (!run.event->error.empty()) put_stored(view, "error", run.event->error);
    } else if (run.error) {
        view["error"] = {{"code", base::name(run.error->code)}, {"message", run.error->message}};
    } else {
        put_stored(view, "input", run.input);
    }
    if (!run.resets.empty()) {
        view["resets"] = Json::array();
        for (const auto slot : run.resets)
            view["resets"].push_back(token_view(state, state.store.token(slot)));
    }
    if (run.full) {
        view["waits"] =
            fmt::format("place '{}' has no room for it", state.store.place(*run.full).name);
    }
    return view;
}

http::Task<http::Response> try_transition(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    co_return respond(co_await read<std::string>(
        api,
        request.parameter("m"),
        [net = request.parameter("n"),
         transition = request.parameter("t")](const engine::Model& model) -> Result<std::string> {
            const auto run = engine::dry_run(model, net, transition, model.now());
            if (!run) return fail(run.error());
            const auto& state = model.state();
            const auto& entry = state.transitions[*state.find_transition(net, transition)];
            return base::canonical(dry_run_view(state, entry.rules(), *run));
        }
    ));
}

}  // namespace

void add_scheduling_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    const std::string model = "/api/models/{m}";
    const std::string net = model + "/nets/{n}";
    const std::string transition = net + "/transitions/{t}";
    struct Verb {
        std::string_view name;
        std::string_view words;
        Decide decide;
    };
    for (const auto& verb :
         {Verb{"pause", "Hold back new firings of a ", &engine::pause},
          Verb{"resume", "Let go what was paused: a ", &engine::resume}}) {
        const auto path = [&](const std::string& of) { return of + "/" + std::string(verb.name); };
        const auto words = [&](const char* of) { return std::string(verb.words) + of; };
        router.add(
            Method::post,
            path(model),
            [&api, decide = verb.decide](Request r) {
                return decide_on(api, std::move(r), {}, decide);
            },
            {.description = words("model")}
        );
        router.add(
            Method::post,
            path(net),
            [&api, decide = verb.decide](Request r) {
                Target target{r.parameter("n"), ""};
                return decide_on(api, std::move(r), std::move(target), decide);
            },
            {.description = words("net")}
        );
        router.add(
            Method::post,
            path(transition),
            [&api, decide = verb.decide](Request r) {
                Target target{r.parameter("n"), r.parameter("t")};
                return decide_on(api, std::move(r), std::move(target), decide);
            },
            {.description = words("transition")}
        );
    }
    router.add(
        Method::post,
        transition + "/fire",
        [&api](Request r) {
            Target target{r.parameter("n"), r.parameter("t")};
            return decide_on(api, std::move(r), std::move(target), &engine::fire_once);
        },
        {.description = "Fire a transition once, paused or not"}
    );
    router.add(
        Method::post,
        transition + "/dry-run",
        [&api](Request r) { return try_transition(api, std::move(r)); },
        {.description = "What the next firing would take and make; changes nothing"}
    );
}

}  // namespace server
