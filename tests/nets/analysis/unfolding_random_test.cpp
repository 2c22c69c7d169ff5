#include "base/json.hpp"
#include "nets/analysis/check_net.hpp"
#include "nets/cel/value.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace analysis = nets::analysis;
using analysis::Answer;
using analysis::Property;
using base::Json;

namespace {

constexpr std::uint64_t nets_tried = 3'000;
constexpr std::size_t states_max = 400;

/// A net whose tokens hold a listed value `s`, and a number `k` of which nothing is said.
class RandomDocument {
public:
    explicit RandomDocument(std::uint64_t seed) : random_(seed) {}

    Json run() {
        Json places = {{"in", place()}, {"out", Json::object()}};
        inner_ = 1 + up_to(2);
        for (std::uint64_t p = 0; p < inner_; ++p)
            places[fmt::format("p{}", p)] = place();
        Json transitions = Json::object();
        const auto count = 2 + up_to(4);
        for (std::uint64_t t = 0; t < count; ++t)
            transitions[fmt::format("t{}", t)] = transition(t);
        return {
            {"net", "n"},
            {"version", "1.0.0"},
            {"places", places},
            {"transitions", transitions},
            {"start", "in"},
            {"end", {"out"}}
        };
    }

private:
    std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }
    template <class... Texts>
    std::string one_of(Texts... texts) {
        const std::vector<std::string> all{texts...};
        return all[up_to(all.size() - 1)];
    }

    Json place() {
        if (up_to(6) == 0) return Json::object();
        return {
            {"schema",
             {{"type", "object"},
              {"required", {"s"}},
              {"properties", {{"s", {{"enum", {"a", "b", 3}}}}}}}}
        };
    }

    std::string any_place(bool end) {
        if (end && up_to(2) == 0) return "out";
        const auto p = up_to(inner_ + (end ? 1 : 0));
        if (p == inner_ + 1) return "out";
        return p == inner_ ? "in" : fmt::format("p{}", p);
    }

    std::string condition(const std::string& name) {
        const std::string value = one_of("'a'", "'b'", "3", "'c'");
        const std::string asked = name + ".s";
        return one_of(
            asked + " == " + value,
            asked + " != " + value,
            asked + " in ['a', 3]",
            "!(" + asked + " == " + value + ")",
            asked + " == " + value + " || " + name + ".k == 1",
            asked + " == " + value + " && " + name + ".k == 1",
            name + ".k == 0",
            "has(" + asked + ") ? " + asked + " == 'a' : false"
        );
    }

    Json token(const std::string& alias) {
        if (up_to(1) == 0) return "${" + alias + "}";
        Json made{{"k", up_to(2) == 0 ? Json(1) : Json("${" + alias + ".k}")}};
        switch (up_to(3)) {
            case 0:
                made["s"] = "${" + alias + ".s}";
                break;
            case 1:
                made["s"] = "${" + alias + ".k == 0 ? 'a' : 'b'}";
                break;
            case 2:
                made["s"] = "${" + alias + ".s == 'a' ? 'b' : " + alias + ".s}";
                break;
            default:
                made["s"] = up_to(1) == 0 ? Json("b") : Json(3);
        }
        return made;
    }

    Json arc(const std::string& place) {
        Json made{{"place", place}};
        if (up_to(4) == 0) made["where"] = condition("token");
        if (up_to(5) == 0) made["order"] = "lifo";
        return made;
    }

    Json transition(std::uint64_t index) {
        Json in{{"x", arc(index == 0 ? "in" : any_place(false))}};
        if (up_to(3) == 0) in["y"] = arc(any_place(false));
        const auto extra = up_to(9);
        if (extra < 2) {
            in["z"] = {{"place", any_place(false)}, {"arc", extra == 0 ? "inhibit" : "reset"}};
            if (up_to(1) == 0) in["z"]["where"] = condition("token");
        }
        if (in.contains("y") && up_to(2) == 0) in["y"]["arc"] = "read";
        Json made{{"in", in}, {"out", Json::array()}};
        if (up_to(1) == 0) made["guard"] = condition(in.contains("y") ? one_of("x", "y") : "x");
        const auto rules = 1 + up_to(1);
        for (std::uint64_t r = 0; r < rules; ++r) {
            const std::string alias = in.contains("y") ? one_of("x", "y") : "x";
            Json rule{{"to", any_place(true)}, {"token", token(alias)}};
            if (up_to(2) == 0) rule["when"] = condition("x");
            made["out"].push_back(std::move(rule));
        }
        if (rules > 1 && made["out"][0].contains("when") && up_to(1) == 0) {
            made["out"][1].erase("when");
            made["out"][1]["otherwise"] = true;
        }
        if (up_to(3) == 0) made["choose"] = "first";
        return made;
    }

    std::mt19937_64 random_;
    std::uint64_t inner_ = 1;
};

/// Tokens by place, in the order in which they came; the last place is that of dead letters.
using State = std::vector<std::vector<std::string>>;

