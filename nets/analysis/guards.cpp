#include "nets/analysis/guards.hpp"

#include "base/json.hpp"
#include "nets/analysis/token_domain.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

namespace nets::analysis {
namespace {

using base::Json;

constexpr std::size_t takers_max = 32;
constexpr std::uint64_t steps_max = 20'000;  ///< of one condition on one token
constexpr std::string_view where_name = "token";

/// A transition that takes one token of a place and asks nothing else.
struct Taker {
    const Transition* transition = nullptr;
    std::size_t arc = 0;

    [[nodiscard]] const InputArc& input() const { return transition->in[arc]; }
    [[nodiscard]] bool asks() const { return transition->guard || input().where; }
};

bool holds(const cel::Program& condition, const std::vector<cel::Value>& values) {
    cel::Budget budget{.steps = steps_max};
    const auto value = condition.evaluate(values, budget);
    return value && value->is(cel::Kind::boolean) && value->as_boolean();
}

bool takes(const Taker& taker, const Json& token) {
    const auto value = cel::Value::json(token);
    const auto& where = taker.input().where;
    if (where && !holds(*where, {value})) return false;
    const auto& guard = taker.transition->guard;
    if (!guard) return true;
    std::vector<cel::Value> values(taker.transition->name_count());
    values[taker.arc] = value;
    return holds(*guard, values);
}

/// Whether what the transition does with the place depends on one token of it alone.
std::optional<Taker> simple(const Transition& transition, PlaceIndex place) {
    if (transition.in.size() != 1 || is_timer(transition)) return std::nullopt;
    const InputArc& arc = transition.in[0];
    const auto* const fixed = std::get_if<FixedWeight>(&arc.take);
    if (arc.place != place || arc.kind != ArcKind::consume || fixed == nullptr ||
        fixed->count != 1 || arc.key || arc.age.us > 0) {
        return std::nullopt;
    }
    return Taker{.transition = &transition, .arc = 0};
}

class GuardCheck {
public:
    explicit GuardCheck(const Net& net) : net_(net) {}

    std::vector<Finding> run() {
        std::vector<std::vector<const Transition*>> touching(net_.places.size());
        for (const Transition& transition : net_.transitions) {
            for (const InputArc& arc : transition.in) {
                const bool takes = arc.kind == ArcKind::consume || arc.kind == ArcKind::reset;
                auto& list = touching[arc.place];
                if (takes && (list.empty() || list.back() != &transition))
                    list.push_back(&transition);
            }
        }
        for (PlaceIndex p = 0; p < net_.places.size(); ++p) {
            if (!net_.places[p].shared && touching[p].size() <= takers_max) look_at(p, touching[p]);
        }
        return std::move(findings_);
    }

private:
    void look_at(PlaceIndex place, const std::vector<const Transition*>& touching) {
        std::vector<Taker> takers;
        for (const Transition* const transition : touching) {
            const auto taker = simple(*transition, place);
            if (!taker) return;
            takers.push_back(*taker);
        }
        if (std::ranges::none_of(takers, &Taker::asks)) return;
        const auto tokens = tokens_of(place, takers);
        bool gap = std::ranges::find(net_.end, place) == net_.end.end();
        bool overlap = true;
        for (const Json& token : tokens) {
            std::vector<const Taker*> taking;
            for (const Taker& taker : takers) {
                if (takes(taker, token)) taking.push_back(&taker);
            }
            if (gap && taking.empty()) {
                tell_gap(place, takers, token);
                gap = false;
            }
            if (overlap && competing(taking)) {
                tell_overlap(place, taking, token);
                overlap = false;
            }
        }
    }

    /// Nothing where the conditions ask what no list of tokens can answer.
    std::vector<Json> tokens_of(PlaceIndex place, const std::vector<Taker>& takers) const {
        std::vector<TokenCondition> asked;
        for (const Taker& taker : takers) {
            const auto& where = taker.input().where;
            const auto& guard = taker.transition->guard;
            if (where) asked.push_back({.program = &*where, .alias = where_name});
            if (guard) asked.push_back({.program = &*guard, .alias = taker.input().alias});
        }
        const auto& schema = net_.places[place].schema;
        if (!schema) return telling_tokens(asked, nullptr);
        const auto document = base::parse_json(schema->document);
        return telling_tokens(asked, document ? &*document : nullptr);
    }

    /// Two that both ask, and still both get the token, with nothing to say who goes first.
    static bool competing(const std::vector<const Taker*>& taking) {
        return taking.size() > 1 && std::ranges::all_of(taking, [&](const Taker* taker) {
                   return taker->asks() &&
                          taker->transition->priority == taking[0]->transition->priority;
               });
    }

    void add(PlaceIndex place, std::string code, std::string message) {
        Finding& made = findings_.emplace_back();
        made.severity = Severity::warning;
        made.code = std::move(code);
        made.element = net_.places[place].name;
        made.message = std::move(message);
        made.pointer = base::pointer_child("/places", made.element);
    }

    void tell_gap(PlaceIndex place, const std::vector<Taker>& takers, const Json& token) {
        std::string names;
        for (const Taker& taker : takers)
            names += (names.empty() ? "'" : ", '") + taker.transition->name + "'";
        add(place,
            "guards_gap",
            fmt::format(
                "a token such as {} stays in '{}' for ever: {} refuse{} it, and nothing else takes "
                "it",
                base::canonical(token),
                net_.places[place].name,
                names,
                takers.size() == 1 ? "s" : ""
            ));
    }

    void tell_overlap(
        PlaceIndex place, const std::vector<const Taker*>& taking, const Json& token
    ) {
        add(place,
            "guards_overlap",
            fmt::format(
                "a token such as {} in '{}' suits '{}' as well as '{}': chance decides which of "
                "them takes it",
                base::canonical(token),
                net_.places[place].name,
                taking[0]->transition->name,
                taking[1]->transition->name
            ));
    }

    const Net& net_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> guard_findings(const Net& net) {
    return GuardCheck(net).run();
}

}  // namespace nets::analysis
