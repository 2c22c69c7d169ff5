#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/grammar.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace nets {

namespace {

void compile_rule_token(
    const Fields& fields, const At& at, Draft& draft, const Vocabulary& vocabulary, OutputRule& into
) {
    std::optional<Template> token;
    if (const auto* value = fields.find("token")) {
        token = read_template(*value, at / "token", draft, vocabulary);
    } else if (fields.has("each")) {
        token = read_template("${each}", at / "token", draft, vocabulary);
    } else if (!vocabulary.passed.empty()) {
        const auto passed = fmt::format("${{{}}}", vocabulary.passed);
        token = read_template(passed, at / "token", draft, vocabulary);
    } else {
        draft.faults.add(
            at,
            "the field 'token' is missing; only a rule of a transition that does nothing but "
            "move one token passes that one on by itself"
        );
    }
    if (token) into.token = std::move(*token);
}

void compile_rule(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& outer, OutputRule& into
) {
    const Fields fields(value, at, draft.faults, grammar::rule);
    if (const auto* to = fields.require("to")) {
        into.place = read_place(*to, at / "to", draft, PlaceUse::change).value_or(unknown_place);
    }
    if (const auto* when = fields.find("when")) {
        into.when = read_expression(*when, at / "when", draft, outer);
    }
    if (const auto* otherwise = fields.find("otherwise")) {
        into.otherwise = read_boolean(*otherwise, at / "otherwise", draft.faults).value_or(false);
        if (into.otherwise && fields.has("when")) {
            draft.faults.add(
                at / "otherwise", "a rule has either 'when' or 'otherwise', not both of them"
            );
        }
    }
    const auto inner = fields.has("each") ? outer.with(FixedName::each) : outer;
    if (const auto* each = fields.find("each")) {
        into.each = read_expression(*each, at / "each", draft, outer);
    }
    if (const auto* delay = fields.find("delay")) {
        into.delay = read_duration(*delay, at / "delay", draft.faults).value_or(base::Duration{});
    }
    compile_rule_token(fields, at, draft, inner, into);
}

bool expect_few(std::size_t count, const At& at, Draft& draft) {
    if (count <= rules_max) return true;
    draft.faults.add(
        at,
        fmt::format("{} outputs; a transition has at most {}", count, rules_max),
        base::ErrorCode::too_large
    );
    return false;
}

}  // namespace

void compile_outputs(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& vocabulary, Outputs& into
) {
    if (value.is_object()) {
        if (!expect_few(value.size(), at, draft)) return;
        for (const auto& [place, token] : value.get_ref<const base::Json::object_t&>()) {
            auto& rule = into.rules.emplace_back();
            const At here = at / place;
            rule.place = place_named(place, here, draft, PlaceUse::change).value_or(unknown_place);
            auto made = read_template(token, here, draft, vocabulary);
            if (made) rule.token = std::move(*made);
        }
    } else if (value.is_array()) {
        if (!expect_few(value.size(), at, draft)) return;
        for (std::size_t i = 0; i < value.size(); ++i)
            compile_rule(value[i], at / i, draft, vocabulary, into.rules.emplace_back());
        const bool all_otherwise = std::ranges::all_of(into.rules, &OutputRule::otherwise);
        if (all_otherwise && !into.rules.empty()) {
            draft.faults.add(at, "'otherwise' needs another rule beside it, with 'when'");
        }
    } else {
        draft.faults.add(
            at, wrong_type("an object (place: token) or a list of rules ({\"to\", ...})", value)
        );
    }
    into.may_be_empty = into.rules.empty();
}

}  // namespace nets
