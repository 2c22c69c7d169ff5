#include "server/views.hpp"

#include "base/limits.hpp"
#include "engine/decide.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace server {

using base::Json;

void put_stored(Json& view, const char* name, std::string_view json) {
    auto parsed = base::parse_json(json, base::limits::stored);
    if (parsed) {
        view[name] = std::move(*parsed);
    } else {
        view["unreadable"][name] = parsed.error().message;
    }
}

Json token_view(const engine::State& state, const places::Token& token) {
    const auto& place = state.store.place(token.place);
    Json view = {
        {"id", text(token.id)},
        {"place", place.name},
        {"seq", token.id.seq},
        {"at", base::rfc3339(token.at)},
    };
    put_stored(view, "data", token.data.view());
    if (!place.net.empty()) view["net"] = place.net;
    if (token.case_id) view["case"] = text(token.case_id);
    if (token.hidden) view["visibleAt"] = base::rfc3339(token.visible_at);
    if (token.holder != 0) {
        const bool claim = (token.holder & places::claim_bit) != 0;
        view["reservedBy"] = claim ? "preparing" : text(base::OperationId{token.holder});
    }
    return view;
}

std::string case_state(const engine::Model& model, const engine::Case& value) {
    if (value.state != engine::CaseState::running) return std::string(name(value.state));
    const bool claimed = std::ranges::any_of(model.claims(), [&](const auto& claim) {
        return claim.second.enabled.binding.case_id == value.id;
    });
    const bool busy = !value.operations.empty() || value.delayed != 0 || claimed ||
                      model.scheduler().has_work() || model.scheduler().goes_on(value.id);
    return busy ? "running" : "waiting";
}

namespace {

// The case's tokens, by where they are. Those of a case that is over may have moved since, to what
// are end places of the version in force.
void add_tokens(
    Json& view, const engine::State& state, base::CaseId id, std::vector<places::PlaceId> ends
) {
    if (const auto* current = state.current(view.at("net").get<std::string>())) {
        const auto more = current->ends();
        ends.insert(ends.end(), more.begin(), more.end());
    }
    std::vector<const places::Token*> tokens;
    for (auto slot = state.store.first_of_case(id);
         slot != places::no_slot && tokens.size() < listed_max;
         slot = state.store.next_of_case(slot)) {
        tokens.push_back(&state.store.token(slot));
    }
    std::ranges::sort(tokens, {}, [](const places::Token* token) { return token->id; });
    for (const char* const list : {"end", "left", "deadLetters"})
        view[list] = Json::array();
    for (const auto* token : tokens) {
        const bool at_end = std::ranges::find(ends, token->place) != ends.end();
        const char* const list = token->place == state.dead_letter() ? "deadLetters"
                                 : at_end                            ? "end"
                                                                     : "left";
        view[list].push_back(token_view(state, *token));
    }
}

Json summary_view(const engine::OperationSummary& summary) {
    Json entry = {
        {"id", text(summary.id)},
        {"transition", summary.transition},
        {"toolId", summary.tool_id},
        {"versionHash", summary.version_hash},
        {"state", summary.state},
    };
    if (!summary.error.empty()) put_stored(entry, "error", summary.error);
    return entry;
}

Json summaries_view(const auto& finished) {
    Json operations = Json::array();
    for (const auto& summary : finished)
        operations.push_back(summary_view(summary));
    return operations;
}

}  // namespace

Json case_view(const engine::Model& model, const engine::Case& value) {
    const auto& state = model.state();
    Json operations = summaries_view(value.finished);
    for (const auto id : value.operations) {
        const auto& operation = *state.find_operation(id);
        Json entry = summary_view({
            .id = id,
            .transition = state.transitions[operation.transition].name,
            .tool_id = operation.tool_id,
            .version_hash = operation.version_hash,
            .state = std::string(name(operation.state)),
            .error = operation.error,
        });
        if (const auto room = room_reason(model, operation); !room.empty()) entry["waiting"] = room;
        operations.push_back(std::move(entry));
    }
    Json view = {
        {"id", text(value.id)},
        {"net", value.deployment->net->name},
        {"version", value.deployment->net->version},
        {"state", case_state(model, value)},
        {"operations", std::move(operations)},
    };
    add_tokens(view, state, value.id, value.deployment->ends());
    if (value.parent) view["parent"] = text(value.parent);
    return view;
}

Json case_view(const engine::Model& model, const engine::RetiredCase& value) {
    Json view = {
        {"id", text(value.id)},
        {"net", value.net},
        {"version", value.version},
        {"state", name(value.state)},
        {"operations", summaries_view(value.finished)},
    };
    add_tokens(view, model.state(), value.id, value.ends);
    if (value.parent) view["parent"] = text(value.parent);
    return view;
}

Json links_view(const nets::Net& net) {
    Json links = Json::array();
    for (const auto& transition : net.transitions) {
        const auto* link = std::get_if<nets::Link>(&transition.action);
        if (link == nullptr) continue;
        links.push_back(
            {{"id", transition.name},
             {"net", net.name},
             {"type", link->type},
             {"from", net.places[link->from].name},
             {"to", net.places[link->to].name}}
        );
    }
    return links;
}