/// The net with real tokens, by the words of docs/semantics.md: atomic firings, one case.
class Real {
public:
    explicit Real(const nets::Net& net) : net_(net) {}

    struct Step {
        std::size_t transition = 0;
        State after;
    };

    [[nodiscard]] std::vector<Step> steps(const State& state) const {
        std::vector<Step> found;
        for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
            for (const auto& binding : bindings(net_.transitions[t], state))
                found.push_back({t, fired(net_.transitions[t], state, binding)});
        }
        return found;
    }

private:
    /// Of each arc, the index of the token in its place.
    using Binding = std::vector<std::size_t>;

    static bool holds(const nets::cel::Program& program, std::span<const nets::cel::Value> values) {
        nets::cel::Budget budget;
        const auto value = program.evaluate(values, budget);
        return value && value->is(nets::cel::Kind::boolean) && value->as_boolean();
    }

    static bool matches(const nets::InputArc& arc, const std::string& token) {
        const auto json = Json::parse(token);
        const auto value = nets::cel::Value::json(json);
        return !arc.where || holds(*arc.where, {&value, 1});
    }

    std::vector<nets::cel::Value> values(
        const nets::Transition& transition, const State& state, const Binding& binding
    ) const {
        std::vector<nets::cel::Value> result(transition.name_count());
        for (std::size_t a = 0; a < transition.in.size(); ++a) {
            if (!transition.in[a].binds()) continue;
            const auto& text = state[transition.in[a].place][binding[a]];
            result[a] = nets::cel::Value::owned_json(Json::parse(text));
        }
        return result;
    }

    /// The first that fits; where there is a guard, the first for each arc order that it accepts -
    /// all of them here, of which the engine's is one.
    std::vector<Binding> bindings(const nets::Transition& transition, const State& state) const {
        std::vector<Binding> partial{Binding(transition.in.size(), 0)};
        for (const std::size_t a : transition.binding_order) {
            const auto& arc = transition.in[a];
            std::vector<Binding> more;
            for (const Binding& before : partial) {
                auto indexes = candidates(transition, state, before, a);
                if (arc.order == nets::OrderKind::lifo) std::ranges::reverse(indexes);
                for (const std::size_t index : indexes) {
                    more.push_back(before);
                    more.back()[a] = index;
                }
            }
            partial = std::move(more);
        }
        std::erase_if(partial, [&](const Binding& binding) {
            return inhibited(transition, state) ||
                   (transition.guard &&
                    !holds(*transition.guard, values(transition, state, binding)));
        });
        if (partial.size() > 1) partial.resize(1);
        return partial;
    }

    static std::vector<std::size_t> candidates(
        const nets::Transition& transition,
        const State& state,
        const Binding& before,
        std::size_t arc
    ) {
        std::vector<std::size_t> found;
        const auto& tokens = state[transition.in[arc].place];
        for (std::size_t index = 0; index < tokens.size(); ++index) {
            bool taken = false;
            for (const std::size_t other : transition.binding_order) {
                if (other == arc) break;
                taken = taken || (transition.in[other].place == transition.in[arc].place &&
                                  before[other] == index);
            }
            if (!taken && matches(transition.in[arc], tokens[index])) found.push_back(index);
        }
        return found;
    }

    static bool inhibited(const nets::Transition& transition, const State& state) {
        return std::ranges::any_of(transition.in, [&](const nets::InputArc& arc) {
            return arc.kind == nets::ArcKind::inhibit &&
                   std::ranges::any_of(state[arc.place], [&](const std::string& token) {
                       return matches(arc, token);
                   });
        });
    }

    State fired(const nets::Transition& transition, const State& state, const Binding& binding)
        const {
        const auto known = values(transition, state, binding);
        State after = state;
        std::vector<std::pair<nets::PlaceIndex, std::size_t>> taken;
        for (std::size_t a = 0; a < transition.in.size(); ++a) {
            if (transition.in[a].kind == nets::ArcKind::consume)
                taken.emplace_back(transition.in[a].place, binding[a]);
        }
        std::ranges::sort(taken, std::greater<>());
        for (const auto& [place, index] : taken)
            after[place].erase(after[place].begin() + static_cast<std::ptrdiff_t>(index));
        for (const auto& arc : transition.in) {
            if (arc.kind == nets::ArcKind::reset)
                std::erase_if(after[arc.place], [&](const auto& token) {
                    return matches(arc, token);
                });
        }
        if (!produce(transition, known, after)) after.back().emplace_back("lost");
        return after;
    }

    /// False: no rule takes it, or what a template makes does not fit.
    bool produce(
        const nets::Transition& transition, const std::vector<nets::cel::Value>& known, State& after
    ) const {
        bool taken = false;
        std::vector<std::pair<nets::PlaceIndex, std::string>> made;
        const auto apply = [&](const nets::OutputRule& rule) {
            std::string text;
            nets::cel::Budget budget;
            if (!rule.token.render(text, known, budget)) return false;
            const auto& schema = net_.places[rule.place].schema;
            if (schema && !schema->compiled.validate(Json::parse(text))) return false;
            made.emplace_back(rule.place, std::move(text));
            taken = true;
            return true;
        };
        for (const bool otherwise : {false, true}) {
            if (otherwise && taken) continue;
            for (const auto& rule : transition.out.rules) {
                if (rule.otherwise != otherwise || (rule.when && !holds(*rule.when, known)))
                    continue;
                if (!apply(rule)) return false;
                if (otherwise || transition.out.first_only) break;
            }
        }
        for (auto& [place, text] : made)
            after[place].push_back(std::move(text));
        return taken;
    }

    const nets::Net& net_;
};

