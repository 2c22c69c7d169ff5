#include "nets/analysis/coverability.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace nets::analysis {
namespace {

constexpr Count many = ~Count{0};  ///< arbitrarily many tokens
constexpr std::size_t places_between_looks = 65'536;
constexpr std::size_t places_held_max = 32'000'000;  ///< of all markings together: 256 MiB
/// After the first pump each new marking is held against all that are unlimited somewhere.
constexpr std::uint64_t nodes_after_pump_max = 2'000;

std::uint64_t hash_of(const Marking& marking) {
    std::uint64_t hash = 0;
    for (const Count count : marking) {
        hash = (hash ^ count) * 0x9e37'79b9'7f4a'7c15ULL;
        hash ^= hash >> 29U;
    }
    return hash;
}

bool at_most(const Marking& low, const Marking& high) {
    for (std::size_t p = 0; p < low.size(); ++p) {
        if (low[p] > high[p]) return false;
    }
    return true;
}

class Tree {
public:
    Tree(const PtNet& net, const Marking& initial, Budget& budget, std::uint64_t nodes_max)
        : budget_(budget),
          patience_(budget),
          nodes_max_(std::min<std::uint64_t>(nodes_max, places_held_max / (net.places.size() + 1))),
          nodes_between_looks_(places_between_looks / (net.places.size() + 1) + 1),
          touches_(all_touches(net)) {
        for (const std::vector<Touch>& of_transition : touches_) {
            for (const Touch& touch : of_transition) {
                if (touch.below) monotone_ = false;
            }
        }
        result_.fires.resize(touches_.size(), 0);
        insert({.marking = initial});
    }

    Coverability run() {
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (nodes_.size() > nodes_max_) return finished(false);
            if (node % nodes_between_looks_ == 0) {
                if (budget_.out_of_time()) return finished(false);
                budget_.report({.phase = "boundedness", .states = nodes_.size()});
            }
            for (TransitionId t = 0; t < touches_.size(); ++t) {
                if (patience_.over()) return finished(false);
                if (!enabled(nodes_[node].marking, t)) continue;
                result_.fires[t] = 1;
                add(node, t);
                if (result_.pump && !monotone_) return finished(false);
            }
        }
        return finished(true);
    }

private:
    struct Node {
        Marking marking{};
        std::uint32_t parent = 0;
        TransitionId by = 0;
    };

    Coverability finished(bool complete) {
        result_.complete = complete;
        std::ranges::sort(result_.unbounded);
        const auto rest = std::ranges::unique(result_.unbounded);
        result_.unbounded.erase(rest.begin(), rest.end());
        return std::move(result_);
    }

    bool enabled(const Marking& marking, TransitionId t) const {
        return std::ranges::all_of(touches_[t], [&](const Touch& touch) {
            const Count held = marking[touch.place];
            return held >= touch.need && (!touch.below || held < *touch.below);
        });
    }

    Marking fired(Marking marking, TransitionId t) const {
        for (const Touch& touch : touches_[t]) {
            Count& held = marking[touch.place];
            if (touch.reset) held = 0;
            if (held == many) continue;
            held = (touch.reset ? 0 : held - touch.consume) + touch.produce;
        }
        return marking;
    }

    void add(std::uint32_t parent, TransitionId t) {
        Node node{.marking = fired(nodes_[parent].marking, t), .parent = parent, .by = t};
        if (known(node.marking)) return;
        accelerate(node);
        if (!known(node.marking)) insert(std::move(node));
    }

    /// Puts "arbitrarily many" where the marking has grown since one of its ancestors.
    void accelerate(Node& node) {
        for (std::uint32_t at = node.parent;; at = nodes_[at].parent) {
            if (patience_.over(node.marking.size())) return;
            if (at_most(nodes_[at].marking, node.marking)) grow(node, at);
            if (at == 0) return;
        }
    }

    void grow(Node& node, std::uint32_t ancestor) {
        const Marking& before = nodes_[ancestor].marking;
        std::vector<PlaceId> growing;
        for (PlaceId p = 0; p < before.size(); ++p) {
            if (node.marking[p] != many && node.marking[p] > before[p]) growing.push_back(p);
        }
        const std::vector<TransitionId> segment = path(ancestor, node);
        for (const TransitionId t : segment) {
            for (const Touch& touch : touches_[t]) {
                const auto found = std::ranges::find(growing, touch.place);
                if (found == growing.end()) continue;
                if (touch.below) return;
                if (touch.reset) growing.erase(found);
            }
        }
        if (growing.empty()) return;
        if (!result_.pump) {
            std::vector<TransitionId> prefix;
            if (ancestor != 0) prefix = path(0, nodes_[ancestor]);
            nodes_max_ = std::min(nodes_max_, nodes_.size() + nodes_after_pump_max);
            result_.pump = Pump{.prefix = std::move(prefix), .pump = segment, .places = growing};
        }
        for (const PlaceId p : growing)
            node.marking[p] = many;
        result_.unbounded.insert(result_.unbounded.end(), growing.begin(), growing.end());
    }

    std::vector<TransitionId> path(std::uint32_t ancestor, const Node& node) const {
        std::vector<TransitionId> sequence{node.by};
        for (std::uint32_t at = node.parent; at != ancestor; at = nodes_[at].parent) {
            sequence.push_back(nodes_[at].by);
        }
        std::ranges::reverse(sequence);
        return sequence;
    }

    bool known(const Marking& marking) const {
        const auto [first, last] = by_hash_.equal_range(hash_of(marking));
        for (auto at = first; at != last; ++at) {
            if (nodes_[at->second].marking == marking) return true;
        }
        return monotone_ && std::ranges::any_of(unlimited_, [&](std::uint32_t node) {
                   return at_most(marking, nodes_[node].marking);
               });
    }

    void insert(Node node) {
        const auto id = static_cast<std::uint32_t>(nodes_.size());
        by_hash_.emplace(hash_of(node.marking), id);
        if (std::ranges::find(node.marking, many) != node.marking.end()) unlimited_.push_back(id);
        nodes_.push_back(std::move(node));
    }

    Budget& budget_;
    Patience patience_;
    std::uint64_t nodes_max_;
    std::size_t nodes_between_looks_;
    std::vector<std::vector<Touch>> touches_;
    bool monotone_ = true;
    std::vector<Node> nodes_;
    std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
    std::vector<std::uint32_t> unlimited_;  ///< nodes that hold arbitrarily many somewhere
    Coverability result_;
};

}  // namespace

Coverability coverability(
    const PtNet& net, const Marking& initial, Budget& budget, std::uint64_t nodes_max
) {
    return Tree(net, initial, budget, nodes_max).run();
}

}  // namespace nets::analysis
