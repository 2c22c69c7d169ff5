#include "nets/analysis/state_space.hpp"

#include "base/result.hpp"
#include "nets/analysis/stubborn.hpp"

#include <algorithm>
#include <utility>

namespace nets::analysis {
namespace {

/// Successors are looked up this many at a time, so that the waits for memory overlap.
constexpr std::size_t batch_edges = 64;
constexpr std::uint64_t states_between_looks_max = 1024;
constexpr std::uint64_t transitions_between_looks = 4'000'000;
constexpr std::size_t words_between_looks = 4'000'000;  ///< of successors written
constexpr std::size_t batch_words_max = 500'000;

constexpr std::uint64_t tried_max = 20'000'000;  ///< transitions, between two looks at the clock
constexpr std::uint64_t selection_costs = 16;    ///< of stubborn sets, for each transition

class Explorer {
public:
    Explorer(
        const PtNet& net, const Marking& initial, Budget& budget, const ExploreOptions& options
    )
        : budget_(budget),
          keep_edges_(options.keep_edges),
          stubborn_(options.stubborn),
          states_max_(options.states_max.value_or(budget.limits().states_max)),
          space_(empty_space(net, initial, options)),
          maxima_(space_.packing),
          states_between_looks_(std::clamp<std::uint64_t>(
              transitions_between_looks / (net.transitions.size() + 1), 1, states_between_looks_max
          )) {
        batch_edges_max_ = std::max(batch_edges, batch_words_max / (space_.packing.words() + 1));
        const auto state = space_.packing.pack(initial);
        space_.states.insert(state.data(), space_.states.hash(state.data()));
        *space_.parents.append() = 0;
    }

    StateSpace run() && {
        while (!space_.stopped && next_ < space_.states.size()) {
            fill_batch();
            resolve_batch();
            if (next_ / states_between_looks_ != looked_ ||
                words_since_look_ > words_between_looks) {
                look_at_limits();
            }
        }
        maxima_.settle(space_.packing);
        space_.place_max = maxima_.per_place();
        space_.marking_max = maxima_.per_marking();
        space_.expanded = next_;
        return std::move(space_);
    }

private:
    struct Successor {
        std::uint64_t hash = 0;
        StateId source = 0;
    };

    static StateSpace empty_space(
        const PtNet& net, const Marking& initial, const ExploreOptions& options
    ) {
        Packing packing(
            net,
            initial,
            options.bounds == nullptr ? std::vector<std::optional<Count>>{} : *options.bounds
        );
        StateStore store(packing.words());
        StateSpace space{.packing = std::move(packing), .states = std::move(store)};
        space.fires.resize(net.transitions.size(), 0);
        return space;
    }

    /// Ends in the midst of a state where that one has too many successors, and goes on there.
    void fill_batch() {
        std::uint64_t tried = 0;
        while (batch_.size() < batch_edges && next_ < space_.states.size() && tried < tried_max) {
            tried += space_.packing.transitions() * (stubborn_ == nullptr ? 1 : selection_costs);
            const std::uint64_t* state = space_.states[next_];
            if (stubborn_ != nullptr && at_ == 0) select(state);
            const std::size_t before = batch_.size();
            for (TransitionId t = at_; t < space_.packing.transitions(); ++t) {
                if (stubborn_ != nullptr && selected_[t] == 0) continue;
                if (!space_.packing.enabled(state, t)) continue;
                if (batch_.size() >= batch_edges_max_) return leave_at(t, batch_.size() - before);
                std::uint64_t* const after = room(batch_.size());
                if (!space_.packing.fire(state, t, after)) {
                    leave_at(t, batch_.size() - before);
                    resolve_batch();
                    return widen(next_, t);
                }
                space_.fires[t] = 1;
                const std::uint64_t hash = space_.states.hash(after);
                space_.states.prefetch_slot(hash);
                batch_.push_back({.hash = hash, .source = next_});
            }
            fired_ += batch_.size() - before;
            see(next_, fired_);
            ++next_;
            at_ = 0;
            fired_ = 0;
        }
    }

    void leave_at(TransitionId t, std::size_t fired) {
        at_ = t;
        fired_ += fired;
    }

