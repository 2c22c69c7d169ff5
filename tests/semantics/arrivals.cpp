#include "tests/semantics/interpreter.hpp"

#include <algorithm>
#include <deque>

// Goes forward through all markings: not how the engine finds it out.
namespace semantics {

namespace {

constexpr std::size_t states_max = 500;
constexpr std::uint32_t tokens_max = 4;  // of one place: beyond it, more makes no difference here

std::uint32_t least(const nets::InputArc& arc) {
    if (const auto* fixed = std::get_if<nets::FixedWeight>(&arc.take)) {
        return static_cast<std::uint32_t>(fixed->count);
    }
    if (const auto* range = std::get_if<nets::RangeWeight>(&arc.take)) {
        return static_cast<std::uint32_t>(range->min);
    }
    return std::holds_alternative<nets::AllWeight>(arc.take) ? 1 : 0;
}

struct Way {
    Marking make;
    bool failed = false;  // S18: then nothing is reset
};

std::vector<Way> made(const nets::Net& net, const nets::Transition& rules) {
    std::vector<Way> ways;
    const auto add = [&](const nets::Outputs& outputs, bool failed) {
        Marking all(net.places.size());
        for (const auto& rule : outputs.rules) {
            Marking one(net.places.size());
            Marking& into = rule.otherwise || outputs.first_only ? one : all;
            into[rule.place] += rule.each ? tokens_max + 1 : 1;  // any number
            if (&into == &one) ways.push_back({one, failed});
        }
        ways.push_back({all, failed});
    };
    add(rules.out, false);
    if (rules.fail) add(*rules.fail, true);
    return ways;
}

struct State {
    Marking marking;
    std::vector<nets::TransitionIndex> running;
    std::vector<nets::PlaceIndex> late;
    std::set<nets::PlaceIndex> came;  // wanted places that a token came to on the way here
    auto operator<=>(const State&) const = default;
};

struct Exploration {
    const ArrivalQuestion& question;
    std::set<State> seen;
    std::deque<State> next;
    bool capped = false;
    bool found = false;

    void reach(State state, const Marking& make) {
        for (std::size_t place = 0; place < make.size(); ++place) {
            state.marking[place] += make[place];
            if (state.marking[place] > tokens_max) {
                state.marking[place] = tokens_max;
                capped = true;
            }
        }
        bool held = true;
        for (std::size_t place = 0; place < make.size(); ++place)
            held &= state.marking[place] >= question.held[place];
        for (const auto place : question.wanted) {
            if (make[place] > 0) state.came.insert(place);
            found |= state.came.contains(place) && held && enough(state, place);
        }
        if (seen.insert(state).second) next.push_back(std::move(state));
    }

    // What came must still be there beside what the served arcs hold.
    [[nodiscard]] bool enough(const State& state, nets::PlaceIndex place) const {
        return state.marking[place] > question.held[place];
    }

    [[nodiscard]] bool free_arc(const nets::InputArc& arc) const {
        return arc.any_case || !question.net.places[arc.place].cases;
    }

    void fire(const State& state, const nets::Transition& rules, const nets::InputArc* only) {
        State after = state;
        Marking bound(question.net.places.size());  // each token once: S7
        for (const auto& arc : rules.in) {
            const bool skipped =
                arc.kind == nets::ArcKind::consume && only != nullptr && only != &arc;
            if (free_arc(arc) || !arc.binds() || skipped) continue;
            bound[arc.place] += least(arc);
            if (state.marking[arc.place] < bound[arc.place]) return;
            if (arc.kind == nets::ArcKind::consume) after.marking[arc.place] -= least(arc);
        }
        end(after, rules);
    }

    // Every way in which a firing that has taken its tokens may end.
    void end(const State& taken, const nets::Transition& rules) {
        State emptied = taken;
        for (const auto& arc : rules.in) {
            const bool resets = arc.kind == nets::ArcKind::reset && !free_arc(arc);
            if (resets && !arc.where && !arc.key) emptied.marking[arc.place] = 0;
        }
        for (const auto& way : made(question.net, rules))
            reach(way.failed ? taken : emptied, way.make);
    }

    void step(const State& state) {
        for (std::size_t i = 0; i < state.running.size(); ++i) {
            State after = state;
            after.running.erase(after.running.begin() + static_cast<std::ptrdiff_t>(i));
            end(after, question.net.transitions[state.running[i]]);
        }
        for (std::size_t i = 0; i < state.late.size(); ++i) {
            State after = state;
            after.late.erase(after.late.begin() + static_cast<std::ptrdiff_t>(i));
            Marking make(question.net.places.size());
            make[state.late[i]] = 1;
            reach(after, make);
        }
        for (nets::TransitionIndex t = 0; t < question.net.transitions.size(); ++t) {
            const auto& rules = question.net.transitions[t];
            if (t == question.join) continue;
            if (!rules.or_join) {
                fire(state, rules, nullptr);
                continue;
            }
            for (const auto& arc : rules.in) {
                if (arc.kind == nets::ArcKind::consume && !free_arc(arc)) fire(state, rules, &arc);
            }
        }
    }
};

}  // namespace

int may_arrive(const ArrivalQuestion& question) {
    Exploration exploration{question, {}, {}};
    State first{question.marking, question.running, question.late, {}};
    std::ranges::sort(first.running);
    std::ranges::sort(first.late);
    exploration.seen.insert(first);
    exploration.next.push_back(first);
    while (!exploration.next.empty() && !exploration.found) {
        if (exploration.seen.size() > states_max) return -1;
        const State state = exploration.next.front();
        exploration.next.pop_front();
        exploration.step(state);
    }
    if (exploration.found) return 1;
    return exploration.capped ? -1 : 0;
}

}  // namespace semantics
