#include "base/limits.hpp"
#include "engine/decisions.hpp"
#include "engine/room.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using nets::FixedName;

std::string error_json(
    const base::Error& error,
    std::uint32_t attempt,
    std::string_view details,
    std::string_view usage
) {
    namespace limits = base::limits;
    const auto text = [](const std::string& message) {
        return limits::recordable_text(message, limits::error_message_bytes_max);
    };
    base::Json value = {{"code", base::name(error.code)}, {"message", text(error.message)}};
    if (attempt != 0) value["attempt"] = attempt;
    if (auto parsed = base::parse_json(usage); parsed) value["usage"] = std::move(*parsed);
    if (!details.empty()) {
        auto parsed = base::parse_json(details);
        value["details"] =
            parsed ? std::move(*parsed) : base::Json{{"unreadable", text(parsed.error().message)}};
        return base::canonical(value);
    }
    const std::size_t listed = std::min(error.details.size(), limits::error_details_max);
    for (std::size_t i = 0; i < listed; ++i) {
        const auto& fault = error.details[i];
        value["details"].push_back(
            {{"pointer", text(fault.pointer)}, {"message", text(fault.message)}}
        );
    }
    if (listed < error.details.size()) {
        value["details"].push_back(
            {{"pointer", ""}, {"message", fmt::format("{} more", error.details.size() - listed)}}
        );
    }
    return base::canonical(value);
}

std::string with_second_error(const std::string& first, const base::Error& second) {
    auto value = base::parse_json(first);
    if (!value || !value->is_object()) return first;
    const auto said = value->value("message", std::string());
    (*value)["message"] = base::limits::recordable_text(
        fmt::format("{}; then 'fail' failed: {}", said, second.message),
        base::limits::error_message_bytes_max
    );
    return base::canonical(*value);
}

void set_firing(Scope& scope, std::string_view id, std::string_view transition) {
    std::string value = R"({"id":)";
    base::append_canonical_string(value, id);
    value += R"(,"transition":)";
    base::append_canonical_string(value, transition);
    value += '}';
    base::check(scope.set_json(FixedName::firing, value).has_value(), "firing is JSON");
}

namespace {

bool uses(const nets::Outputs& outputs, std::size_t name) {
    for (const auto& rule : outputs.rules) {
        if (rule.token.uses(name) || (rule.when && rule.when->uses(name)) ||
            (rule.each && rule.each->uses(name))) {
            return true;
        }
    }
    return false;
}

void set_names(Scope& scope, const nets::Transition& rules, Seq seq, base::Timestamp now) {
    scope.set(FixedName::now, nets::cel::Value::timestamp(now));
    const std::size_t firing = rules.in.size() + static_cast<std::size_t>(FixedName::firing);
    if (uses(rules.out, firing) || (rules.fail && uses(*rules.fail, firing))) {
        set_firing(scope, "f" + std::to_string(seq), rules.name);
    }
}

std::vector<places::Slot> consumed_slots(const nets::Transition& rules, const Binding& binding) {
    std::vector<places::Slot> slots;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != nets::ArcKind::consume) continue;
        slots.insert(slots.end(), binding.arcs[arc].begin(), binding.arcs[arc].end());
    }
    return slots;
}

Event firing_event(const State& state, const Enabled& enabled) {
    const nets::Transition& rules =
        enabled.deployment->net->transitions[state.transitions[enabled.transition].index];
    Event event;
    event.type = EventType::fired;
    event.case_id = enabled.binding.case_id;
    event.net = enabled.deployment->net->name;
    event.transition = rules.name;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        for (const auto slot : enabled.binding.arcs[arc]) {
            const auto id = state.store.token(slot).id;
            if (rules.in[arc].kind == nets::ArcKind::consume) {
                event.consumed.push_back(id);
            } else {
                event.read.push_back(id);
            }
        }
    }
    return event;
}

}  // namespace

Immediate immediate(const Model& model, const Enabled& enabled, base::Timestamp at) {
    const State& state = model.state();
    const nets::Transition& rules = state.transitions[enabled.transition].rules();
    Scope scope(state, rules);
    scope.bind(enabled.binding, enabled.binding.case_id);
    const base::Timestamp now = std::max(at, state.ts);
    set_names(scope, rules, state.seq + 1, now);
    auto produced = evaluate(rules.out, *enabled.deployment, scope, enabled.binding.case_id, now);
    Immediate made{firing_event(state, enabled), std::nullopt, {}};
    Event& event = made.event;
    if (!produced) {
        event.error = error_json(produced.error(), 0, {});
        if (rules.fail) {
            scope.budget = {};  // what `out` has spent is not the fail way's
            auto set = scope.set_json(FixedName::error, event.error);
            produced =
                set ? evaluate(
                          *rules.fail, *enabled.deployment, scope, enabled.binding.case_id, now
                      )
                    : base::fail(std::move(set.error()));
            if (!produced) event.error = with_second_error(event.error, produced.error());
        }
    }
    if (produced) {
        if (event.error.empty()) {
            made.resets = resets(model, *enabled.deployment, rules, enabled.binding);
        }
        made.full =
            without_room(state, *produced, {rules, enabled.binding, made.resets.tokens, {}});
        event.produced = std::move(*produced);
        return made;
    }
    event.type = EventType::dead_letter_added;
    event.produced.push_back(dead_letter_token({
        .state = state,
        .net = event.net,
        .transition = event.transition,
        .operation = {},
        .case_id = event.case_id,
        .error = event.error,
        .tokens = consumed_slots(rules, enabled.binding),
    }));
    return made;
}

bool Decisions::fire(const Enabled& enabled) {
    const nets::Transition& rules = state().transitions[enabled.transition].rules();
    if (!std::holds_alternative<nets::Map>(rules.action)) return claim(enabled);
    auto made = immediate(model, enabled, asker.now);
    if (made.full) {
        scheduler().wait_for_room(enabled, *made.full);
        return false;
    }
    emit_with(made.resets, std::move(made.event));
    scheduler().put_back(enabled);
    return true;
}

}  // namespace engine