    void select(const std::uint64_t* state) {
        selected_.assign(space_.packing.transitions(), 0);
        for (const TransitionId t : stubborn_->of(space_.packing.unpack(state)))
            selected_[t] = 1;
    }

    std::uint64_t* room(std::size_t index) {
        const std::size_t words = space_.packing.words();
        if (successors_.size() < (index + 1) * words) successors_.resize((index + 1) * words * 2);
        return successors_.data() + index * words;
    }

    void see(StateId state, std::size_t successors) {
        const Count largest = maxima_.see(space_.packing, space_.states[state]);
        if (largest > 1 && !space_.beyond_one) space_.beyond_one = state;
        if (successors == 0 && !space_.deadlock) space_.deadlock = state;
        if (keep_edges_) *space_.offsets.append() = space_.edges;
        space_.edges += successors;
    }

    void resolve_batch() {
        for (const Successor& successor : batch_)
            space_.states.prefetch_state(successor.hash);
        const std::size_t words = space_.packing.words();
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            const auto found = space_.states.insert(successors_.data() + i * words, batch_[i].hash);
            if (found.inserted) *space_.parents.append() = batch_[i].source;
            if (keep_edges_) *space_.targets.append() = found.id;
        }
        words_since_look_ += batch_.size() * words;
        batch_.clear();
        if (space_.states.size() > states_max_) space_.stopped = LimitHit::states;
    }

    void widen(StateId state, TransitionId transition) {
        maxima_.settle(space_.packing);
        Packing wider = space_.packing.widened(space_.states[state], transition);
        space_.states = space_.states.repacked(space_.packing, wider);
        space_.packing = std::move(wider);
        successors_.clear();
    }

    void look_at_limits() {
        looked_ = next_ / states_between_looks_;
        words_since_look_ = 0;
        if (budget_.out_of_time()) space_.stopped = LimitHit::time;
        if (space_.bytes() > budget_.limits().memory_bytes_max) space_.stopped = LimitHit::memory;
        budget_.report({.phase = "states", .states = space_.states.size(), .edges = space_.edges});
    }

    Budget& budget_;
    bool keep_edges_;
    const StubbornSets* stubborn_;
    std::uint64_t states_max_;
    std::vector<std::uint8_t> selected_;
    StateSpace space_;
    MarkingMaxima maxima_;
    std::uint64_t states_between_looks_;
    StateId next_ = 0;     ///< the first state that is not expanded; all before it are, batch apart
    TransitionId at_ = 0;  ///< of `next_`: the first transition that was not tried
    std::size_t fired_ = 0;  ///< of `next_`: successors so far
    std::uint64_t looked_ = 0;
    std::size_t words_since_look_ = 0;
    std::size_t batch_edges_max_ = batch_edges;
    std::vector<Successor> batch_;
    std::vector<std::uint64_t> successors_;
};

}  // namespace

std::size_t StateSpace::bytes() const {
    return states.bytes() + parents.bytes() + targets.bytes() + offsets.bytes();
}

Marking StateSpace::marking(StateId state) const {
    return packing.unpack(states[state]);
}

std::pair<std::uint64_t, std::uint64_t> StateSpace::edge_range(StateId state) const {
    const std::uint64_t end = state + 1 < offsets.size() ? *offsets[state + 1] : edges;
    return {*offsets[state], end};
}

std::vector<TransitionId> StateSpace::trace(StateId state) const {
    std::vector<TransitionId> sequence;
    std::vector<std::uint64_t> after(packing.words());
    while (state != 0) {
        const StateId parent = *parents[state];
        TransitionId t = 0;
        for (; t < packing.transitions(); ++t) {
            if (!packing.enabled(states[parent], t)) continue;
            if (!packing.fire(states[parent], t, after.data())) continue;
            if (std::equal(after.begin(), after.end(), states[state])) break;
        }
        base::check(t < packing.transitions(), "some firing leads from a state's parent to it");
        sequence.push_back(t);
        state = parent;
    }
    std::ranges::reverse(sequence);
    return sequence;
}

StateSpace explore(
    const PtNet& net, const Marking& initial, Budget& budget, const ExploreOptions& options
) {
    return Explorer(net, initial, budget, options).run();
}

}  // namespace nets::analysis
