#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace nets {

namespace {

std::string has_no_meaning(FixedName fixed, const Vocabulary& vocabulary) {
    auto words = fmt::format("'{}' has no meaning in {}", name(fixed), vocabulary.where);
    if (fixed == FixedName::now) {
        words +=
            ": it is judged when tokens come and go, not as time passes; give an arc an 'age' or a "
            "rule a 'delay'";
    }
    return words;
}

std::string binds_nothing(const InputArc& arc) {
    return fmt::format(
        "'{}' is {} arc: it binds no token, so no expression can use it",
        arc.alias,
        arc.kind == ArcKind::inhibit ? "an inhibit" : "a reset"
    );
}

// Both Program and Template answer `uses`.
template <class Expression>
bool check_names(
    const Expression& expression, const At& at, Draft& draft, const Vocabulary& vocabulary
) {
    bool good = true;
    for (std::size_t i = 0; vocabulary.arcs != nullptr && i < vocabulary.arcs->size(); ++i) {
        const InputArc& arc = (*vocabulary.arcs)[i];
        if (arc.binds() || !expression.uses(i)) continue;
        draft.faults.add(at, binds_nothing(arc));
        good = false;
    }
    for (std::size_t i = 0; i < fixed_name_count; ++i) {
        const std::size_t name_index = vocabulary.alias_count + i;
        if (name_index >= vocabulary.scope->names.size() || vocabulary.known[i]) continue;
        if (!expression.uses(name_index)) continue;
        draft.faults.add(at, has_no_meaning(static_cast<FixedName>(i), vocabulary));
        good = false;
    }
    return good;
}

}  // namespace

void Draft::needs(Feature feature, const At& at) {
    if (entry(feature).supported) return;
    faults.add(
        at,
        fmt::format("{} is not supported yet", entry(feature).words),
        base::ErrorCode::unsupported
    );
}

Vocabulary Vocabulary::with(FixedName name) const {
    Vocabulary more = *this;
    more.known[static_cast<std::size_t>(name)] = true;
    return more;
}

std::optional<cel::Program> read_expression(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& vocabulary
) {
    if (!value.is_string()) {
        draft.faults.add(at, wrong_type("an expression in a string", value));
        return std::nullopt;
    }
    const auto source = without_braces(value.get_ref<const std::string&>());
    if (source.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        draft.faults.add(at, "holds no expression");
        return std::nullopt;
    }
    auto program = cel::Program::compile(source, *vocabulary.scope);
    if (!program) {
        draft.faults.add_all(at, program.error());
        return std::nullopt;
    }
    if (!check_names(*program, at, draft, vocabulary)) return std::nullopt;
    return std::move(*program);
}

std::optional<Template> read_template(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& vocabulary
) {
    auto made = Template::compile(value, *vocabulary.scope, at.pointer());
    if (!made) {
        for (const auto& detail : made.error().details)
            draft.faults.add(detail);
        return std::nullopt;
    }
    if (!check_names(*made, at, draft, vocabulary)) return std::nullopt;
    return std::move(*made);
}

std::optional<PlaceIndex> read_place(
    const base::Json& value, const At& at, Draft& draft, PlaceUse use
) {
    if (!value.is_string()) {
        draft.faults.add(at, wrong_type("the name of a place", value));
        return std::nullopt;
    }
    return place_named(value.get_ref<const std::string&>(), at, draft, use);
}

std::optional<PlaceIndex> place_named(
    std::string_view name, const At& at, Draft& draft, PlaceUse use
) {
    const auto index = draft.net.place(name);
    if (!index) {
        const auto hint = draft.faults.full() ? "" : did_you_mean(name, draft.place_names);
        draft.faults.add(at, fmt::format("no place is called {}{}", in_quotes(name), hint));
        return std::nullopt;
    }
    if (use == PlaceUse::change && system_place(name)) {
        draft.faults.add(
            at,
            fmt::format(
                "the place '{}' is the system's: a net may read it (\"arc\": \"read\") and nothing "
                "else",
                name
            )
        );
        return std::nullopt;
    }
    return index;
}

}  // namespace nets
