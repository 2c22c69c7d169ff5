#include "base/limits.hpp"
#include "engine/decisions.hpp"
#include "engine/room.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace engine {

using nets::FixedName;

namespace {

std::vector<std::vector<base::TokenId>> consumed_ids(
    const State& state, const nets::Transition& rules, const Binding& binding
) {
    std::vector<std::vector<base::TokenId>> ids(rules.in.size());
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != nets::ArcKind::consume) continue;
        for (const auto slot : binding.arcs[arc])
            ids[arc].push_back(state.store.token(slot).id);
    }
    return ids;
}

// Which firing it is, over several claims: by the first token that it takes.
std::pair<TransitionId, base::TokenId> firing_key(const Model::Claim& claim) {
    for (const auto& arc : claim.tokens) {
        if (!arc.empty()) return {claim.enabled.transition, arc.front()};
    }
    return {claim.enabled.transition, {}};
}

void release_tokens(State& state, ClaimId id, const std::vector<base::TokenId>& tokens) {
    for (const auto token : tokens) {
        const auto slot = state.store.find(token);
        if (slot != places::no_slot && state.store.token(slot).holder == id) {
            state.store.release(slot);
        }
    }
}

void release_room(State& state, const Model::Claim& claim) {
    for (const auto place : claim.room)
        state.store.release_room(place);
}

Event claim_event(const State& state, const Model::Claim& claim, EventType type) {
    Event event;
    event.type = type;
    event.case_id = claim.enabled.binding.case_id;
    event.net = claim.enabled.deployment->net->name;
    event.transition = state.transitions[claim.enabled.transition].name;
    event.deployment = claim.enabled.deployment->seq;
    event.attempt = 1;
    return event;
}

}  // namespace

base::Result<std::string> read_values(
    const State& state, const nets::Transition& rules, const Binding& binding
) {
    // By alias, as canonical JSON wants it.
    std::map<std::string_view, std::size_t> arcs;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc)
        if (rules.in[arc].kind == nets::ArcKind::read) arcs.emplace(rules.in[arc].alias, arc);
    if (arcs.empty()) return std::string{};
    std::string values;
    for (const auto& [alias, arc] : arcs) {
        values += values.empty() ? '{' : ',';
        base::append_canonical_string(values, alias);
        values += ':';
        const auto& tokens = binding.arcs[arc];
        const bool list = rules.in[arc].takes_list;
        if (list) values += '[';
        if (!list && tokens.empty()) values += "null";
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (i != 0) values += ',';
            values += state.store.token(tokens[i]).data.view();
            if (values.size() > base::limits::rendered_bytes_max) break;
        }
        if (list) values += ']';
        if (values.size() <= base::limits::rendered_bytes_max) continue;
        return base::fail(
            base::ErrorCode::limit,
            fmt::format(
                "the tokens that the firing reads have more than {} bytes together",
                base::limits::rendered_bytes_max
            ),
            "read fewer tokens, or put their bytes into blobs"
        );
    }
    values += '}';
    // The operation keeps them, and whoever ends it reads them.
    const auto readable = base::parse_json(values, base::limits::stored);
    if (readable) return values;
    return base::fail(
        base::ErrorCode::tamper,
        fmt::format("a token that the firing reads cannot be read: {}", readable.error().message),
        "netwright audit verify"
    );
}

base::Result<std::string> effect_input(
    const State& state, const nets::Transition& rules, Scope& scope, const Binding& binding
) {
    if (const auto* command = std::get_if<nets::Command>(&rules.action)) {
        const auto& tokens = binding.arcs[command->from];
        if (tokens.empty()) {
            return base::fail(
                base::ErrorCode::validation,
                fmt::format(
                    "'{}' brought no token to be the command", rules.in[command->from].alias
                )
            );
        }
        return std::string(state.store.token(tokens.front()).data.view());
    }
    const nets::Template* source = nullptr;
    if (const auto* call = std::get_if<nets::Call>(&rules.action)) source = &call->args;
    if (const auto* agent = std::get_if<nets::Agent>(&rules.action)) source = &agent->input;
    if (const auto* child = std::get_if<nets::ChildNet>(&rules.action)) source = &child->input;
    base::check(source != nullptr, "the transition has an effect");
    std::string made;
    auto done = source->render(made, scope.values(*source), scope.budget);
    if (scope.unreadable()) return base::fail(*scope.unreadable());
    if (!done) return base::fail(std::move(done.error()));
    return made;
}

