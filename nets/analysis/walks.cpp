#include "nets/analysis/walks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::uint64_t steps_between_looks = 1024;
constexpr std::size_t nodes_a_step = 64;  ///< looked at in about the time of a step

class Walker {
public:
    Walker(const PtNet& net, const Marking& initial, Budget& budget, const WalkOptions& options)
        : initial_(initial),
          budget_(budget),
          options_(options),
          random_(options.seed),
          touches_(all_touches(net)),
          affected_(net.transitions.size()) {
        std::vector<std::vector<TransitionId>> users(net.places.size());
        for (TransitionId t = 0; t < touches_.size(); ++t) {
            for (const Touch& touch : touches_[t]) {
                if (touch.need > 0 || touch.below) users[touch.place].push_back(t);
            }
        }
        for (TransitionId t = 0; t < touches_.size(); ++t) {
            for (const Touch& touch : touches_[t]) {
                if (!touch.changes()) continue;
                const auto& more = users[touch.place];
                affected_[t].insert(affected_[t].end(), more.begin(), more.end());
            }
        }
        walks_.place_max = initial;
        walks_.fires.resize(touches_.size(), 0);
    }

    Walks run() && {
        while (steps_ < options_.steps_max && !out_of_time_)
            walk();
        return std::move(walks_);
    }

private:
    void walk() {
        // To begin costs as well, so that walks without a step come to an end.
        steps_ += 1 + (initial_.size() + touches_.size()) / nodes_a_step;
        if (out_of_time_ = budget_.out_of_time(); out_of_time_) return;
        Marking marking = initial_;
        Count total = std::accumulate(marking.begin(), marking.end(), Count{0});
        std::vector<std::uint8_t> can(touches_.size(), 0);
        std::vector<TransitionId> list;
        for (TransitionId t = 0; t < touches_.size(); ++t)
            consider(marking, t, can, list);
        std::vector<TransitionId> sequence;
        note(marking, total, sequence);
        for (std::uint64_t i = 0; i < options_.length_max && steps_ < options_.steps_max; ++i) {
            if (list.empty()) return note_deadlock(marking, sequence);
            if (++steps_ % steps_between_looks == 0) {
                out_of_time_ = budget_.out_of_time();
                budget_.report({.phase = "random walks", .states = steps_});
                if (out_of_time_) return;
            }
            const std::size_t pick = next_random() % list.size();
            const TransitionId t = list[pick];
            for (const Touch& touch : touches_[t]) {
                Count& held = marking[touch.place];
                const Count after = (touch.reset ? 0 : held - touch.consume) + touch.produce;
                total = total - held + after;
                held = after;
            }
            sequence.push_back(t);
            for (const TransitionId other : affected_[t])
                consider(marking, other, can, list);
            note(marking, total, sequence);
        }
    }

    bool enabled(const Marking& marking, TransitionId t) const {
        return std::ranges::all_of(touches_[t], [&](const Touch& touch) {
            const Count held = marking[touch.place];
            return held >= touch.need && (!touch.below || held < *touch.below);
        });
    }

    /// Keeps `list` the enabled transitions, `can` the same as flags.
    void consider(
        const Marking& marking,
        TransitionId t,
        std::vector<std::uint8_t>& can,
        std::vector<TransitionId>& list
    ) {
        const bool now = enabled(marking, t);
        if (now == (can[t] != 0)) return;
        can[t] = now ? 1 : 0;
        if (now) {
            list.push_back(t);
            walks_.fires[t] = 1;
        } else {
            *std::ranges::find(list, t) = list.back();
            list.pop_back();
        }
    }

    void note(const Marking& marking, Count total, const std::vector<TransitionId>& sequence) {
        walks_.marking_max = std::max(walks_.marking_max, total);
        const auto look = [&](PlaceId place) {
            Count& most = walks_.place_max[place];
            most = std::max(most, marking[place]);
            if (marking[place] <= 1) return;
            if (!walks_.beyond_one || sequence.size() < walks_.beyond_one->size()) {
                walks_.beyond_one = sequence;
            }
        };
        if (sequence.empty()) {
            for (PlaceId place = 0; place < marking.size(); ++place)
                look(place);
        } else {
            for (const Touch& touch : touches_[sequence.back()])
                look(touch.place);
        }
    }

    void note_deadlock(const Marking& marking, const std::vector<TransitionId>& sequence) {
        const auto keep_shorter = [&](std::optional<std::vector<TransitionId>>& best) {
            if (!best || sequence.size() < best->size()) best = sequence;
        };
        keep_shorter(walks_.deadlock);
        if (options_.accepts && !options_.accepts(marking)) keep_shorter(walks_.stuck);
    }

    /// splitmix64
    std::uint64_t next_random() {
        std::uint64_t z = random_ += 0x9e37'79b9'7f4a'7c15ULL;
        z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebULL;
        return z ^ (z >> 31U);
    }

    const Marking& initial_;
    Budget& budget_;
    const WalkOptions& options_;
    std::uint64_t random_;
    std::vector<std::vector<Touch>> touches_;
    std::vector<std::vector<TransitionId>> affected_;  ///< whose enabledness a firing may change
    std::uint64_t steps_ = 0;
    bool out_of_time_ = false;
    Walks walks_;
};

}  // namespace

Walks random_walks(
    const PtNet& net, const Marking& initial, Budget& budget, const WalkOptions& options
) {
    if (neighbours(net, all_touches(net)) > neighbours_max) {
        return {
            .place_max = initial, .fires = std::vector<std::uint8_t>(net.transitions.size(), 0)
        };
    }
    return Walker(net, initial, budget, options).run();
}

}  // namespace nets::analysis
