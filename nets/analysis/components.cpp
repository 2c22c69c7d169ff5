#include "nets/analysis/components.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <numeric>

namespace nets::analysis {
namespace {

constexpr std::uint32_t unvisited = ~std::uint32_t{0};

/// Tarjan's algorithm with its own stack: a state space is as deep as it likes.
class Tarjan {
public:
    explicit Tarjan(const StateSpace& space)
        : space_(space),
          order_(space.expanded, unvisited),
          low_(space.expanded),
          result_{.of_state = std::vector<std::uint32_t>(space.expanded, unvisited)} {}

    Components run() && {
        for (StateId root = 0; root < order_.size(); ++root) {
            if (order_[root] == unvisited) visit_from(root);
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

Components components(const StateSpace& space) {
    base::check(space.complete(), "components are of a complete state space");
    return Tarjan(space).run();
}

std::vector<std::uint8_t> components_reaching(
    const StateSpace& space, const Components& components, const std::function<bool(StateId)>& goal
) {
    std::vector<std::uint8_t> reaching(components.count, 0);
    const Grouped groups = grouped(components);
    for (std::uint32_t component = 0; component < components.count; ++component) {
        const auto end = groups.begin[component + 1];
        for (auto i = groups.begin[component]; i < end && reaching[component] == 0; ++i) {
            const StateId state = groups.states[i];
            if (goal(state)) reaching[component] = 1;
            const auto [first, last] = space.edge_range(state);
            for (auto edge = first; edge < last; ++edge) {
                reaching[component] |= reaching[components.of_state[*space.targets[edge]]];
            }
        }
    }
    return reaching;
}

std::optional<StateId> first_state_not_reaching(
    const StateSpace& space, const Components& components, const std::function<bool(StateId)>& goal
) {
    const auto reaching = components_reaching(space, components, goal);
    for (StateId state = 0; state < components.of_state.size(); ++state) {
        if (reaching[components.of_state[state]] == 0) return state;
    }
    return std::nullopt;
}

std::vector<std::uint8_t> live_transitions(
    const StateSpace& space, const Components& components, const std::vector<TransitionId>& group_of
) {
    // A transition is live when it is enabled somewhere in every component that has no way out.
    const TransitionId transitions = space.packing.transitions();
    std::vector<std::uint8_t> live(transitions, 1);
    if (space.deadlock) {
        std::ranges::fill(live, 0);
        return live;
    }
    const Grouped groups = grouped(components);
    for (std::uint32_t component = 0; component < components.count; ++component) {
        const auto begin = groups.states.begin() + groups.begin[component];
        const auto end = groups.states.begin() + groups.begin[component + 1];
        if (std::any_of(begin, end, [&](StateId state) {
                return leaves_component(space, components, state);
            })) {
            continue;
        }
        std::vector<std::uint8_t> fires(
            transitions, 0
        );  // of groups, by the one they are named for
        for (TransitionId t = 0; t < transitions; ++t) {
            if (live[t] == 0 || fires[group_of[t]] != 0) continue;
            fires[group_of[t]] = std::any_of(begin, end, [&](StateId state) {
                return space.packing.enabled(space.states[state], t);
            });
        }
        for (TransitionId t = 0; t < transitions; ++t)
            live[t] &= fires[group_of[t]];
    }
    return live;
}

}  // namespace nets::analysis
