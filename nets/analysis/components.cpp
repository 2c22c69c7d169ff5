#include "nets/analysis/components.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace nets::analysis {
namespace {

constexpr std::uint32_t unvisited = ~std::uint32_t{0};

/// Tarjan's algorithm with its own stack: a state space is as deep as it likes.
class Tarjan {
public:
    Tarjan(const StateSpace& space, const Budget& budget)
        : space_(space),
          patience_(budget),
          order_(space.expanded, unvisited),
          low_(space.expanded),
          result_{.of_state = std::vector<std::uint32_t>(space.expanded, unvisited)} {}

    Components run() && {
        for (StateId root = 0; root < order_.size(); ++root) {
            if (order_[root] == unvisited) visit_from(root);
            if (!result_.complete) break;
        }
        return std::move(result_);
    }

private:
    struct Call {
        StateId state = 0;
        std::uint64_t next = 0;
        std::uint64_t end = 0;
    };

    void enter(StateId state) {
        order_[state] = low_[state] = visited_++;
        open_.push_back(state);
        const auto [begin, end] = space_.edge_range(state);
        calls_.push_back({.state = state, .next = begin, .end = end});
    }

    void visit_from(StateId root) {
        enter(root);
        while (!calls_.empty()) {
            if (patience_.over()) {
                result_.complete = false;
                return;
            }
            Call& call = calls_.back();
            if (call.next < call.end) {
                const StateId target = *space_.targets[call.next++];
                if (order_[target] == unvisited) {
                    enter(target);
                } else if (result_.of_state[target] == unvisited) {
                    low_[call.state] = std::min(low_[call.state], order_[target]);
                }
                continue;
            }
            const StateId done = call.state;
            calls_.pop_back();
            if (!calls_.empty()) {
                std::uint32_t& low = low_[calls_.back().state];
                low = std::min(low, low_[done]);
            }
            if (low_[done] == order_[done]) close(done);
        }
    }

    void close(StateId root) {
        StateId state = root;
        do {
            state = open_.back();
            open_.pop_back();
            result_.of_state[state] = result_.count;
        } while (state != root);
        ++result_.count;
    }

    const StateSpace& space_;
    Patience patience_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> low_;
    std::uint32_t visited_ = 0;
    std::vector<StateId> open_;
    std::vector<Call> calls_;
    Components result_;
};

/// The states ordered by component, and where each component's begin.
struct Grouped {
    std::vector<StateId> states;
    std::vector<std::uint32_t> begin;  ///< one more than there are components
};

Grouped grouped(const Components& components) {
    Grouped result;
    result.begin.assign(components.count + 1, 0);
    for (const std::uint32_t component : components.of_state)
        ++result.begin[component + 1];
    std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
    std::vector<std::uint32_t> next = result.begin;
    result.states.resize(components.of_state.size());
    for (StateId state = 0; state < components.of_state.size(); ++state) {
        result.states[next[components.of_state[state]]++] = state;
    }
    return result;
}

bool leaves_component(const StateSpace& space, const Components& components, StateId state) {
    const auto [begin, end] = space.edge_range(state);
    for (auto edge = begin; edge < end; ++edge) {
        if (components.of_state[*space.targets[edge]] != components.of_state[state]) return true;
    }
    return false;
}

}  // namespace

Components components(const StateSpace& space, const Budget& budget) {
    base::check(space.complete(), "components are of a complete state space");
    return Tarjan(space, budget).run();
}

NotReaching first_state_not_reaching(
    const StateSpace& space,
    const Components& components,
    const std::function<bool(StateId)>& goal,
    const Budget& budget
) {
    if (!components.complete) return {.complete = false};
    std::vector<std::uint8_t> reaching(components.count, 0);
    const Grouped groups = grouped(components);
    Patience patience(budget);
    for (std::uint32_t component = 0; component < components.count; ++component) {
        const auto end = groups.begin[component + 1];
        for (auto i = groups.begin[component]; i < end && reaching[component] == 0; ++i) {
            const StateId state = groups.states[i];
            if (goal(state)) reaching[component] = 1;
            const auto [first, last] = space.edge_range(state);
            if (patience.over(1 + last - first)) return {.complete = false};
            for (auto edge = first; edge < last; ++edge) {
                reaching[component] |= reaching[components.of_state[*space.targets[edge]]];
            }
        }
    }
    for (StateId state = 0; state < components.of_state.size(); ++state) {
        if (reaching[components.of_state[state]] == 0) return {.first = state};
    }
    return {};
}

namespace {

/// Which groups of transitions are enabled somewhere in a component, by the one they are named for;
/// nothing when the time is over.
std::optional<std::vector<std::uint8_t>> enabled_somewhere(
    const StateSpace& space,
    std::span<const StateId> states,
    const std::vector<TransitionId>& group_of,
    Patience& patience
) {
    std::vector<std::uint8_t> enabled(group_of.size(), 0);
    for (TransitionId t = 0; t < group_of.size(); ++t) {
        for (const StateId state : states) {
            if (enabled[group_of[t]] != 0) break;
            if (patience.over()) return std::nullopt;
            enabled[group_of[t]] = space.packing.enabled(space.states[state], t) ? 1 : 0;
        }
    }
    return enabled;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> live_transitions(
    const StateSpace& space,
    const Components& components,
    const std::vector<TransitionId>& group_of,
    const Budget& budget
) {
    // A transition is live when it is enabled somewhere in every component that has no way out.
    if (space.deadlock) return std::vector<std::uint8_t>(group_of.size(), 0);
    if (!components.complete) return std::nullopt;
    std::vector<std::uint8_t> live(group_of.size(), 1);
    const Grouped groups = grouped(components);
    Patience patience(budget);
    for (std::uint32_t component = 0; component < components.count; ++component) {
        const auto states =
            std::span(groups.states)
                .subspan(
                    groups.begin[component], groups.begin[component + 1] - groups.begin[component]
                );
        const bool has_way_out = std::ranges::any_of(states, [&](StateId state) {
            return patience.over() || leaves_component(space, components, state);
        });
        if (patience.over(0)) return std::nullopt;
        if (has_way_out) continue;
        const auto enabled = enabled_somewhere(space, states, group_of, patience);
        if (!enabled) return std::nullopt;
        for (TransitionId t = 0; t < live.size(); ++t)
            live[t] &= (*enabled)[group_of[t]];
        if (patience.over(live.size())) return std::nullopt;
    }
    return live;
}

}  // namespace nets::analysis
