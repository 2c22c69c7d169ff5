#include "engine/binding.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::Json;

namespace {

constexpr std::size_t looked_at_max = 10'000;  // tokens of one place
constexpr std::size_t cases_told_max = 10;     // of one transition
constexpr std::size_t flights_told_max = 10;   // of one transition

std::string_view kind_of(const nets::Transition& rules) {
    struct Name {
        std::string_view operator()(const nets::Map&) const { return "map"; }
        std::string_view operator()(const nets::Call&) const { return "call"; }
        std::string_view operator()(const nets::Command&) const { return "command"; }
        std::string_view operator()(const nets::Agent&) const { return "agent"; }
        std::string_view operator()(const nets::ChildNet&) const { return "net"; }
        std::string_view operator()(const nets::Every&) const { return "every"; }
        std::string_view operator()(const nets::Cron&) const { return "cron"; }
        std::string_view operator()(const nets::Link&) const { return "link"; }
    };
    return std::visit(Name{}, rules.action);
}

struct ArcCount {
    std::uint64_t visible = 0;
    std::uint64_t reserved = 0;
    std::uint64_t delayed = 0;
    std::uint64_t filtered = 0;
    std::uint64_t failed = 0;  // of these, tokens for which `where` or `key` cannot be evaluated
    std::string error;         // of the first
    Json holders = Json::array();
};

ArcCount count(const engine::State& state, places::PlaceId place, const nets::InputArc& arc) {
    ArcCount counts;
    std::size_t looked_at = 0;
    for (auto slot = state.store.first_in(place);
         slot != places::no_slot && looked_at < looked_at_max;
         slot = state.store.next_in_place(slot), ++looked_at) {
        const auto& token = state.store.token(slot);
        if (token.holder != 0) {
            ++counts.reserved;
            if (counts.holders.size() < 10) {
                const bool claim = (token.holder & places::claim_bit) != 0;
                counts.holders.push_back(
                    claim ? "preparing" : text(base::OperationId{token.holder})
                );
            }
        } else if (token.hidden) {
            ++counts.delayed;
        } else if (!engine::classify(arc, token)) {
            ++counts.filtered;
            if (auto error = engine::classify_error(arc, token)) {
                if (counts.failed++ == 0) counts.error = std::move(*error);
            }
        } else {
            ++counts.visible;
        }
    }
    return counts;
}

// What an arc of any weight needs at least.
std::uint64_t least(const nets::InputArc& arc) {
    if (const auto* fixed = std::get_if<nets::FixedWeight>(&arc.take)) return fixed->count;
    if (const auto* range = std::get_if<nets::RangeWeight>(&arc.take)) return range->min;
    return std::holds_alternative<nets::AllWeight>(arc.take) ? 1 : 0;
}

// `errors` are no reasons by themselves: other tokens may do.
void input_reasons(
    Json& reasons,
    Json& errors,
    const engine::State& state,
    const engine::TransitionEntry& entry,
    bool& complete
) {
    const auto& rules = entry.rules();
    for (const auto& arc : rules.in) {
        if (!arc.binds()) continue;
        const auto counts = count(state, entry.deployment->places[arc.place], arc);
        const std::uint64_t needed = rules.or_join ? 0 : least(arc);
        if (counts.failed > 0) {
            errors.push_back(
                {{"arc", arc.alias},
                 {"reason",
                  fmt::format(
                      "input '{}' cannot be evaluated for {} of the tokens in '{}': {}",
                      arc.alias,
                      counts.failed,
                      state.store.place(entry.deployment->places[arc.place]).name,
                      counts.error
                  )}}
            );
        }
        if (counts.visible >= needed) continue;
        complete = false;
        std::string reason = fmt::format(
            "place '{}' holds {} usable tokens, transition '{}' needs {}",
            state.store.place(entry.deployment->places[arc.place]).name,
            counts.visible,
            rules.name,
            needed
        );
        reasons.push_back(
            {{"arc", arc.alias},
             {"reason", std::move(reason)},
             {"visible", counts.visible},
             {"reserved", counts.reserved},
             {"reservedBy", counts.holders},
             {"tooYoung", counts.delayed},
             {"filtered", counts.filtered},
             {"needed", needed}}
        );
    }
}

std::string in_words(
    const engine::State& state, const engine::TransitionEntry& entry, const engine::Unbound& why
) {
    const auto& rules = entry.rules();
    const auto& arc = rules.in[why.arc];
    const auto& place = state.store.place(entry.deployment->places[arc.place]).name;
    using Reason = engine::Unbound::Reason;
    switch (why.reason) {
        case Reason::arc:
            if (why.ripe.us != 0) {
                return fmt::format(
                    "the tokens of '{}' are too young until {}", place, base::rfc3339(why.ripe)
                );
            }
            return fmt::format(
                "the weight of '{}' wants {}, has {}", arc.alias, why.needs, why.has
            );
        case Reason::guard:
            return "the guard holds for no combination of its tokens" +
                   (why.error.empty() ? "" : "; for the first it cannot be evaluated: " + why.error
                   );
        case Reason::inhibited:
            return fmt::format(
                "inhibited by {} tokens in '{}'; {} are enough", why.has, place, why.needs
            );
        case Reason::arriving:
            return fmt::format(
                "the or-join waits: a token may still come to '{}'",
                state.store.place(why.place).name
            );
        case Reason::undecided:
            return fmt::format(
                "the or-join waits: whether a token may still come to '{}' was not found within "
                "the limit of {} markings",
                state.store.place(why.place).name,
                engine::or_join_markings_max
            );
        case Reason::searching:
            return "the combinations of its tokens are still being tried";
    }
    return {};
}

// What holds the cases back whose tokens wait for this transition.
void case_reasons(
    Json& reasons, const engine::Model& model, engine::TransitionId id, bool& complete
) {
    const auto& state = model.state();
    const auto& entry = state.transitions[id];
    for (const auto& held : model.scheduler().held(id, cases_told_max)) {
        // Too few tokens is told of the arc already, unless their number or time is special.
        const auto& arc = entry.rules().in[held.why.arc];
        const bool plain = held.why.reason == engine::Unbound::Reason::arc &&
                           held.why.ripe.us == 0 &&
                           !std::holds_alternative<nets::ExpressionWeight>(arc.take);
        const bool refused = held.why.reason == engine::Unbound::Reason::guard;
        if (plain || (refused && held.why.error.empty())) continue;
        complete = false;
        Json reason = {{"reason", in_words(state, entry, held.why)}};
        if (held.case_id) reason["case"] = text(held.case_id);
        if (held.why.reason == engine::Unbound::Reason::arc ||
            held.why.reason == engine::Unbound::Reason::inhibited) {
            reason["arc"] = arc.alias;
        }
        if (held.why.ripe.us != 0) reason["until"] = base::rfc3339(held.why.ripe);
        reasons.push_back(std::move(reason));
    }
}

void output_reasons(
    Json& reasons,
    const engine::State& state,
    const engine::TransitionEntry& entry,
    const engine::Scheduler::Waiting& waiting
) {
    std::vector<places::PlaceId> full = waiting.rooms;
    if (nets::is_timer(entry.rules())) {
        for (const auto& rule : entry.rules().out.rules)
            full.push_back(entry.deployment->places[rule.place]);
        std::erase_if(full, [&](auto id) { return state.store.place(id).has_room(1); });
    }
    for (const auto id : full) {
        const auto& place = state.store.place(id);
        if (!place.capacity) continue;
        reasons.push_back(
            {{"reason",
              fmt::format(
                  "place '{}' has no room for what would come out: its capacity is {}",
                  place.name,
                  *place.capacity
              )},
             {"tokens", place.count},
             {"roomHeld", place.room_held}}
        );
    }
}

void flight_reasons(
    Json& reasons,
    const engine::Model& model,
    engine::TransitionId id,
    const transitions::Dispatcher& dispatcher
) {
    const auto& state = model.state();
    std::size_t listed = 0;
    for (const auto& [claim_id, claim] : model.claims()) {
        if (claim.enabled.transition != id || !claim.failure || listed++ >= flights_told_max)
            continue;
        reasons.push_back(
            {{"reason",
              fmt::format(
                  "a firing that could not be prepared ({}) waits for room on its 'fail' way",
                  claim.failure->message
              )}}
        );
    }
    for (const auto& [operation_id, operation] : state.operations) {
        if (operation.transition != id || listed >= flights_told_max) continue;
        std::string reason;
        if (operation.state == engine::OperationState::retrying) {
            reason = "waits for its next attempt at " + base::rfc3339(operation.next);
        } else if (operation.state == engine::OperationState::uncertain) {
            reason = "is uncertain: nobody knows whether it ran; check, then abandon it";
        } else if (operation.state == engine::OperationState::returned) {
            reason = room_reason(model, operation);
            if (reason.empty()) continue;
        } else if (engine::performer(operation.rules()) == engine::Performer::agent) {
            const auto& skill = std::get<nets::Agent>(operation.rules().action).skill;
            reason = operation.claim.empty()
                         ? fmt::format("waits for an agent with the skill '{}'", skill)
                         : fmt::format(
                               "is claimed by agent '{}' until {}",
                               operation.executor,
                               base::rfc3339(operation.claimed_until)
                           );
        } else if (engine::performer(operation.rules()) == engine::Performer::child) {
            reason = "waits for case " + text(operation.child);
        } else {
            const std::string why =
                dispatcher.why_waiting(state.model, {operation_id, operation.attempt});
            if (why.empty()) continue;
            reason = "waits for an executor: " + why;
        }
        ++listed;
        reasons.push_back(
            {{"operation", text(operation_id)},
             {"reason", fmt::format("operation {} {}", text(operation_id), reason)}}
        );
    }
}

}  // namespace

