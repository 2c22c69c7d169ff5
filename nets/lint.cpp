#include "nets/lint.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace nets {

namespace {

// How tokens get into the places of a net and what looks at them.
struct Traffic {
    std::vector<bool> begins;  // holds tokens before anything fires, or may get them from outside
    std::vector<bool> fed;     // a transition puts tokens there
    std::vector<bool> read;    // an arc looks at it
    std::vector<bool> ends;
};

template <class Visit>
void each_rule(const Transition& transition, const Visit& visit) {
    for (const auto& rule : transition.out.rules)
        visit(rule);
    if (!transition.fail) return;
    for (const auto& rule : transition.fail->rules)
        visit(rule);
}

Traffic traffic_of(const Net& net) {
    const std::vector<bool> none(net.places.size());
    Traffic traffic{none, none, none, none};
    for (std::size_t i = 0; i < net.places.size(); ++i)
        traffic.begins[i] = net.places[i].shared || !net.places[i].tokens.empty();
    if (net.start) traffic.begins[*net.start] = true;
    for (const auto place : net.end)
        traffic.ends[place] = true;
    for (const auto& transition : net.transitions) {
        for (const auto& arc : transition.in)
            traffic.read[arc.place] = true;
        each_rule(transition, [&](const OutputRule& rule) { traffic.fed[rule.place] = true; });
        // What a link relates is there for people and for search.
        if (const auto* link = std::get_if<Link>(&transition.action)) {
            for (const auto place : {link->from, link->to})
                traffic.fed[place] = traffic.read[place] = true;
        }
    }
    // Where no transition puts tokens, somebody outside does: events come so.
    for (std::size_t i = 0; i < net.places.size(); ++i)
        if (!traffic.fed[i]) traffic.begins[i] = true;
    return traffic;
}

class Linter {
public:
    explicit Linter(const Net& net) : net_(net), traffic_(traffic_of(net)) {}

    std::vector<Finding> run() {
        for (PlaceIndex i = 0; i < net_.places.size(); ++i)
            place(i);
        mark_reachable();
        for (TransitionIndex i = 0; i < net_.transitions.size(); ++i)
            transition(i);
        return std::move(findings_);
    }

private:
    static std::string pointer(std::string_view kind, std::string_view name) {
        return base::pointer_child(base::pointer_child("", kind), name);
    }

    void add(std::string at, std::string code, std::string message) {
        findings_.push_back({Severity::warning, std::move(at), std::move(code), std::move(message)}
        );
    }

    void place(PlaceIndex i) {
        const auto& place = net_.places[i];
        if (place.shared) return;
        const bool fed = traffic_.fed[i] || (net_.start == i) || !place.tokens.empty();
        const bool read = traffic_.read[i] || traffic_.ends[i];
        const auto at = pointer("places", place.name);
        if (!traffic_.fed[i] && !traffic_.read[i] && net_.start != i) {
            add(at, "place_unused", fmt::format("no transition touches '{}'", place.name));
        } else if (!fed && net_.start) {
            add(at,
                "place_unfed",
                fmt::format("nothing puts a token into '{}'; only a person could", place.name));
        } else if (!read) {
            add(at,
                "place_unread",
                fmt::format(
                    "nothing takes tokens from '{}'; if they are to stay, list it in 'end'",
                    place.name
                ));
        }
    }

    // A transition is reachable when all the places that it needs tokens of are.
    void mark_reachable() {
        auto marked = traffic_.begins;
        reachable_.assign(net_.transitions.size(), false);
        std::vector<std::size_t> missing(net_.transitions.size());
        std::vector<std::vector<TransitionIndex>> waiting(net_.places.size());
        std::vector<TransitionIndex> ready;
        for (TransitionIndex i = 0; i < net_.transitions.size(); ++i) {
            for (const auto& arc : net_.transitions[i].in) {
                const bool optional = arc.kind == ArcKind::inhibit || arc.kind == ArcKind::reset ||
                                      std::holds_alternative<AnyWeight>(arc.take);
                if (optional || marked[arc.place]) continue;
                waiting[arc.place].push_back(i);
                ++missing[i];
            }
            if (missing[i] == 0) ready.push_back(i);
        }
        while (!ready.empty()) {
            const auto i = ready.back();
            ready.pop_back();
            reachable_[i] = true;
            each_rule(net_.transitions[i], [&](const OutputRule& rule) {
                if (marked[rule.place]) return;
                marked[rule.place] = true;
                for (const auto next : waiting[rule.place])
                    if (--missing[next] == 0) ready.push_back(next);
            });
        }
    }

