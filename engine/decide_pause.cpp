#include "engine/decisions.hpp"

#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<TransitionId> transition_in_force(
    const State& state, std::string_view net, std::string_view transition
) {
    const auto found = state.find_transition(net, transition);
    if (found && state.transitions[*found].deployment) return *found;
    return fail(
        ErrorCode::not_found, fmt::format("net '{}' has no transition '{}'", net, transition)
    );
}

namespace {

Result<std::vector<TransitionId>> affected(
    const State& state, std::string_view net, std::string_view transition
) {
    if (!transition.empty()) {
        const auto id = transition_in_force(state, net, transition);
        if (!id) return fail(id.error());
        return std::vector{*id};
    }
    if (!net.empty()) {
        const Deployment* current = state.current(net);
        if (current != nullptr) return current->transitions;
        return fail(ErrorCode::not_found, fmt::format("net '{}' is not deployed", net));
    }
    std::vector<TransitionId> all;
    for (const auto& [name, entry] : state.nets) {
        if (!entry.current) continue;
        const auto& more = entry.current->transitions;
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

base::Error not_enabled(std::string_view net, std::string_view transition) {
    return {
        ErrorCode::conflict,
        fmt::format("transition '{}' of net '{}' is not enabled", transition, net),
        fmt::format("see why not: netwright transition show {} {}", net, transition),
        {}
    };
}

bool is_immediate(const nets::Transition& rules) {
    return nets::is_timer(rules) || std::holds_alternative<nets::Map>(rules.action);
}

// What would fire: a timer needs no turn for this.
std::optional<Enabled> firing_of(const Model& model, TransitionId id, base::Timestamp now) {
    const State& state = model.state();
    const TransitionEntry& entry = state.transitions[id];
    if (std::holds_alternative<nets::Link>(entry.rules().action)) return std::nullopt;
    return nets::is_timer(entry.rules()) ? timer_firing(model, id, now)
                                         : model.scheduler().peek(id, now);
}

}  // namespace

Result<Seq> pause(
    Model& model, std::string_view net, std::string_view transition, const Asker& asker
) {
    const State& state = model.state();
    if (const auto ids = affected(state, net, transition); !ids) return fail(ids.error());
    if (state.pauses.contains(std::pair{std::string(net), std::string(transition)})) {
        return state.seq;
    }
    Event event;
    event.type = EventType::scheduling_paused;
    event.net = net;
    event.transition = transition;
    Decisions decisions{model, asker};
    const Seq seq = decisions.emit(std::move(event));
    decisions.start_timers();
    return seq;
}

Result<Seq> resume(
    Model& model, std::string_view net, std::string_view transition, const Asker& asker
) {
    const State& state = model.state();
    const auto ids = affected(state, net, transition);
    if (!ids) return fail(ids.error());
    if (!state.pauses.contains(std::pair{std::string(net), std::string(transition)})) {
        return state.seq;
    }
    Event event;
    event.type = EventType::scheduling_resumed;
    event.net = net;
    event.transition = transition;
    Decisions decisions{model, asker};
    const Seq seq = decisions.emit(std::move(event));
    for (const auto id : *ids)
        decisions.scheduler().freed(id);
    decisions.start_timers();
    return seq;
}

Result<Seq> fire_once(
    Model& model, std::string_view net, std::string_view transition, const Asker& asker
) {
    const auto id = transition_in_force(model.state(), net, transition);
    if (!id) return fail(id.error());
    Decisions decisions{model, asker};
    const auto enabled = firing_of(model, *id, asker.now);
    if (!enabled || model.scheduler().waiting(*id).concurrency) {
        return fail(not_enabled(net, transition));
    }
    if (!nets::is_timer(model.state().transitions[*id].rules())) {
        if (decisions.fire(*enabled)) return model.state().seq;
        return fail(not_enabled(net, transition));
    }
    auto made = immediate(model, *enabled, asker.now);
    if (made.full) return fail(not_enabled(net, transition));
    decisions.emit_with(made.resets, std::move(made.event));
    return model.state().seq;
}

Result<DryRun> dry_run(
    const Model& model, std::string_view net, std::string_view transition, base::Timestamp now
) {
    const State& state = model.state();
    const auto id = transition_in_force(state, net, transition);
    if (!id) return fail(id.error());
    auto enabled = firing_of(model, *id, now);
    if (!enabled) return fail(not_enabled(net, transition));
    const nets::Transition& rules = state.transitions[*id].rules();
    DryRun run{.binding = enabled->binding};
    if (is_immediate(rules)) {
        auto made = immediate(model, *enabled, now);
        run.event = std::move(made.event);
        run.full = made.full;
        run.resets = std::move(made.resets.tokens);
        return run;
    }
    Scope scope(state, rules);
    scope.bind(run.binding, run.binding.case_id);
    scope.set(nets::FixedName::now, nets::cel::Value::timestamp(now));
    auto input = effect_input(state, rules, scope, run.binding);
    if (input) {
        run.input = std::move(*input);
    } else {
        run.error = std::move(input.error());
    }
    return run;
}

}  // namespace engine
