#include "base/files.hpp"
#include "base/result.hpp"
#include "bench/figure.hpp"
#include "nets/analysis/state_space.hpp"
#include "nets/pnml/pnml.hpp"

#include <deque>
#include <fmt/format.h>
#include <string>
#include <unordered_set>

/// The packed explorer beside a straightforward one, on the same nets in the same run:
/// bench_state_space [FILE.pnml...]
namespace {

using namespace nets::analysis;

struct VectorHash {
    std::size_t operator()(const std::vector<int>& marking) const {
        std::size_t hash = 0;
        for (const int count : marking) {
            hash = hash * 1'000'003U + static_cast<std::size_t>(count);
        }
        return hash;
    }
};

struct Counts {
    std::uint64_t states = 0;
    std::uint64_t edges = 0;
};

/// What one writes first: markings as vectors of int in a std::unordered_set.
Counts explore_plainly(const PtNet& net, std::uint64_t states_max) {
    std::vector<int> first;
    for (const Count count : initial_marking(net))
        first.push_back(static_cast<int>(count));
    std::unordered_set<std::vector<int>, VectorHash> seen{first};
    std::deque<const std::vector<int>*> open{&*seen.begin()};
    Counts counts;
    while (!open.empty() && seen.size() <= states_max) {
        const std::vector<int>& marking = *open.front();
        open.pop_front();
        for (const PtTransition& transition : net.transitions) {
            bool enabled = true;
            for (const PtArc& arc : transition.consume) {
                enabled = enabled && marking[arc.place] >= static_cast<int>(arc.weight);
            }
            if (!enabled) continue;
            std::vector<int> after = marking;
            for (const PtArc& arc : transition.consume) {
                after[arc.place] -= static_cast<int>(arc.weight);
            }
            for (const PtArc& arc : transition.produce) {
                after[arc.place] += static_cast<int>(arc.weight);
            }
            ++counts.edges;
            const auto [at, inserted] = seen.insert(std::move(after));
            if (inserted) open.push_back(&*at);
        }
    }
    counts.states = seen.size();
    return counts;
}

/// Dining philosophers who take one fork, then the other, in no fixed order: 3^n states.
PtNet philosophers(std::uint32_t n) {
    PtNet net{.name = fmt::format("Philosophers-{}", n)};
    const auto place = [&](std::string id, Count initial) {
        net.places.push_back({.id = std::move(id), .initial = initial});
        return static_cast<PlaceId>(net.places.size() - 1);
    };
    for (std::uint32_t i = 0; i < n; ++i)
        place(fmt::format("fork{}", i), 1);
    for (std::uint32_t i = 0; i < n; ++i) {
        const PlaceId left = i;
        const PlaceId right = (i + 1) % n;
        const PlaceId think = place(fmt::format("think{}", i), 1);
        const PlaceId has_left = place(fmt::format("left{}", i), 0);
        const PlaceId has_right = place(fmt::format("right{}", i), 0);
        const PlaceId eat = place(fmt::format("eat{}", i), 0);
        const auto transition = [&](std::vector<PtArc> in, std::vector<PtArc> out) {
            net.transitions.push_back(
                {.id = fmt::format("t{}", net.transitions.size()),
                 .consume = std::move(in),
                 .produce = std::move(out)}
            );
        };
        transition({{think}, {left}}, {{has_left}});
        transition({{think}, {right}}, {{has_right}});
        transition({{has_left}, {right}}, {{eat}});
        transition({{has_right}, {left}}, {{eat}});
        transition({{eat}}, {{think}, {left}, {right}});
    }
    return net;
}

void measure(const PtNet& net) {
    Budget budget({.states_max = 50'000'000, .memory_bytes_max = std::size_t{8} << 30U});
    const bench::Stopwatch packed_watch;
    const StateSpace space = explore(net, initial_marking(net), budget);
    const double packed = packed_watch.cpu();
    const bench::Stopwatch plain_watch;
    const Counts counts = explore_plainly(net, 50'000'000);
    const double plain = plain_watch.cpu();
    base::check(
        counts.states == space.states.size() && counts.edges == space.edges,
        "both explorers find the same graph"
    );
    const auto states = static_cast<double>(space.states.size());
    const std::string beside = fmt::format(
        "unordered_set of vectors in {:.1f} s: {:.1f} times as long", plain, plain / packed
    );
    bench::print_figure("state space: " + net.name + ", states", states, "states");
    bench::print_figure("state space: " + net.name + ", processor time", packed, "s", beside);
    bench::print_figure("state space: " + net.name + ", rate", states / packed, "states/s", beside);
    bench::print_figure(
        "state space: " + net.name + ", memory for a million states",
        static_cast<double>(space.bytes()) / 1.048576 / states,
        "MiB"
    );
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const auto xml = base::read_file(argv[i], std::size_t{64} << 20U);
        const auto document = xml ? nets::pnml::read(*xml)
                                  : base::Result<nets::pnml::Document>(std::unexpect, xml.error());
        if (!document) {
            fmt::print(stderr, "{}: {}\n", argv[i], document.error().message);
            return 1;
        }
        measure(document->net);
    }
    measure(philosophers(14));
    return 0;
}