Json transition_view(
    const engine::Model& model, engine::TransitionId id, const transitions::Dispatcher& dispatcher
) {
    const auto& state = model.state();
    const auto& entry = state.transitions[id];
    const auto& rules = entry.rules();
    const auto waiting = model.scheduler().waiting(id);
    Json reasons = Json::array();
    bool complete = true;
    const auto* pause = state.pause_of(entry);
    if (pause != nullptr) {
        reasons.push_back(
            {{"reason", fmt::format("is paused by {} since {}", pause->by, base::rfc3339(pause->at))
             },
             {"paused", pause_view(*pause)}}
        );
    }
    Json errors = Json::array();
    input_reasons(reasons, errors, state, entry, complete);
    case_reasons(reasons, model, id, complete);
    output_reasons(reasons, state, entry, waiting);
    if (waiting.concurrency) {
        reasons.push_back(
            {{"reason",
              fmt::format(
                  "{} firings are in flight, as many as 'concurrency' allows",
                  entry.in_flight + waiting.claims
              )}}
        );
    }
    if (entry.timer_next.us != 0) {
        const auto next = base::rfc3339(model.next_turn(id));
        reasons.push_back({{"reason", "the timer fires next at " + next}, {"next", next}});
    }
    const auto* cron = std::get_if<nets::Cron>(&rules.action);
    if (cron != nullptr && entry.timer_next.us == 0) {
        reasons.push_back(
            {{"reason", fmt::format("the time zone '{}' is not known to this machine", cron->zone)}}
        );
    }
    if (std::holds_alternative<nets::Link>(rules.action)) {
        reasons.push_back({{"reason", "a link relates two places and never fires"}});
    }
    if (complete && reasons.empty() && !rules.in.empty() && !model.scheduler().has_work()) {
        const bool keyed =
            std::ranges::any_of(rules.in, [](const auto& arc) { return arc.key.has_value(); });
        reasons.push_back(
            {{"reason",
              rules.or_join ? "no token is on any of its inputs"
              : rules.guard ? "the guard holds for no combination of these tokens"
              : keyed       ? "no tokens of one case have equal keys"
                            : "no tokens of one case are on all inputs"}}
        );
    }
    if (!reasons.empty()) reasons.insert(reasons.end(), errors.begin(), errors.end());
    flight_reasons(reasons, model, id, dispatcher);
    const bool flying = entry.in_flight + waiting.claims > 0;
    return {
        {"id", entry.name},
        {"net", entry.net},
        {"kind", kind_of(rules)},
        {"state",
         pause != nullptr  ? "paused"
         : flying          ? "running"
         : reasons.empty() ? "enabled"
                           : "waiting"},
        {"inFlight", entry.in_flight + waiting.claims},
        {"fired", entry.fired},
        {"failed", entry.failed},
        {"whyNot", std::move(reasons)},
    };
}

}  // namespace server
