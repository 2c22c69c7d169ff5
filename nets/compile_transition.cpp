#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/grammar.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace nets {

namespace {

constexpr std::int64_t attempts_max = 1000;
constexpr double factor_max = 1000;
constexpr std::int64_t concurrency_max = 1'000'000;
constexpr std::int64_t priority_max = 1'000'000'000;
constexpr base::Duration timeout_min = base::milliseconds(1);

void compile_retry_codes(const base::Json& value, const At& at, Draft& draft, Retry& into) {
    if (!expect_list(value, at, draft.faults)) return;
    if (value.empty()) draft.faults.add(at, "must name at least one error code");
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto text = read_text(value[i], at / i, draft.faults);
        if (!text) continue;
        const auto code = base::error_code_from_name(*text);
        if (!code) {
            std::vector<std::string_view> names;
            names.reserve(base::all_error_codes().size());
            for (const auto known : base::all_error_codes())
                names.push_back(base::name(known));
            draft.faults.add(
                at / i,
                fmt::format("{} is no error code{}", in_quotes(*text), did_you_mean(*text, names))
            );
        } else if (std::ranges::find(into.on, *code) != into.on.end()) {
            draft.faults.add(at / i, fmt::format("'{}' is listed twice", *text));
        } else {
            into.on.push_back(*code);
        }
    }
}

void compile_retry(const base::Json& value, const At& at, Draft& draft, Retry& into) {
    const Fields fields(value, at, draft.faults, grammar::retry);
    if (const auto* attempts = fields.require("attempts")) {
        const auto count =
            read_integer(*attempts, at / "attempts", draft.faults, {1, attempts_max});
        into.attempts = static_cast<std::uint32_t>(count.value_or(1));
    }
    if (const auto* backoff = fields.find("backoff")) {
        into.backoff = read_duration(*backoff, at / "backoff", draft.faults).value_or(into.backoff);
    }
    if (const auto* factor = fields.find("factor")) {
        into.factor = read_number(*factor, at / "factor", draft.faults, {1, factor_max})
                          .value_or(into.factor);
    }
    if (const auto* most = fields.find("maxBackoff")) {
        into.backoff_max =
            read_duration(*most, at / "maxBackoff", draft.faults).value_or(into.backoff_max);
        if (into.backoff_max < into.backoff) {
            draft.faults.add(
                at / "maxBackoff",
                fmt::format("is less than 'backoff', {}", base::text(into.backoff))
            );
        }
    }
    into.backoff_max = std::max(into.backoff_max, into.backoff);
    if (const auto* on = fields.find("on")) compile_retry_codes(*on, at / "on", draft, into);
}

// What a transition has beside its arcs, its action and its outputs.
void compile_settings(const Fields& fields, const At& at, Draft& draft, Transition& into) {
    if (const auto* description = fields.find("description")) {
        read_text(*description, at / "description", draft.faults);
    }
    if (const auto* join = fields.find("join")) {
        constexpr auto joins = std::to_array<std::string_view>({"or"});
        into.or_join = read_choice(*join, at / "join", draft.faults, joins).has_value();
        if (into.or_join) draft.needs(Feature::join_or, at / "join");
    }
    if (const auto* retry = fields.find("retry")) {
        compile_retry(*retry, at / "retry", draft, into.retry);
    }
    if (const auto* timeout = fields.find("timeout")) {
        into.timeout = read_duration(*timeout, at / "timeout", draft.faults, {timeout_min});
    }
    if (const auto* concurrency = fields.find("concurrency")) {
        const auto count =
            read_integer(*concurrency, at / "concurrency", draft.faults, {1, concurrency_max});
        if (count) into.concurrency = static_cast<std::uint64_t>(*count);
    }
    if (const auto* priority = fields.find("priority")) {
        into.priority =
            read_integer(*priority, at / "priority", draft.faults, {-priority_max, priority_max})
                .value_or(0);
    }
    if (const auto* uncertain = fields.find("onUncertain")) {
        constexpr auto ways = std::to_array<std::string_view>({"wait", "fail"});
        const auto way = read_choice(*uncertain, at / "onUncertain", draft.faults, ways);
        into.fail_when_uncertain = way == 1U;
    }
}

void check_join(const At& at, Draft& draft, const Transition& transition) {
    if (!transition.or_join) return;
    if (is_timer(transition)) draft.faults.add(at / "join", "is not for timers");
    const bool takes = std::ranges::any_of(transition.in, [&](const InputArc& arc) {
        return arc.kind == ArcKind::consume && !arc.any_case &&
               (arc.place == unknown_place || draft.net.places[arc.place].cases);
    });
    if (!takes) {
        draft.faults.add(
            at / "join", "needs an arc that consumes tokens of the case: those are what it joins"
        );
    }
}

