#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/grammar.hpp"
#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace nets {

namespace {

constexpr auto arc_kinds = std::to_array<std::string_view>({"consume", "read", "inhibit", "reset"});
constexpr std::string_view token_name = "token";

bool reserved_alias(std::string_view alias) {
    if (alias == token_name) return true;
    for (std::size_t i = 0; i < fixed_name_count; ++i) {
        if (alias == name(static_cast<FixedName>(i))) return true;
    }
    return false;
}

void check_alias(const std::string& alias, const At& at, Faults& faults) {
    if (!base::valid_name(alias)) {
        read_name(alias, at, faults);
    } else if (reserved_alias(alias)) {
        faults.add(
            at,
            fmt::format(
                "'{}' is a name of the language and cannot be an alias; take another, such as "
                "'{}_in'",
                alias,
                alias
            )
        );
    }
}

Weight compile_range(const base::Json& value, const At& at, Draft& draft) {
    const Fields fields(value, at, draft.faults, grammar::range);
    RangeWeight range;
    const auto* min = fields.require("min");
    const auto* max = fields.require("max");
    if (min == nullptr || max == nullptr) return range;
    const auto least = read_integer(*min, at / "min", draft.faults, {0, weight_max});
    const auto most = read_integer(*max, at / "max", draft.faults, {1, weight_max});
    if (!least || !most) return range;
    if (*least > *most) {
        draft.faults.add(at, fmt::format("'min' is {}, more than 'max', {}", *least, *most));
    }
    draft.needs(Feature::take_range, at);
    range.min = static_cast<std::uint64_t>(*least);
    range.max = static_cast<std::uint64_t>(*most);
    return range;
}

// The arcs of one transition, read one after the other.
struct ArcReader {
    Draft& draft;
    const Vocabulary& weights;  // what `take` may use
    const Vocabulary& tokens;   // what `where`, `key` and `order` may use

    Weight weight(const base::Json& value, const At& at, std::size_t own_index) const {
        if (value.is_number_integer()) {
            const auto count = read_integer(value, at, draft.faults, {1, weight_max});
            return FixedWeight{static_cast<std::uint64_t>(count.value_or(1))};
        }
        if (value.is_object()) return compile_range(value, at, draft);
        if (value == "all") {
            draft.needs(Feature::take_all, at);
            return AllWeight{};
        }
        if (value == "any") {
            draft.needs(Feature::take_any, at);
            return AnyWeight{};
        }
        const auto* text = value.get_ptr<const std::string*>();
        if (text == nullptr || without_braces(*text).size() == text->size()) {
            draft.faults.add(
                at,
                "must be a whole number from 1, \"all\", \"any\", {\"min\", \"max\"} or an "
                "expression in '${...}'"
            );
            return FixedWeight{};
        }
        auto program = read_expression(value, at, draft, weights);
        if (!program) return FixedWeight{};
        if (program->uses(own_index)) {
            draft.faults.add(
                at, fmt::format("'{}' cannot weigh itself", weights.scope->names[own_index])
            );
        }
        draft.needs(Feature::take_expression, at);
        return ExpressionWeight{std::move(*program)};
    }

    void order(const base::Json& value, const At& at, InputArc& into) const {
        if (value == "fifo") return;
        if (value == "lifo") {
            into.order = OrderKind::lifo;
            return draft.needs(Feature::order_lifo, at);
        }
        into.order = OrderKind::expression;
        into.order_by = read_expression(value, at, draft, tokens);
        if (into.order_by) draft.needs(Feature::order_expression, at);
    }

    void kind(const base::Json& value, const At& at, InputArc& into) const {
        const auto choice = read_choice(value, at, draft.faults, arc_kinds);
        if (!choice) return;
        into.kind = static_cast<ArcKind>(*choice);
        if (into.kind == ArcKind::inhibit) draft.needs(Feature::inhibit_arc, at);
        if (into.kind == ArcKind::reset) draft.needs(Feature::reset_arc, at);
    }

    // What inhibit and reset arcs have no use for.
    void special(const Fields& fields, const At& at, const InputArc& arc) const {
        const bool inhibits = arc.kind == ArcKind::inhibit;
        const bool counts = std::holds_alternative<FixedWeight>(arc.take) ||
                            std::holds_alternative<ExpressionWeight>(arc.take);
        if (fields.has("take") && (!inhibits || !counts)) {
            draft.faults.add(
                at / "take",
                inhibits ? "must be a whole number or an expression: so many tokens inhibit"
                         : "is not for a reset arc: it takes all that is there"
            );
        }
        for (const std::string_view field : {"order", "age"}) {
            if (!fields.has(field)) continue;
            draft.faults.add(
                at / field, inhibits ? "is not for an inhibit arc" : "is not for a reset arc"
            );
        }
    }