base::Result<void> bind_values(
    Scope& scope, const nets::Transition& rules, std::string_view values
) {
    if (values.empty()) return {};
    const auto parsed = base::parse_json(values, base::limits::stored);
    if (!parsed || !parsed->is_object()) {
        return base::fail(
            base::ErrorCode::tamper,
            fmt::format(
                "the values that the firing read are stored in a form that cannot be read: {}",
                parsed ? "not an object" : parsed.error().message
            ),
            "netwright audit verify"
        );
    }
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != nets::ArcKind::read) continue;
        const auto found = parsed->find(rules.in[arc].alias);
        if (found != parsed->end()) scope.bind_text(arc, base::canonical(*found));
    }
    return {};
}

bool Decisions::claim(const Enabled& enabled) {
    const TransitionEntry& entry = state().transitions[enabled.transition];
    const nets::Transition& rules = entry.rules();
    Model::Claim made{.enabled = enabled, .since = asker.now};
    made.tokens = consumed_ids(state(), rules, enabled.binding);
    // Room must be there for what `out` may make, before the effect starts.
    made.room = room_needed(state(), *enabled.deployment, rules, made.tokens);
    if (const auto full = first_full(state(), made.room)) {
        scheduler().wait_for_room(enabled, *full);
        return false;
    }
    for (const auto place : made.room)
        state().store.hold_room(place);
    auto values = read_values(state(), rules, enabled.binding);
    Scope scope(state(), rules);
    scope.bind(enabled.binding, enabled.binding.case_id);
    scope.set(FixedName::now, nets::cel::Value::timestamp(asker.now));
    auto input = effect_input(state(), rules, scope, enabled.binding);
    if (values) {
        made.values = std::move(*values);
    } else {
        input = base::fail(std::move(values.error()));
    }
    const ClaimId id = next_claim();
    const auto times = overtaken().find(firing_key(made));
    made.holds_read = times != overtaken().end() && times->second >= overtaken_max;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind == nets::ArcKind::read) {
            for (const auto slot : enabled.binding.arcs[arc]) {
                made.read.push_back(state().store.token(slot).id);
                if (made.holds_read) state().store.reserve(slot, id);
            }
        }
        if (rules.in[arc].kind != nets::ArcKind::consume) continue;
        for (const auto slot : enabled.binding.arcs[arc])
            state().store.reserve(slot, id);
    }
    scheduler().claimed(enabled.transition);
    claims().emplace(id, std::move(made));
    scheduler().absorb();
    scheduler().put_back(enabled);
    if (!input) {
        prepared(id, base::fail(std::move(input.error())));
        return true;
    }
    if (performer(rules) != Performer::handler) {
        // Nothing outside is needed to prepare a wait.
        prepared(id, prepare_wait(state(), rules, enabled.binding.case_id, *input));
        return true;
    }
    const auto* call = std::get_if<nets::Call>(&rules.action);
    const std::string* owner = state().owner_of(enabled.binding.case_id);
    model.want(Prepare{
        .claim = id,
        .net = entry.net,
        .transition = entry.name,
        .case_id = enabled.binding.case_id,
        .principal = owner != nullptr ? *owner : enabled.deployment->by,
        .tool_id = call != nullptr ? call->tool_id : "",
        .version = call != nullptr ? call->version.value_or("") : "",
        .input = std::move(*input),
        .timeout = rules.timeout,
    });
    return true;
}

void Decisions::drop_claim(ClaimId id) {
    const auto found = claims().find(id);
    if (found == claims().end()) return;
    const TransitionId transition = found->second.enabled.transition;
    for (const auto& arc : found->second.tokens)
        release_tokens(state(), id, arc);
    release_tokens(state(), id, found->second.read);
    release_room(state(), found->second);
    claims().erase(found);
    scheduler().stop_waiting(id);
    scheduler().unclaimed(transition);
    scheduler().absorb();
    scheduler().freed(transition);
}