Json net_view(const engine::State& state, const std::string& name, const engine::NetEntry& entry) {
    Json view = {{"net", name}, {"deployed", entry.current != nullptr}};
    if (!entry.current) return view;
    view["version"] = entry.current->net->version;
    view["description"] = entry.current->net->description;
    view["digest"] = entry.current->net->digest.hex();
    view["seq"] = entry.current->seq;
    view["at"] = base::rfc3339(entry.current->at);
    view["by"] = entry.current->by;
    Json places = Json::object();
    for (const auto id : entry.current->places) {
        const auto& place = state.store.place(id);
        places[place.name] = {{"tokens", place.count}, {"reserved", place.reserved}};
    }
    view["places"] = std::move(places);
    Json transitions = Json::array();
    for (const auto id : entry.current->transitions)
        transitions.push_back(state.transitions[id].name);
    view["transitions"] = std::move(transitions);
    for (const auto& key :
         {std::pair{name, std::string()}, std::pair{std::string(), std::string()}}) {
        const auto pause = state.pauses.find(key);
        if (pause != state.pauses.end()) view["paused"] = pause_view(pause->second);
    }
    view["links"] = links_view(*entry.current->net);
    return view;
}

Json pause_view(const engine::Pause& pause) {
    return {{"by", pause.by}, {"at", base::rfc3339(pause.at)}};
}

std::string room_reason(const engine::Model& model, const engine::Operation& operation) {
    const auto id = engine::waits_for_room(model, operation);
    if (!id) return {};
    const auto& place = model.state().store.place(*id);
    if (place.awaited_by != 0 && place.awaited_by < operation.id.seq) {
        return fmt::format("waits for room in place '{}', behind an older firing", place.name);
    }
    return fmt::format(
        "waits for room in place '{}' for its answer: it holds {} tokens, room for {} more is kept "
        "and its capacity is {}",
        place.name,
        place.count,
        place.room_held,
        place.capacity.value_or(0)
    );
}

Json work_view(const engine::State& state, const engine::Operation& operation) {
    // skill, persona, budget, maxSteps, input
    const auto call = base::parse_json(operation.call, base::limits::stored);
    Json view = call && call->is_object() ? *call : Json::object();
    if (view.empty()) put_stored(view, "input", operation.call);
    if (const auto* agent = std::get_if<nets::Agent>(&operation.rules().action))
        view["skill"] = agent->skill;
    view["operation"] = text(operation.id);
    view["net"] = operation.deployment->net->name;
    view["transition"] = state.transitions[operation.transition].name;
    view["attempt"] = operation.attempt;
    view["since"] = base::rfc3339(operation.started);
    if (operation.case_id) view["case"] = text(operation.case_id);
    if (operation.state == engine::OperationState::returned) {
        view["state"] = "returned";
    } else if (operation.state != engine::OperationState::invoking) {
        view["state"] = "waiting";
        if (operation.next.us != 0) view["next"] = base::rfc3339(operation.next);
    } else if (operation.claim.empty()) {
        view["state"] = "available";
    } else {
        view["state"] = "claimed";
        view["agent"] = operation.executor;
        view["until"] = base::rfc3339(operation.claimed_until);
        view["steps"] = operation.steps;
    }
    return view;
}

Json operation_view(
    const engine::Model& model,
    const engine::Operation& operation,
    const transitions::Dispatcher& dispatcher
) {
    const auto& state = model.state();
    Json reserved = Json::array();
    for (const auto& arc : operation.reserved) {
        for (const auto id : arc)
            reserved.push_back(text(id));
    }
    Json view = {
        {"id", text(operation.id)},
        {"net", operation.deployment->net->name},
        {"transition", state.transitions[operation.transition].name},
        {"state", name(operation.state)},
        {"revision", operation.revision},
        {"attempt", operation.attempt},
        {"toolId", operation.tool_id},
        {"versionHash", operation.version_hash},
        {"effect", operation.effect},
        {"started", base::rfc3339(operation.started)},
        {"reserved", std::move(reserved)},
    };
    if (operation.case_id) view["case"] = text(operation.case_id);
    if (operation.next.us != 0) view["next"] = base::rfc3339(operation.next);
    if (!operation.error.empty()) put_stored(view, "error", operation.error);
    if (!operation.progress.empty()) put_stored(view, "progress", operation.progress);
    if (const auto room = room_reason(model, operation); !room.empty()) view["waiting"] = room;
    switch (engine::performer(operation.rules())) {
        case engine::Performer::agent:
            view["work"] = work_view(state, operation);
            return view;
        case engine::Performer::child:
            if (operation.child) view["child"] = text(operation.child);
            return view;
        case engine::Performer::handler:
            break;
    }
    const base::AttemptId attempt{operation.id, operation.attempt};
    const std::string holder = dispatcher.holder(state.model, attempt);
    if (!holder.empty()) view["executor"] = holder;
    const std::string waits = dispatcher.why_waiting(state.model, attempt);
    if (!waits.empty()) view["waiting"] = waits;
    return view;
}

Json executor_view(const transitions::ExecutorView& view) {
    Json running = Json::array();
    for (const auto& ref : view.leases) {
        running.push_back(
            {{"lease", ref.lease.text}, {"model", ref.model}, {"attempt", text(ref.attempt)}}
        );
    }
    return {
        {"id", view.id},
        {"labels", view.introduction.labels},
        {"capabilities", jobs::to_json(view.introduction.capabilities)},
        {"slots", view.introduction.slots},
        {"running", std::move(running)},
        {"lastSeen", base::rfc3339(view.last_seen)},
        {"state", view.state},
    };
}

std::string record_view(const engine::StoredRecord& record) {
    // The stored bytes lack only the hash, which belongs between "epoch" and "prev".
    std::string text(record.bytes);
    const auto at = text.rfind(R"(,"prev":")");
    if (at != std::string::npos) text.insert(at, R"(,"hash":")" + record.hash.hex() + '"');
    return text;
}

}  // namespace server
