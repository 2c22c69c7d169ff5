#include "engine/decisions.hpp"
#include "nets/cron.hpp"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

// Later than this, nobody was there to see the turn: cron counts in minutes.
constexpr base::Duration cron_missed_after = base::seconds(60);

// Below, a wall clock that was set back costs a timer no more than that; from there on a turn comes
// again: of timers that follow real time, and from `day_changed_from` on of those with given hours.
constexpr base::Duration set_back_from = base::seconds(60);
constexpr base::Duration day_changed_from = base::seconds(3 * 3600);

// Whether a turn was looked at is known when there is a record of so much later.
constexpr base::Duration looked_at_within = base::seconds(60);

// The first turn after `after`. Nothing where the time zone is not known.
std::optional<base::Timestamp> turn_after(
    const nets::Transition& rules, base::Timestamp due, base::Timestamp after
) {
    if (const auto* every = std::get_if<nets::Every>(&rules.action)) {
        const std::int64_t passed = after < due ? 0 : (after - due).us / every->interval.us + 1;
        return due + base::Duration{passed * every->interval.us};
    }
    const auto& cron = std::get<nets::Cron>(rules.action);
    return nets::next_turn(cron.fields, cron.zone, after);
}

struct Turn {
    bool missed = false;
    bool once_when_missed = false;
    std::optional<base::Timestamp> next;
};

// What the turn that was due means now, and when the next one is.
Turn turn_of(const nets::Transition& rules, base::Timestamp due, base::Timestamp now) {
    if (const auto* every = std::get_if<nets::Every>(&rules.action)) {
        // Missed when a whole interval has passed: the next one is due as well.
        const std::int64_t late = (now - due).us / every->interval.us;
        return {
            late > 0, every->once_when_missed, due + base::Duration{(late + 1) * every->interval.us}
        };
    }
    const auto& cron = std::get<nets::Cron>(rules.action);
    return {
        now - due >= cron_missed_after,
        cron.once_when_missed,
        nets::next_turn(cron.fields, cron.zone, std::max(due, now))
    };
}

Event turn_passed(const TransitionEntry& entry) {
    Event event;
    event.type = EventType::timer_set;
    event.net = entry.net;
    event.transition = entry.name;
    return event;
}

}  // namespace

base::Timestamp Decisions::timer_clock(const nets::Transition& rules) const {
    const bool by_wall = std::holds_alternative<nets::Cron>(rules.action);
    return by_wall ? asker.now + model.wall_ahead() : asker.now;
}

void Decisions::await_turn(TransitionId id) {
    const nets::Transition& rules = state().transitions[id].rules();
    const base::Duration left = turns().at(id).due - timer_clock(rules);
    timers().emplace(asker.now + left, id);
}

void Decisions::start_timers() {
    timers().clear();
    for (TransitionId id = 0; id < state().transitions.size(); ++id) {
        const TransitionEntry& entry = state().transitions[id];
        if (!entry.deployment || !nets::is_timer(entry.rules())) continue;
        const bool paused = state().pause_of(entry) != nullptr;
        if (entry.timer_next.us == 0 && !paused) {
            const base::Timestamp now = timer_clock(entry.rules());
            const auto* every = std::get_if<nets::Every>(&entry.rules().action);
            const auto first =
                every != nullptr ? now + every->interval : turn_after(entry.rules(), now, now);
            if (!first) continue;
            Event event = turn_passed(entry);
            event.next = *first;
            emit(std::move(event));
        }
        const base::Timestamp due = model.next_turn(id);
        turns()[id] = {state().transitions[id].timer_next, due};
        if (!paused && due.us != 0) await_turn(id);
    }
}

void Decisions::open_timers() {
    start_timers();
    for (auto& [id, turn] : turns()) {
        const TransitionEntry& entry = state().transitions[id];
        if (state().pause_of(entry) != nullptr || turn.due.us == 0) continue;
        if (state().ts - turn.due < looked_at_within) continue;
        turn.due = turn_after(entry.rules(), turn.due, state().ts).value_or(turn.due);
    }
    wall_went_back({-std::min(model.wall_ahead().us, std::int64_t{0})});
}

void Decisions::wall_went_back(base::Duration back) {
    for (auto& [id, turn] : turns()) {
        const TransitionEntry& entry = state().transitions[id];
        const auto* cron =
            entry.deployment ? std::get_if<nets::Cron>(&entry.rules().action) : nullptr;
        if (cron == nullptr || turn.due.us == 0) continue;
        if (back < (cron->fields.real_time ? set_back_from : day_changed_from)) continue;
        const auto next = nets::next_turn(cron->fields, cron->zone, timer_clock(entry.rules()));
        if (!next || *next >= turn.due) continue;
        Event event = turn_passed(entry);
        event.next = *next;
        turn = {*next, *next};
        emit(std::move(event));
    }
    start_timers();
}

std::optional<Enabled> timer_firing(const Model& model, TransitionId id, base::Timestamp now) {
    const TransitionEntry& entry = model.state().transitions[id];
    Enabled enabled{.transition = id, .deployment = entry.deployment};
    if (entry.rules().in.empty()) return enabled;
    auto bound = model.scheduler().timer_binding(id, now);
    if (!bound) return std::nullopt;
    enabled.binding = std::move(*bound);
    return enabled;
}

void Decisions::fire_timer(TransitionId id) {
    const TransitionEntry& entry = state().transitions[id];
    if (!entry.deployment || !nets::is_timer(entry.rules())) return;
    auto& planned = turns().at(id);
    const Turn turn = turn_of(entry.rules(), planned.due, timer_clock(entry.rules()));
    if (!turn.next) return;  // the zone is gone: looked at again when the model is opened
    planned.due = *turn.next;
    await_turn(id);
    if (turn.missed && !turn.once_when_missed) return;
    const auto enabled = timer_firing(model, id, asker.now);
    if (!enabled) return;
    auto made = immediate(model, *enabled, asker.now);
    if (made.full) return;
    made.event.next = *turn.next;
    planned.recorded = *turn.next;
    emit_with(made.resets, std::move(made.event));
}

}  // namespace engine
