#include "tests/semantics/interpreter.hpp"

#include <algorithm>

// Which bindings the clauses allow.
namespace semantics {

using base::Json;
using nets::ArcKind;

Json over_token(const nets::cel::Program& program, const Json& token) {
    const auto value = nets::cel::Value::json(token);
    nets::cel::Budget budget;
    const auto result = program.evaluate({&value, 1}, budget);
    std::string text;
    if (!result || !nets::cel::append_canonical(text, *result)) return nullptr;
    return Json::parse(text);
}

std::vector<base::TokenId> bound(
    const nets::Transition& rules, const Binding& binding, ArcKind kind
) {
    std::vector<base::TokenId> all;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != kind) continue;
        all.insert(all.end(), binding.arcs[arc].begin(), binding.arcs[arc].end());
    }
    return all;
}

std::string key_of(const nets::InputArc& arc, const Json& data) {
    return arc.key ? over_token(*arc.key, data).dump() : std::string();
}

bool matches(const nets::InputArc& arc, const Json& data, const std::string& key) {
    if (arc.where && over_token(*arc.where, data) != true) return false;
    return !arc.key || key_of(arc, data) == key;
}

std::vector<nets::cel::Value> Interpreter::values(
    const nets::Transition& rules, const Binding& binding
) const {
    std::vector<nets::cel::Value> all(rules.name_count());
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        const auto& bound_ids = binding.arcs[arc];
        if (!rules.in[arc].takes_list) {
            if (!bound_ids.empty())
                all[arc] = nets::cel::Value::json(tokens_.at(bound_ids[0]).data);
            continue;
        }
        std::vector<nets::cel::Value> list;
        for (const auto id : bound_ids)
            list.push_back(nets::cel::Value::json(tokens_.at(id).data));
        all[arc] = nets::cel::Value::list(std::move(list));
    }
    return all;
}

// S2, S4, S6, S11, S12, S13: what the arc may bind, in its order.
std::vector<base::TokenId> Interpreter::queue(
    const nets::InputArc& arc, const Binding& binding, base::Timestamp now
) const {
    std::vector<base::TokenId> found;
    for (const auto& [id, token] : tokens_) {
        if (token.place != arc.place || token.holder != 0 || aside_.contains(id)) continue;
        if (token.visible > now || token.visible + arc.age > now) continue;
        const bool own = arc.any_case || token.case_seq == 0 || token.case_seq == binding.case_seq;
        if (!own || !matches(arc, token.data, binding.key)) continue;
        if (arc.order_by && !over_token(*arc.order_by, token.data).is_number()) continue;
        const bool taken = std::ranges::any_of(binding.arcs, [&](const auto& ids) {
            return std::ranges::find(ids, id) != ids.end();
        });
        if (!taken) found.push_back(id);
    }
    if (arc.order == nets::OrderKind::lifo) std::ranges::reverse(found);
    if (arc.order_by) {
        std::ranges::sort(found, [&](base::TokenId left, base::TokenId right) {
            const Json of_left = over_token(*arc.order_by, tokens_.at(left).data);
            const Json of_right = over_token(*arc.order_by, tokens_.at(right).data);
            return of_left == of_right ? left < right : of_left < of_right;
        });
    }
    return found;
}

// S7 to S10, S21. The first choice of an arc is the first in its order; where it matters what was
// chosen, later ones are tried too.
bool Interpreter::choose(
    nets::TransitionIndex t,
    std::size_t step,
    Binding& binding,
    base::Timestamp now,
    const Visit& visit
) const {
    const auto& rules = net_.transitions[t];
    if (step == rules.binding_order.size()) return accept(t, binding, visit);
    const std::size_t index = rules.binding_order[step];
    const auto& arc = rules.in[index];
    const auto waiting = queue(arc, binding, now);
    std::uint64_t min = 1;
    std::uint64_t max = 1;
    if (const auto* fixed = std::get_if<nets::FixedWeight>(&arc.take)) {
        min = max = fixed->count;
    } else if (const auto* range = std::get_if<nets::RangeWeight>(&arc.take)) {
        min = range->min;
        max = range->max;
    } else if (const auto* weight = std::get_if<nets::ExpressionWeight>(&arc.take)) {
        nets::cel::Budget budget;
        const auto count = weight->count.evaluate(values(rules, binding), budget);
        if (!count || !count->is(nets::cel::Kind::integer) || count->as_integer() < 0) return false;
        min = max = static_cast<std::uint64_t>(count->as_integer());
    } else {
        min = std::holds_alternative<nets::AllWeight>(arc.take) ? 1 : 0;
        max = waiting.size();
    }
    const bool optional = may_stay_empty(rules, arc);
    for (std::size_t from = 0;; from += std::max<std::uint64_t>(max, 1)) {
        const auto count =
            std::min<std::uint64_t>(max, waiting.size() - std::min(from, waiting.size()));
        if (count < min || (from > 0 && count == 0)) {
            return from == 0 && optional && choose(t, step + 1, binding, now, visit);
        }
        const auto first = waiting.begin() + static_cast<std::ptrdiff_t>(from);
        binding.arcs[index].assign(first, first + static_cast<std::ptrdiff_t>(count));
        const bool enough = choose(t, step + 1, binding, now, visit);
        binding.arcs[index].clear();
        if (enough) return true;
    }
}