struct Facts {
    bool one_safe = true;
    bool completes = true;
    bool proper = true;
    std::set<std::string> fires;
};

/// Nothing when there are too many states.
std::optional<Facts> explored(const nets::Net& net) {
    const Real real(net);
    std::map<State, std::size_t> index;
    std::vector<State> states;
    std::vector<std::vector<std::size_t>> sources;
    const auto reach = [&](State state) {
        const auto [at, fresh] = index.try_emplace(state, states.size());
        if (fresh) {
            states.push_back(std::move(state));
            sources.emplace_back();
        }
        return at->second;
    };
    for (const Json& s : {Json("a"), Json("b"), Json(3)}) {
        for (const int k : {0, 1}) {
            const Json token{{"s", s}, {"k", k}};
            State state(net.places.size() + 1);
            state[*net.start] = {base::canonical(token)};
            reach(std::move(state));
        }
    }
    Facts facts;
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (states.size() > states_max) return std::nullopt;
        for (auto& step : real.steps(State(states[i]))) {
            facts.fires.insert(net.transitions[step.transition].name);
            const std::size_t target = reach(std::move(step.after));
            sources[target].push_back(i);
        }
    }
    const auto out = net.end[0];
    std::vector<bool> completes(states.size(), false);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < states.size(); ++i) {
        bool over = true;
        for (std::size_t p = 0; p < states[i].size(); ++p) {
            if (p + 1 < states[i].size() && states[i][p].size() > 1) facts.one_safe = false;
            over = over && (p == out || states[i][p].empty());
        }
        if (!over && !states[i][out].empty()) facts.proper = false;
        if (over) {
            completes[i] = true;
            open.push_back(i);
        }
    }
    while (!open.empty()) {
        const auto state = open.back();
        open.pop_back();
        for (const auto source : sources[state]) {
            if (completes[source]) continue;
            completes[source] = true;
            open.push_back(source);
        }
    }
    facts.completes = std::ranges::find(completes, false) == completes.end();
    return facts;
}

struct Tally {
    std::size_t compared = 0;
    std::size_t proved = 0;
    std::size_t refuted = 0;
};

void compare(const analysis::Verdict& told, bool real, Tally& tally) {
    CAPTURE(analysis::name(told.property));
    CAPTURE(told.reason);
    if (told.answer == Answer::proved && !told.reason.contains("where the data let it")) {
        CHECK(real);
        ++tally.proved;
    }
    if (told.answer == Answer::refuted && told.trace && told.trace->certain) {
        CHECK_FALSE(real);
        ++tally.refuted;
    }
}

}  // namespace

TEST_CASE("what is said of random nets with listed values is true of the nets with real tokens") {
    Tally completion;
    Tally others;
    for (std::uint64_t seed = 1; seed <= nets_tried; ++seed) {
        const Json document = RandomDocument(seed).run();
        const auto net = nets::compile(document);
        REQUIRE_MESSAGE(net, document.dump());
        const auto facts = explored(*net);
        if (!facts) continue;
        const auto report = analysis::check(*net, {.states_max = 20'000});
        const bool fed = std::ranges::any_of(report.abstracted, [](const auto& made) {
            return made.what.contains("filled from outside");
        });
        if (fed) continue;
        ++completion.compared;
        CAPTURE(seed);
        CAPTURE(document.dump());
        compare(*report.verdict(Property::option_to_complete), facts->completes, completion);
        compare(*report.verdict(Property::proper_completion), facts->proper, others);
        compare(*report.verdict(Property::one_safe), facts->one_safe, others);
        for (const analysis::Finding& finding : report.findings) {
            if (finding.code == "never_fires") CHECK_FALSE(facts->fires.contains(finding.element));
        }
        const auto& quasi_live = *report.verdict(Property::quasi_live);
        if (quasi_live.answer == Answer::proved && !quasi_live.reason.contains("the data let"))
            CHECK(facts->fires.size() == net->transitions.size());
    }
    CHECK(completion.compared > nets_tried / 3);
    CHECK(completion.proved > nets_tried / 150);
    CHECK(completion.refuted > nets_tried / 10);
    CHECK(others.proved > nets_tried / 10);
    CHECK(others.refuted > nets_tried / 50);
}
