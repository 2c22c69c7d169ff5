#include "engine/or_join.hpp"

#include "engine/binding.hpp"

#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace engine {

using places::PlaceId;

namespace {

using Counts = ArrivalNet::Counts;
using Move = ArrivalNet::Move;

void add(Counts& counts, PlaceId place, std::uint64_t count) {
    if (count == 0) return;
    const auto at = std::ranges::lower_bound(counts, place, {}, &Counts::value_type::first);
    if (at != counts.end() && at->first == place) {
        at->second += count;
    } else {
        counts.insert(at, {place, count});
    }
}

std::uint64_t count_of(const Counts& counts, PlaceId place) {
    const auto at = std::ranges::lower_bound(counts, place, {}, &Counts::value_type::first);
    return at != counts.end() && at->first == place ? at->second : 0;
}

bool covers(const Counts& more, const Counts& less) {
    return std::ranges::all_of(less, [&](const auto& entry) {
        return count_of(more, entry.first) >= entry.second;
    });
}

// The fewest tokens with which an arc is served.
std::uint64_t least(const nets::InputArc& arc) {
    if (const auto* fixed = std::get_if<nets::FixedWeight>(&arc.take)) return fixed->count;
    if (const auto* range = std::get_if<nets::RangeWeight>(&arc.take)) return range->min;
    return std::holds_alternative<nets::AllWeight>(arc.take) ? 1 : 0;
}

// What the rules may make at most, one entry for each way that excludes the others.
void each_way(
    const nets::Outputs& outputs,
    const Deployment& deployment,
    const Move& inputs,
    std::vector<Move>& moves
) {
    const auto make = [&](Move& move, const nets::OutputRule& rule) {
        const auto place = deployment.places[rule.place];
        if (rule.each) {
            move.flood.push_back(place);
        } else {
            add(move.make, place, 1);
        }
    };
    Move all = inputs;
    for (const auto& rule : outputs.rules) {
        if (rule.otherwise || outputs.first_only) {
            make(moves.emplace_back(inputs), rule);
        } else {
            make(all, rule);
        }
    }
    if (!all.make.empty() || !all.flood.empty()) moves.push_back(std::move(all));
}

void each_way(
    const nets::Transition& rules,
    const Deployment& deployment,
    const Move& inputs,
    std::vector<Move>& moves
) {
    each_way(rules.out, deployment, inputs, moves);
    if (!rules.fail) return;
    Move kept = inputs;
    kept.reset.clear();  // a firing that goes its `fail` way resets nothing
    each_way(*rules.fail, deployment, kept, moves);
}

// What a firing empties for certain: with a filter it may leave what is looked for.
std::vector<PlaceId> emptied(
    const State& state, const nets::Transition& rules, const Deployment& deployment
) {
    std::vector<PlaceId> found;
    for (const auto& arc : rules.in) {
        const auto place = deployment.places[arc.place];
        if (arc.kind != nets::ArcKind::reset || arc.where || arc.key) continue;
        if (!arc.any_case && state.store.place(place).cases) found.push_back(place);
    }
    return found;
}

std::vector<Move> moves_of(const State& state, const TransitionEntry& entry) {
    const nets::Transition& rules = entry.rules();
    Move inputs;
    inputs.reset = emptied(state, rules, *entry.deployment);
    Counts alternatives;
    for (const auto& arc : rules.in) {
        const auto place = entry.deployment->places[arc.place];
        if (arc.any_case || !state.store.place(place).cases) continue;
        switch (arc.kind) {
            case nets::ArcKind::consume:
                if (rules.or_join) {
                    alternatives.emplace_back(place, least(arc));
                } else {
                    add(inputs.take, place, least(arc));
                }
                break;
            case nets::ArcKind::read:
                add(inputs.read, place, least(arc));
                break;
            case nets::ArcKind::reset:
            case nets::ArcKind::inhibit:
                break;
        }
    }
    std::vector<Move> moves;
    if (alternatives.empty()) each_way(rules, *entry.deployment, inputs, moves);
    for (const auto& [place, count] : alternatives) {
        Move one = inputs;
        add(one.take, place, count);
        each_way(rules, *entry.deployment, one, moves);
    }
    return moves;
}

bool starts_alone(const nets::Transition& rules) {
    return nets::is_timer(rules) || std::holds_alternative<nets::Link>(rules.action);
}

// Looks backwards from what is wanted.
class Search {
public:
    Search(const State& state, const ArrivalNet& net, TransitionId join, const Binding& binding)
        : state_(state),
          entry_(state.transitions[join]),
          binding_(binding),
          arrivals_(static_cast<PlaceId>(state.store.place_count())) {
        count_tokens(net.places);
        // What a firing without a case makes goes with any.
        for (const auto& [id, operation] : state.operations) {
            if (!operation.case_id || operation.case_id == binding.case_id) {
                add_operation(operation);
            }
        }
        for (const auto& move : net.moves)
            moves_.push_back(&move);
        for (const auto& move : running_)
            moves_.push_back(&move);
    }

