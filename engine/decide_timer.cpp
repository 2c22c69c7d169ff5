#include "engine/decisions.hpp"
#include "nets/cron.hpp"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

// Later than this, nobody was there to see the turn: cron counts in minutes.
constexpr base::Duration cron_missed_after = base::seconds(60);

// The first turn of a timer that begins to count now. Nothing where its time zone is not known.
std::optional<base::Timestamp> first_turn(const nets::Transition& rules, base::Timestamp now) {
    if (const auto* every = std::get_if<nets::Every>(&rules.action)) return now + every->interval;
    const auto& cron = std::get<nets::Cron>(rules.action);
    return nets::next_turn(cron.fields, cron.zone, now);
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

void Decisions::start_timers() {
    timers().clear();
    for (TransitionId id = 0; id < state().transitions.size(); ++id) {
        const TransitionEntry& entry = state().transitions[id];
        if (!entry.deployment || !nets::is_timer(entry.rules())) continue;
        if (state().pause_of(entry) != nullptr) continue;
        if (entry.timer_next.us == 0) {
            const auto first = first_turn(entry.rules(), asker.now);
            if (!first) continue;
            Event event = turn_passed(entry);
            event.next = *first;
            emit(std::move(event));
        }
        timers().emplace(state().transitions[id].timer_next, id);
    }
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

void Decisions::fire_timer(TransitionId id, base::Timestamp due) {
    const TransitionEntry& entry = state().transitions[id];
    if (!entry.deployment || entry.timer_next != due || !nets::is_timer(entry.rules())) return;
    const Turn turn = turn_of(entry.rules(), due, asker.now);
    if (!turn.next) return;  // the zone is gone: looked at again when the model is opened
    timers().emplace(*turn.next, id);
    std::optional<Enabled> enabled;
    if (!turn.missed || turn.once_when_missed) enabled = timer_firing(model, id, asker.now);
    Event event = turn_passed(entry);
    Resets reset;
    if (enabled) {
        auto made = immediate(model, *enabled, asker.now);
        if (!made.full) {
            event = std::move(made.event);
            reset = std::move(made.resets);
        }
    }
    event.next = *turn.next;
    emit_with(reset, std::move(event));
}

}  // namespace engine