bool Decisions::still_enabled(const Model::Claim& claim) {
    const Enabled& enabled = claim.enabled;
    const auto gone = [&](base::TokenId id) { return state().store.find(id) == places::no_slot; };
    if (std::ranges::any_of(claim.read, gone)) return false;
    const TransitionEntry& entry = state().transitions[enabled.transition];
    // A version deployed since has arcs of its own; the claim keeps to the one it began with.
    if (entry.deployment != enabled.deployment) return true;
    const nets::Transition& rules = entry.rules();
    const auto& sources = *scheduler().sources(enabled.transition);
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != nets::ArcKind::inhibit) continue;
        if (inhibitors(sources[arc], enabled.binding.case_id, enabled.candidate.key) >=
            enabled.binding.inhibited_at[arc]) {
            return false;
        }
    }
    return true;
}

void Decisions::prepared(ClaimId id, base::Result<Prepared> result) {
    const auto found = claims().find(id);
    if (found == claims().end()) return;
    // The firing happens with its record: what was true at the claim must be true still.
    if (result && !still_enabled(found->second)) {
        if (overtaken().size() >= overtaken_kept) overtaken().clear();
        ++overtaken()[firing_key(found->second)];
        return drop_claim(id);
    }
    if (!result) {
        unprepared(id, result.error());
        return;
    }
    Model::Claim claimed = std::move(found->second);
    claims().erase(found);
    overtaken().erase(firing_key(claimed));
    release_tokens(state(), id, claimed.read);
    // The record holds the room from now on.
    release_room(state(), claimed);
    scheduler().unclaimed(claimed.enabled.transition);
    Event event = claim_event(state(), claimed, EventType::operation_invoking);
    event.call = std::move(result->call);
    event.effect = std::move(result->effect);
    event.tool_id = std::move(result->tool_id);
    event.version_hash = std::move(result->version_hash);
    event.reserved = std::move(claimed.tokens);
    event.read.assign(claimed.read.begin(), claimed.read.end());
    event.values = std::move(claimed.values);
    const base::OperationId operation{emit(std::move(event))};
    begin_attempt(operation, 1);
}

bool Decisions::unprepared(ClaimId id, const base::Error& error) {
    Model::Claim& claimed = claims().at(id);
    const TransitionId transition = claimed.enabled.transition;
    const auto deployment = claimed.enabled.deployment;
    const nets::Net& net = *deployment->net;
    const nets::Transition& rules =
        net.transitions[*net.transition(state().transitions[transition].name)];
    Event event = claim_event(state(), claimed, EventType::operation_failed);
    if (const auto* call = std::get_if<nets::Call>(&rules.action)) event.tool_id = call->tool_id;
    event.error = error_json(error, 1, {});
    Binding binding{.case_id = event.case_id};
    binding.arcs.resize(rules.in.size());
    std::vector<places::Slot> slots;
    for (std::size_t arc = 0; arc < claimed.tokens.size(); ++arc) {
        for (const auto token : claimed.tokens[arc]) {
            binding.arcs[arc].push_back(state().store.find(token));
            slots.push_back(binding.arcs[arc].back());
            event.consumed.push_back(token);
        }
    }
    route_failure(state(), event, {rules, *deployment, binding, claimed.values, slots}, asker.now);
    const auto full = without_room(state(), event.produced, {rules, binding, {}, claimed.room, id});
    // It holds no more than its tokens while it waits: see apply_returned.
    release_tokens(state(), id, claimed.read);
    release_room(state(), claimed);
    if (full) {
        claimed.failure = error;
        claimed.read.clear();
        claimed.room.clear();
        scheduler().wait_for_room(id, *full);
        scheduler().absorb();
        return false;
    }
    overtaken().erase(firing_key(claimed));
    claims().erase(id);
    scheduler().stop_waiting(id);
    scheduler().unclaimed(transition);
    const auto case_id = event.case_id;
    emit(std::move(event));
    scheduler().freed(transition);
    if (case_id) end_if_quiet(case_id);
    return true;
}

}  // namespace engine