    Arrival run() {
        want();
        if (wanted_.empty()) return {};
        keep_reachable();
        for (std::size_t next = 0; next < wanted_.size(); ++next) {
            for (const Move* move : moves_) {
                auto before = predecessor(wanted_[next].marking, *move);
                if (!before || known(*before)) continue;
                const auto place = wanted_[next].place;
                if (covers(here_, *before)) return {Arrival::Answer::may, place};
                if (wanted_.size() >= or_join_markings_max) {
                    return {Arrival::Answer::unknown, place};
                }
                wanted_.push_back({std::move(*before), place});
            }
        }
        return {};
    }

private:
    struct Wanted {
        Counts marking;
        PlaceId place;
    };

    // Tokens that a firing holds are the firing's; those of a claim are as good as there.
    void count_tokens(const std::vector<PlaceId>& places) {
        const auto& store = state_.store;
        const auto free = [](const places::Token& token) {
            return token.holder == 0 || (token.holder & places::claim_bit) != 0;
        };
        for (auto slot = store.first_of_case(binding_.case_id); slot != places::no_slot;
             slot = store.next_of_case(slot)) {
            if (free(store.token(slot))) add_token(store.token(slot));
        }
        for (const auto place : places) {
            if (store.place(place).caseless == 0) continue;
            for (auto slot = store.first_in(place); slot != places::no_slot;
                 slot = store.next_in_place(slot)) {
                if (!store.token(slot).case_id && free(store.token(slot))) {
                    add_token(store.token(slot));
                }
            }
        }
    }

    // A delayed one is still to arrive.
    void add_token(const places::Token& token) {
        if (!token.hidden) return add(here_, token.place, 1);
        Move arrival;
        arrival.take.emplace_back(next_own_, 1);
        arrival.make.emplace_back(token.place, 1);
        add(here_, next_own_--, 1);
        running_.push_back(std::move(arrival));
    }

    void add_operation(const Operation& operation) {
        Move inputs;
        inputs.take.emplace_back(next_own_, 1);
        add(here_, next_own_--, 1);
        // It resets when it ends, as one does that has not begun.
        inputs.reset = emptied(state_, operation.rules(), *operation.deployment);
        each_way(operation.rules(), *operation.deployment, inputs, running_);
    }

    // One more token for each arc that would take it, beside those that the others hold. What comes
    // is counted apart from what is there.
    void want() {
        Counts held;
        for (std::size_t arc = 0; arc < binding_.arcs.size(); ++arc) {
            if (may_stay_empty(arc)) add(held, place_of(arc), binding_.arcs[arc].size());
        }
        for (std::size_t arc = 0; arc < binding_.arcs.size(); ++arc) {
            const auto& rules = entry_.rules().in[arc];
            if (!may_stay_empty(arc)) continue;
            const auto has = binding_.arcs[arc].size();
            if (const auto* fixed = std::get_if<nets::FixedWeight>(&rules.take)) {
                if (has == fixed->count) continue;
            } else if (const auto* range = std::get_if<nets::RangeWeight>(&rules.take)) {
                if (has == range->max) continue;
            } else if (std::holds_alternative<nets::ExpressionWeight>(rules.take)) {
                if (has != 0) continue;
            }
            Wanted wanted{held, place_of(arc)};
            add(wanted.marking, place_of(arc), 1);
            add(wanted.marking, arrivals_ + place_of(arc), 1);
            wanted_.push_back(std::move(wanted));
        }
    }

    [[nodiscard]] PlaceId place_of(std::size_t arc) const {
        return entry_.deployment->places[entry_.rules().in[arc].place];
    }
    [[nodiscard]] bool may_stay_empty(std::size_t arc) const {
        const auto& rules = entry_.rules();
        return engine::may_stay_empty(rules, rules.in[arc], state_.store.place(place_of(arc)));
    }

