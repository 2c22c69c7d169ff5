#include "base/json.hpp"
#include "engine/decisions.hpp"
#include "engine/deployable.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

void Decisions::put_initial(Event& event, const nets::Net& net) {
    for (const auto& place : net.places) {
        const PlaceName name{place.shared ? "" : net.name, place.name};
        if (place.tokens.empty() || state().place_in_force(name)) continue;
        for (const auto& token : place.tokens) {
            const auto id = state().ensure_place(name);
            event.produced.push_back({.place = id, .data = places::Payload::make(token)});
        }
    }
}

Result<std::optional<Seq>> answered(const Model& model, const Asker& asker) {
    if (asker.request_key.empty()) return std::nullopt;
    const auto found = model.state().requests.find(asker.request_key);
    if (found == model.state().requests.end()) return std::nullopt;
    if (found->second.digest == asker.request_digest) return found->second.seq;
    return fail(
        ErrorCode::conflict,
        fmt::format("Idempotency-Key '{}' was used for another request", asker.request_key),
        "use a new key for a new request"
    );
}

Result<Deployed> deploy(
    Model& model,
    std::shared_ptr<const nets::Net> net,
    const DeployOptions& options,
    const Asker& asker
) {
    const State& state = model.state();
    const Deployment* current = state.current(net->name);
    if (current != nullptr && current->net->digest == net->digest) {
        return Deployed{current->seq, false};
    }
    const auto entry = state.nets.find(net->name);
    if (entry != state.nets.end()) {
        for (const auto& version : entry->second.versions) {
            if (version.version != net->version || version.digest == net->digest) continue;
            return fail(
                ErrorCode::conflict,
                fmt::format(
                    "version {} of net '{}' exists and is different", net->version, net->name
                ),
                "versions are immutable: give the changed document a new version"
            );
        }
    }
    if (auto good = deployable(state, *net); !good) return fail(std::move(good.error()));
    Decisions decisions{model, asker};
    Event event;
    event.type = EventType::net_deployed;
    event.net = net->name;
    // Running cases follow the new version, as their tokens do.
    event.info = R"({"adopts":true,"document":)" + net->document;
    if (options.forced) event.info += R"(,"forced":true)";
    event.info += '}';
    event.compiled = net;
    if (auto faults = decisions.move_tokens(event, *net); !faults.empty()) {
        return fail(base::Error{
            faults.front().code,
            fmt::format("the tokens of net '{}' cannot move as 'migrate' says", net->name),
            "mend these, or let the firings end first, and deploy again",
            std::move(faults)
        });
    }
    decisions.put_initial(event, *net);
    if (current != nullptr) decisions.drop_claims_of(*current);
    const Seq seq = decisions.emit(std::move(event));
    decisions.end_quiet_cases(net->name);
    return Deployed{seq, true};
}

Result<Seq> undeploy(Model& model, std::string_view net, const Asker& asker) {
    const State& state = model.state();
    const Deployment* current = state.current(net);
    if (current == nullptr) {
        return fail(ErrorCode::not_found, fmt::format("net '{}' is not deployed", net));
    }
    std::vector<base::ErrorDetail> faults;
    for (std::size_t i = 0; i < current->places.size(); ++i) {
        const auto& place = state.store.place(current->places[i]);
        if (place.net.empty() || place.count == 0) continue;
        faults.push_back({
            base::pointer_child("/places", place.name),
            ErrorCode::conflict,
            fmt::format("place '{}' holds {} tokens", place.name, place.count),
        });
    }
    for (const auto id : current->transitions) {
        if (state.transitions[id].in_flight == 0) continue;
        faults.push_back({
            base::pointer_child("/transitions", state.transitions[id].name),
            ErrorCode::conflict,
            fmt::format("{} firings are in flight", state.transitions[id].in_flight),
        });
    }
    if (!faults.empty()) {
        return fail(base::Error{
            ErrorCode::conflict,
            fmt::format("net '{}' is in use", net),
            "cancel its cases and remove its tokens first",
            std::move(faults)
        });
    }
    Event event;
    event.type = EventType::net_undeployed;
    event.net = current->net->name;
    Decisions decisions{model, asker};
    decisions.drop_claims_of(*current);
    return decisions.emit(std::move(event));
}

}  // namespace engine