    void transition(TransitionIndex i) {
        const auto& transition = net_.transitions[i];
        const auto at = pointer("transitions", transition.name);
        if (std::holds_alternative<Link>(transition.action)) return;
        if (!reachable_[i]) {
            add(at,
                "transition_unreachable",
                fmt::format("'{}' can never fire: an input place stays empty", transition.name));
        }
        arcs(transition, at);
        settings(transition, at);
        rules(transition.out, at + "/out");
        if (transition.fail) rules(*transition.fail, at + "/fail");
    }

    void arcs(const Transition& transition, const std::string& at) {
        const auto keyed = std::ranges::count_if(transition.in, [](const InputArc& arc) {
            return arc.key.has_value();
        });
        for (const auto& arc : transition.in) {
            const auto here = base::pointer_child(at + "/in", arc.alias);
            if (!usable_alias(arc.alias)) {
                add(here,
                    "alias_unusable",
                    fmt::format("no expression can name the alias '{}'", arc.alias));
            }
            if (arc.key && keyed == 1 && !arc.takes_list) {
                add(here + "/key", "key_alone", "no other arc of the transition has a 'key'");
            }
            const auto* fixed = std::get_if<FixedWeight>(&arc.take);
            const auto& capacity = net_.places[arc.place].capacity;
            const bool takes = arc.kind == ArcKind::consume || arc.kind == ArcKind::read;
            if (takes && fixed != nullptr && capacity && fixed->count > *capacity) {
                add(here,
                    "weight_above_capacity",
                    fmt::format(
                        "takes {} tokens of '{}', which holds at most {}",
                        fixed->count,
                        net_.places[arc.place].name,
                        *capacity
                    ));
            }
        }
        const bool consumes = std::ranges::any_of(transition.in, [](const InputArc& arc) {
            return arc.kind == ArcKind::consume;
        });
        if (!is_timer(transition) && !consumes) {
            add(at,
                "consumes_nothing",
                fmt::format("'{}' takes nothing away, so it may fire without end", transition.name)
            );
        }
    }

    void settings(const Transition& transition, const std::string& at) {
        const bool works = std::holds_alternative<Call>(transition.action) ||
                           std::holds_alternative<Command>(transition.action) ||
                           std::holds_alternative<Agent>(transition.action) ||
                           std::holds_alternative<ChildNet>(transition.action);
        if (works && transition.out.may_be_empty) {
            add(at, "result_dropped", "has no 'out': what the tool answers is thrown away");
        }
        if (works) return;
        const auto without_effect = [&](bool set, std::string_view field) {
            if (!set) return;
            add(base::pointer_child(at, field),
                "without_effect",
                fmt::format("'{}' means nothing where no tool is called", field));
        };
        without_effect(transition.retry.attempts > 1, "retry");
        without_effect(transition.timeout.has_value(), "timeout");
        without_effect(transition.concurrency.has_value(), "concurrency");
        without_effect(transition.fail_when_uncertain, "onUncertain");
    }

    void rules(const Outputs& outputs, const std::string& at) {
        if (!outputs.first_only) return;
        for (std::size_t i = 0; i + 1 < outputs.rules.size(); ++i) {
            const auto& rule = outputs.rules[i];
            if (rule.when || rule.otherwise) continue;
            add(fmt::format("{}/{}", at, i + 1),
                "rule_shadowed",
                fmt::format("is never chosen: rule {} before it always holds", i));
            return;
        }
    }

    // What CEL takes for one name.
    static bool usable_alias(std::string_view alias) {
        static constexpr auto words = std::to_array<std::string_view>(
            {"as",       "break",   "const",  "continue", "else", "false", "for",
             "function", "if",      "import", "in",       "let",  "loop",  "namespace",
             "null",     "package", "return", "true",     "var",  "void",  "while"}
        );
        return !alias.contains('-') && std::ranges::find(words, alias) == words.end();
    }

    const Net& net_;
    Traffic traffic_;
    std::vector<bool> reachable_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> lint(const Net& net) {
    return Linter(net).run();
}

}  // namespace nets