    // Drops the moves that can never happen from here, whatever the numbers.
    void keep_reachable() {
        boost::unordered_flat_set<PlaceId> marked;
        for (const auto& [place, count] : here_)
            marked.insert(place);
        std::vector<bool> live(moves_.size());
        const auto all_marked = [&](const Counts& counts) {
            return std::ranges::all_of(counts, [&](const auto& entry) {
                return marked.contains(entry.first);
            });
        };
        for (bool grown = true; grown;) {
            grown = false;
            for (std::size_t i = 0; i < moves_.size(); ++i) {
                const Move& move = *moves_[i];
                if (live[i] || !all_marked(move.take) || !all_marked(move.read)) continue;
                live[i] = true;
                grown = true;
                for (const auto& [place, count] : move.make)
                    marked.insert(place);
                marked.insert(move.flood.begin(), move.flood.end());
            }
        }
        std::size_t kept = 0;
        for (std::size_t i = 0; i < moves_.size(); ++i) {
            if (!live[i]) continue;
            moves_[kept++] = moves_[i];
        }
        moves_.resize(kept);
    }

    // The least marking from which the move leads to one that covers `after`; nothing when it does
    // not help, or when it empties what has to stay.
    [[nodiscard]] std::optional<Counts> predecessor(const Counts& after, const Move& move) const {
        Counts before;
        bool helps = false;
        for (const auto& [place, count] : after) {
            const PlaceId real =
                place >= arrivals_ && place < 2 * arrivals_ ? place - arrivals_ : place;
            const bool flooded = std::ranges::find(move.flood, real) != move.flood.end();
            const auto made =
                flooded ? std::numeric_limits<std::uint64_t>::max() : count_of(move.make, real);
            helps |= made != 0;
            if (made >= count) continue;
            const bool emptied =
                real == place && std::ranges::find(move.reset, place) != move.reset.end();
            if (emptied) return std::nullopt;
            before.emplace_back(place, count - made);
        }
        if (!helps) return std::nullopt;
        for (const auto& [place, count] : move.take)
            add(before, place, count);
        // A token is bound once: those that are read are others than those that are taken.
        for (const auto& [place, count] : move.read) {
            const auto needed = count + count_of(move.take, place);
            const auto has = count_of(before, place);
            if (has < needed) add(before, place, needed - has);
        }
        return before;
    }

    [[nodiscard]] bool known(const Counts& marking) const {
        return std::ranges::any_of(wanted_, [&](const Wanted& wanted) {
            return covers(marking, wanted.marking);
        });
    }

    const State& state_;
    const TransitionEntry& entry_;
    const Binding& binding_;
    std::vector<Move> running_;  // what firings in flight may make
    std::vector<const Move*> moves_;
    const PlaceId arrivals_;  // place p's arrivals are counted as place arrivals_ + p
    PlaceId next_own_ = std::numeric_limits<PlaceId>::max();  // one a running firing
    Counts here_;
    std::vector<Wanted> wanted_;
};

}  // namespace

bool may_stay_empty(
    const nets::Transition& rules, const nets::InputArc& arc, const places::Place& place
) {
    return rules.or_join && arc.kind == nets::ArcKind::consume && !arc.any_case && place.cases;
}

ArrivalNet arrival_net(const State& state, TransitionId join) {
    std::vector<std::vector<TransitionId>> makers(state.store.place_count());
    for (TransitionId id = 0; id < state.transitions.size(); ++id) {
        const auto& entry = state.transitions[id];
        if (id == join || !entry.deployment || starts_alone(entry.rules())) continue;
        const auto makes = [&](const nets::Outputs& outputs) {
            for (const auto& rule : outputs.rules) {
                auto& list = makers[entry.deployment->places[rule.place]];
                if (list.empty() || list.back() != id) list.push_back(id);
            }
        };
        makes(entry.rules().out);
        if (entry.rules().fail) makes(*entry.rules().fail);
    }
    ArrivalNet net;
    boost::unordered_flat_set<PlaceId> seen;
    boost::unordered_flat_set<TransitionId> used;
    const auto reach = [&](PlaceId place) {
        if (seen.insert(place).second) net.places.push_back(place);
    };
    const auto& own = state.transitions[join];
    for (const auto& arc : own.rules().in) {
        if (arc.kind == nets::ArcKind::consume) reach(own.deployment->places[arc.place]);
    }
    for (std::size_t next = 0; next < net.places.size(); ++next) {
        for (const auto id : makers[net.places[next]]) {
            if (!used.insert(id).second) continue;
            for (auto& move : moves_of(state, state.transitions[id])) {
                for (const auto& [place, count] : move.take)
                    reach(place);
                for (const auto& [place, count] : move.read)
                    reach(place);
                net.moves.push_back(std::move(move));
            }
        }
    }
    return net;
}

Arrival may_arrive(
    const State& state, const ArrivalNet& net, TransitionId join, const Binding& binding
) {
    return Search(state, net, join, binding).run();
}

}  // namespace engine