// S21
bool Interpreter::may_stay_empty(const nets::Transition& rules, const nets::InputArc& arc) const {
    return rules.or_join && arc.kind == ArcKind::consume && !arc.any_case &&
           net_.places[arc.place].cases;
}

bool Interpreter::inhibited(const nets::Transition& rules, const Binding& binding) const {
    for (const auto& arc : rules.in) {
        if (arc.kind != ArcKind::inhibit) continue;
        const auto* fixed = std::get_if<nets::FixedWeight>(&arc.take);
        const auto count = std::ranges::count_if(tokens_, [&](const auto& entry) {
            const Token& token = entry.second;
            const bool own =
                arc.any_case || token.case_seq == 0 || token.case_seq == binding.case_seq;
            return token.place == arc.place && token.visible <= now_ && own &&
                   matches(arc, token.data, binding.key);
        });
        if (static_cast<std::uint64_t>(count) >= (fixed != nullptr ? fixed->count : 1)) return true;
    }
    return false;
}

bool Interpreter::accept(nets::TransitionIndex t, Binding binding, const Visit& visit) const {
    const auto& rules = net_.transitions[t];
    bool joins = !rules.or_join;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc)
        joins |= may_stay_empty(rules, rules.in[arc]) && !binding.arcs[arc].empty();
    if (!joins) return false;
    for (const auto id : bound(rules, binding, ArcKind::consume)) {
        if (binding.case_seq == 0) binding.case_seq = tokens_.at(id).case_seq;
    }
    if (inhibited(rules, binding)) return false;
    if (rules.guard) {
        nets::cel::Budget budget;
        const auto holds = rules.guard->evaluate(values(rules, binding), budget);
        if (!holds || !holds->is(nets::cel::Kind::boolean) || !holds->as_boolean()) return false;
    }
    return visit(binding);
}

std::set<std::string> Interpreter::keys(const nets::Transition& rules) const {
    std::set<std::string> all;
    bool keyed = false;
    for (const auto& arc : rules.in) {
        if (!arc.key || !arc.binds()) continue;
        keyed = true;
        for (const auto& [id, token] : tokens_) {
            if (token.place == arc.place) all.insert(key_of(arc, token.data));
        }
    }
    if (!keyed) all.insert("");
    return all;
}

// A case takes part with a token of its own; S11: on an arc with a key, if there is one.
bool Interpreter::takes_part(
    const nets::Transition& rules, std::uint64_t case_seq, const std::string& key
) const {
    const bool keyed = std::ranges::any_of(rules.binding_order, [&](std::size_t arc) {
        return rules.in[arc].key.has_value();
    });
    if (case_seq == 0 && !keyed) return true;
    return std::ranges::any_of(rules.binding_order, [&](std::size_t index) {
        const auto& arc = rules.in[index];
        if ((arc.any_case && case_seq != 0) || (keyed && !arc.key)) return false;
        return std::ranges::any_of(tokens_, [&](const auto& entry) {
            const Token& token = entry.second;
            return token.place == arc.place && token.holder == 0 && !aside_.contains(entry.first) &&
                   (arc.any_case || token.case_seq == case_seq) &&
                   token.visible + (rested_ ? arc.age : base::Duration{}) <= now_ &&
                   matches(arc, token.data, key);
        });
    });
}

bool Interpreter::each_binding(nets::TransitionIndex t, base::Timestamp now, const Visit& visit)
    const {
    std::set<std::uint64_t> cases{0};
    for (const auto& [id, token] : tokens_)
        cases.insert(token.case_seq);
    const auto& rules = net_.transitions[t];
    for (const auto case_seq : cases) {
        for (const auto& key : keys(rules)) {
            if (!takes_part(rules, case_seq, key)) continue;
            Binding binding{case_seq, key, {}, case_seq};
            binding.arcs.resize(rules.in.size());
            bool done = false;
            choose(t, 0, binding, now, [&](const Binding& found) {
                done = visit(found);
                // S12: the first it is, unless a guard or what may still come looks past it.
                return done || (!rules.guard && !rules.or_join);
            });
            if (done) return true;
        }
    }
    return false;
}

}  // namespace semantics