void compile_missed(const Fields& fields, const At& at, Draft& draft, Transition& into) {
    const auto* missed = fields.find("onMissed");
    if (missed == nullptr) return;
    constexpr auto ways = std::to_array<std::string_view>({"skip", "once"});
    const bool once = read_choice(*missed, at / "onMissed", draft.faults, ways) == 1U;
    if (auto* every = std::get_if<Every>(&into.action)) {
        every->once_when_missed = once;
    } else if (auto* cron = std::get_if<Cron>(&into.action)) {
        cron->once_when_missed = once;
    } else {
        draft.faults.add(at / "onMissed", "is for timers: 'every' and 'cron'");
    }
}

// The one thing that the transition does; null for a pass.
const ActionEntry* action_of(const Fields& fields, const At& at, Draft& draft) {
    const ActionEntry* found = nullptr;
    for (const auto field : grammar::action) {
        if (!fields.has(field)) continue;
        if (found != nullptr) {
            draft.faults.add(
                at / field,
                fmt::format(
                    "a transition does one thing: it has '{}' already; split it in two",
                    found->field
                )
            );
            continue;
        }
        found = action_entry(field);
    }
    return found;
}

// The name that a rule without `token` passes on: that of the one token a pass moves.
std::string passed_alias(const Transition& transition, const ActionEntry* action) {
    if (action != nullptr || transition.binding_order.size() != 1) return {};
    const auto& arc = transition.in[transition.binding_order.front()];
    return arc.alias.contains('-') ? std::string() : arc.alias;
}

// Something must come before a firing may happen: a transition whose arcs all do without a token
// would fire without end.
void expect_certain_arc(const At& at, Draft& draft, const Transition& transition) {
    const auto certain = [&](const InputArc& arc) {
        if (!arc.binds()) return false;
        if (const auto* range = std::get_if<RangeWeight>(&arc.take)) return range->min > 0;
        return std::holds_alternative<FixedWeight>(arc.take) ||
               std::holds_alternative<AllWeight>(arc.take);
    };
    if (transition.in.empty() || std::ranges::any_of(transition.in, certain)) return;
    draft.faults.add(
        at,
        "would fire without end: each of its arcs does without a token too; one must consume or "
        "read at least one"
    );
}

void compile_results(
    const Fields& fields, const At& at, Draft& draft, const Vocabulary& base, Transition& into
) {
    if (const auto* out = fields.find("out")) {
        compile_outputs(*out, at / "out", draft, base, into.out);
    } else {
        into.out.may_be_empty = true;
    }
    if (const auto* choose = fields.find("choose")) {
        constexpr auto ways = std::to_array<std::string_view>({"first"});
        const bool good = read_choice(*choose, at / "choose", draft.faults, ways).has_value();
        const auto* out = fields.find("out");
        if (good && (out == nullptr || !out->is_array())) {
            draft.faults.add(at / "choose", "is for an 'out' that is a list of rules");
        }
        into.out.first_only = good;
    }
}

}  // namespace

void compile_transition(const base::Json& value, const At& at, Draft& draft, Transition& into) {
    const Fields fields(value, at, draft.faults, grammar::transition);
    if (!base::valid_name(into.name)) read_name(into.name, at, draft.faults);
    if (!value.is_object()) return;
    cel::Scope scope;
    const auto* in = fields.find("in");
    compile_arcs(in == nullptr ? base::Json() : *in, at / "in", draft, into, scope);

    const auto* action = action_of(fields, at, draft);
    auto judging =
        Vocabulary{&scope, into.in.size(), "a guard", {}, passed_alias(into, action), &into.in}
            .with(FixedName::case_);
    if (const auto* guard = fields.find("guard")) {
        into.guard = read_expression(*guard, at / "guard", draft, judging);
    }
    const auto known = judging.with(FixedName::now);
    auto firing = known.with(FixedName::firing);
    if (action != nullptr) {
        firing.where = "what a transition is given";
        action->compile(*fields.find(action->field), at / action->field, draft, firing, into);
    }
    if (std::holds_alternative<Link>(into.action)) {
        for (const std::string_view field :
             {"out", "fail", "guard", "retry", "timeout", "concurrency", "priority"}) {
            if (fields.has(field))
                draft.faults.add(at / field, "has no meaning: a link never fires");
        }
    }
    const bool no_input = into.in.empty() && (in == nullptr || in->is_object());
    if (no_input && (action == nullptr || !action->starts_alone)) {
        draft.faults.add(
            at, "has no input: it would fire without end; only 'every' and 'cron' need none"
        );
    }
    if (action == nullptr || !action->starts_alone) expect_certain_arc(at, draft, into);
    compile_settings(fields, at, draft, into);
    compile_missed(fields, at, draft, into);
    check_join(at, draft, into);

    auto out = firing;
    out.where = action == nullptr || !action->has_result
                    ? "'out' of a transition that calls nothing"
                    : "'out'";
    if (action != nullptr && action->has_result) out = out.with(FixedName::result);
    if (action != nullptr && action->has_meta) out = out.with(FixedName::meta);
    compile_results(fields, at, draft, out, into);
    if (const auto* fail = fields.find("fail")) {
        auto failing = firing.with(FixedName::error);
        failing.where = "'fail'";
        failing.passed.clear();
        compile_outputs(*fail, at / "fail", draft, failing, into.fail.emplace());
    }
}

}  // namespace nets