    void object(const base::Json& value, const At& at, std::size_t index, InputArc& into) const {
        const Fields fields(value, at, draft.faults, grammar::arc);
        if (const auto* arc = fields.find("arc")) kind(*arc, at / "arc", into);
        if (const auto* place = fields.require("place")) {
            const bool reads = into.kind == ArcKind::read || into.kind == ArcKind::inhibit;
            const auto use = reads ? PlaceUse::read : PlaceUse::change;
            into.place = read_place(*place, at / "place", draft, use).value_or(unknown_place);
        }
        if (const auto* take = fields.find("take")) into.take = weight(*take, at / "take", index);
        if (!into.binds()) special(fields, at, into);
        const auto* fixed = std::get_if<FixedWeight>(&into.take);
        into.takes_list = fixed == nullptr || fixed->count != 1;
        if (const auto* where = fields.find("where")) {
            into.where = read_expression(*where, at / "where", draft, tokens);
        }
        if (const auto* key = fields.find("key")) {
            into.key = read_expression(*key, at / "key", draft, tokens);
        }
        if (const auto* by = fields.find("order")) order(*by, at / "order", into);
        if (const auto* age = fields.find("age")) {
            const auto length = read_duration(*age, at / "age", draft.faults);
            if (length) draft.needs(Feature::age, at / "age");
            into.age = length.value_or(base::Duration{});
        }
        if (const auto* any = fields.find("anyCase")) {
            into.any_case = read_boolean(*any, at / "anyCase", draft.faults).value_or(false);
        }
    }

    void arc(const base::Json& value, const At& at, std::size_t index, InputArc& into) const {
        into.place = unknown_place;
        if (value.is_object()) return object(value, at, index, into);
        if (value.is_string()) {
            into.place = read_place(value, at, draft, PlaceUse::change).value_or(unknown_place);
            return;
        }
        draft.faults.add(at, wrong_type("the name of a place or an arc (an object)", value));
    }
};

// The aliases that the weight of an arc speaks of.
bool depends(const InputArc& arc, std::size_t on) {
    const auto* weight = std::get_if<ExpressionWeight>(&arc.take);
    return weight != nullptr && weight->count.uses(on);
}

void check_weight_names(const At& at, Draft& draft, const Transition& transition) {
    for (const auto& arc : transition.in) {
        for (std::size_t i = 0; i < transition.in.size(); ++i) {
            if (transition.in[i].binds() || !depends(arc, i)) continue;
            draft.faults.add(
                at / arc.alias / "take",
                fmt::format("'{}' is an arc that binds no token", transition.in[i].alias)
            );
        }
    }
}

// Weights come after what they speak of; those that speak of each other are refused.
void order_arcs(const At& at, Draft& draft, Transition& into) {
    std::vector<bool> placed(into.in.size());
    const auto ready = [&](std::size_t arc) {
        for (std::size_t i = 0; i < into.in.size(); ++i) {
            if (i == arc || placed[i] || !into.in[i].binds()) continue;
            if (depends(into.in[arc], i)) return false;
        }
        return true;
    };
    std::size_t waiting =
        static_cast<std::size_t>(std::ranges::count_if(into.in, &InputArc::binds));
    while (waiting > into.binding_order.size()) {
        const auto before = into.binding_order.size();
        for (std::size_t arc = 0; arc < into.in.size(); ++arc) {
            if (placed[arc] || !into.in[arc].binds() || !ready(arc)) continue;
            placed[arc] = true;
            into.binding_order.push_back(arc);
        }
        if (into.binding_order.size() != before) continue;
        draft.faults.add(at, "the weights in 'take' speak of each other in a circle");
        return;
    }
}

// A key on an arc that binds nothing is the key of the tokens that the others bind.
void check_lone_keys(const At& at, Draft& draft, const Transition& transition) {
    const bool keyed = std::ranges::any_of(transition.in, [](const InputArc& arc) {
        return arc.binds() && arc.key.has_value();
    });
    for (const auto& arc : transition.in) {
        if (arc.binds() || !arc.key || keyed) continue;
        draft.faults.add(
            at / arc.alias / "key", "needs a consume or read arc with a 'key' to be equal to"
        );
    }
}

}  // namespace

void compile_arcs(
    const base::Json& value, const At& at, Draft& draft, Transition& into, cel::Scope& scope
) {
    static const base::Json::object_t no_arcs;
    const bool readable = value.is_null() || expect_object(value, at, draft.faults);
    const bool given = readable && !value.is_null();
    const auto& arcs = given ? value.get_ref<const base::Json::object_t&>() : no_arcs;
    if (arcs.size() > arcs_max) {
        draft.faults.add(
            at,
            fmt::format("{} input arcs; a transition has at most {}", arcs.size(), arcs_max),
            base::ErrorCode::too_large
        );
    }
    for (const auto& [alias, arc] : arcs) {
        check_alias(alias, at / alias, draft.faults);
        scope.names.push_back(alias);
    }
    for (std::size_t i = 0; i < fixed_name_count; ++i)
        scope.names.emplace_back(name(static_cast<FixedName>(i)));
    static const cel::Scope token_scope{{std::string(token_name)}};
    const Vocabulary tokens{&token_scope, 1, "an expression over one token", {}, {}};
    const auto weights = Vocabulary{&scope, arcs.size(), "'take'", {}, {}}.with(FixedName::case_);
    const ArcReader reader{draft, weights, tokens};
    into.in.reserve(arcs.size());
    for (const auto& [alias, arc] : arcs) {
        auto& made = into.in.emplace_back();
        made.alias = alias;
        reader.arc(arc, at / alias, into.in.size() - 1, made);
    }
    check_weight_names(at, draft, into);
    check_lone_keys(at, draft, into);
    order_arcs(at, draft, into);
}

}  // namespace nets
