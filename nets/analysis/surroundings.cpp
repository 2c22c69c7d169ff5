#include "nets/analysis/surroundings.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nets::analysis {
namespace {

class Surroundings {
public:
    Surroundings(const Net& net, const Unfolding& unfolding, AbstractNet& into)
        : net_(net), unfolding_(unfolding), into_(into) {}

    void add() {
        add_start();
        look_at_uses();
        add_ends();
        feed_from_outside();
        note_priorities();
        note_read_while_running();
    }

private:
    PtNet& made() { return into_.net; }

    /// What begins a case holds one of the values.
    void add_start() {
        if (!net_.start) return;
        const AbstractPlace& start = into_.places[*net_.start];
        made().start = start.whole;
        if (start.values.empty()) return;
        const bool exact = unfolding_.places[*net_.start]->field.exact;
        if (!exact) {
            into_.notes.add(
                {.kind = Abstraction::Kind::data,
                 .element = net_.places[*net_.start].name,
                 .what = "its schema may rule out some of the values that it lists"}
            );
        }
        for (const PlaceId value : start.values) {
            std::string id = "a case begins with " + made().places[value].id;
            made().transitions.push_back(
                {.id = std::move(id),
                 .consume = {{.place = *start.whole}},
                 .produce = {{.place = value}},
                 .may_refuse = !exact,
                 .outside = true}
            );
        }
    }

    struct Use {
        bool filled = false;
        bool taken = false;  ///< or read
        bool asked = false;  ///< taken, read, emptied, or in somebody's way
    };

    /// The parts of one place are used together.
    void look_at_uses() {
        group_of_ = first_of_place(made());
        uses_.resize(made().places.size());
        for (const PtTransition& transition : made().transitions) {
            for (const PtArc& arc : transition.produce)
                use(arc.place).filled = true;
            for (const auto* arcs : {&transition.consume, &transition.read}) {
                for (const PtArc& arc : *arcs)
                    use(arc.place).taken = true;
            }
            for (const PtArc& arc : transition.inhibit)
                use(arc.place).asked = true;
            for (const PlaceId place : transition.reset)
                use(place).asked = true;
        }
        for (Use& use : uses_)
            use.asked = use.asked || use.taken;
    }

    Use& use(PlaceId place) { return uses_[group_of_[place]]; }

    /// Without any `end`, a case ends where nobody takes its tokens.
    void add_ends() {
        for (const PlaceIndex p : net_.end) {
            const AbstractPlace& place = into_.places[p];
            if (place.values.empty() && place.whole) made().end.push_back(*place.whole);
            made().end.insert(made().end.end(), place.values.begin(), place.values.end());
        }
        if (!net_.end.empty()) return;
        for (PlaceId p = 0; p < made().places.size(); ++p) {
            if (!use(p).asked && p != into_.dead_letters) made().end.push_back(p);
        }
    }

    /// What nothing in the net fills is filled from outside, by hand or by a timer. Without a
    /// start, the only such place is one.
    void feed_from_outside() {
        for (PlaceId p = 0; p < made().places.size(); ++p) {
            PtPlace& place = made().places[p];
            const bool inside = use(p).filled || !use(p).taken || p == into_.never_filled;
            if (inside || place.initial > 0 || made().start == p || !place.of.empty()) continue;
            into_.notes.add(
                {.kind = Abstraction::Kind::environment,
                 .element = place.id,
                 .what = "is filled from outside: one token is put there"}
            );
            place.initial = 1;
            into_.from_outside.push_back(p);
        }
        for (const PlaceId p : into_.from_outside)
            made().places[p].outside = true;
        if (made().start || into_.from_outside.size() != 1) return;
        made().start = into_.from_outside[0];
        made().places[*made().start].initial = 0;
        made().places[*made().start].outside = false;
    }

    void note_priorities() {
        std::map<std::string_view, std::int64_t> priorities;
        std::int64_t highest = std::numeric_limits<std::int64_t>::min();
        for (const Transition& transition : net_.transitions) {
            if (std::holds_alternative<Link>(transition.action)) continue;
            priorities.emplace(transition.name, transition.priority);
            highest = std::max(highest, transition.priority);
        }
        for (PtTransition& transition : made().transitions) {
            if (transition.outside || priorities.at(transition.origin) == highest) continue;
            transition.may_refuse = true;
            into_.notes.add(
                {.kind = Abstraction::Kind::priority,
                 .element = transition.origin,
                 .what = "may fire before a transition of higher priority"}
            );
        }
    }

    /// A firing that takes its time does not hold what it has read: when somebody takes that, and
    /// is stopped by or empties what the firing makes in the end, no order of whole firings is the
    /// same.
    void note_read_while_running() {
        std::vector<const Transition*> taken_by(net_.places.size(), nullptr);
        std::vector<bool> taken_by_more(net_.places.size(), false);
        std::vector<bool> watched(net_.places.size(), false);
        for (const Transition& transition : net_.transitions) {
            for (const InputArc& arc : transition.in) {
                const bool takes = arc.kind == ArcKind::consume || arc.kind == ArcKind::reset;
                if (takes && taken_by[arc.place] != nullptr && taken_by[arc.place] != &transition)
                    taken_by_more[arc.place] = true;
                if (takes) taken_by[arc.place] = &transition;
                if (!arc.binds()) watched[arc.place] = true;
            }
        }
        for (const Transition& transition : net_.transitions) {
            const bool lasts = !std::holds_alternative<Map>(transition.action) &&
                               !std::holds_alternative<Link>(transition.action) &&
                               !is_timer(transition);
            const bool loses = std::ranges::any_of(transition.in, [&](const InputArc& arc) {
                const Transition* const by = taken_by[arc.place];
                return arc.kind == ArcKind::read &&
                       (taken_by_more[arc.place] || (by != nullptr && by != &transition));
            });
            if (!lasts || !loses || !makes_watched(transition, watched)) continue;
            into_.notes.add(
                {.kind = Abstraction::Kind::time,
                 .element = transition.name,
                 .what =
                     "while it runs, what it has read may be taken: each firing is tried as one "
                     "step",
                 .narrows = true}
            );
        }
    }

    static bool makes_watched(const Transition& transition, const std::vector<bool>& watched) {
        const auto any = [&](const Outputs& outputs) {
            return std::ranges::any_of(outputs.rules, [&](const OutputRule& rule) {
                return watched[rule.place];
            });
        };
        return any(transition.out) || (transition.fail && any(*transition.fail));
    }

    const Net& net_;
    const Unfolding& unfolding_;
    AbstractNet& into_;
    std::vector<PlaceId> group_of_;
    std::vector<Use> uses_;
};

}  // namespace

void add_surroundings(const Net& net, const Unfolding& unfolding, AbstractNet& into) {
    Surroundings(net, unfolding, into).add();
}

}  // namespace nets::analysis
