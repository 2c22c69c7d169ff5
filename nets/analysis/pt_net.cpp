#include "nets/analysis/pt_net.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <map>

namespace nets::analysis {

std::string_view name(Abstraction::Kind kind) {
    switch (kind) {
        case Abstraction::Kind::data:
            return "data";
        case Abstraction::Kind::guard:
            return "guard";
        case Abstraction::Kind::time:
            return "time";
        case Abstraction::Kind::priority:
            return "priority";
        case Abstraction::Kind::weight:
            return "weight";
        case Abstraction::Kind::outputs:
            return "outputs";
        case Abstraction::Kind::environment:
            return "environment";
    }
    base::check(false, "a kind of abstraction outside its enumeration");
    return {};
}

Marking initial_marking(const PtNet& net, Count cases) {
    Marking marking;
    marking.reserve(net.places.size());
    for (const PtPlace& place : net.places)
        marking.push_back(place.initial);
    if (net.start) marking[*net.start] += cases;
    return marking;
}

std::int64_t Touch::change() const {
    return static_cast<std::int64_t>(produce) - static_cast<std::int64_t>(consume);
}

std::vector<Touch> touches(const PtNet& net, TransitionId transition) {
    const PtTransition& it = net.transitions[transition];
    std::map<PlaceId, Touch> found;
    const auto at = [&](PlaceId place) -> Touch& {
        Touch& touch = found[place];
        touch.place = place;
        return touch;
    };
    for (const PtArc& arc : it.consume) {
        at(arc.place).consume += arc.weight;
        at(arc.place).need = std::max(at(arc.place).need, at(arc.place).consume);
    }
    for (const PtArc& arc : it.read) {
        at(arc.place).need = std::max(at(arc.place).need, arc.weight);
    }
    for (const PtArc& arc : it.produce)
        at(arc.place).produce += arc.weight;
    for (const PlaceId place : it.reset)
        at(place).reset = true;
    for (const PtArc& arc : it.inhibit) {
        std::optional<Count>& below = at(arc.place).below;
        below = std::min(below.value_or(arc.weight), arc.weight);
    }
    std::vector<Touch> result;
    for (auto& [place, touch] : found) {
        const std::optional<Count> capacity = net.places[place].capacity;
        if (capacity && touch.produce > 0) {
            const Count room = *capacity + (touch.reset ? 0 : touch.consume);
            if (touch.produce > room) {
                touch.below = 0;
            } else if (!touch.reset) {
                const Count below = room - touch.produce + 1;
                touch.below = std::min(touch.below.value_or(below), below);
            }
        }
        result.push_back(touch);
    }
    return result;
}

std::vector<std::vector<Touch>> all_touches(const PtNet& net) {
    std::vector<std::vector<Touch>> result;
    result.reserve(net.transitions.size());
    for (TransitionId t = 0; t < net.transitions.size(); ++t)
        result.push_back(touches(net, t));
    return result;
}

std::uint64_t neighbours(const PtNet& net, const std::vector<std::vector<Touch>>& touches) {
    std::vector<std::uint64_t> users(net.places.size(), 0);
    for (const std::vector<Touch>& of_transition : touches) {
        for (const Touch& touch : of_transition)
            ++users[touch.place];
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t count : users)
        sum += count * count;
    return sum;
}

bool enabled(const PtNet& net, const Marking& marking, TransitionId transition) {
    return std::ranges::all_of(touches(net, transition), [&](const Touch& touch) {
        const Count held = marking[touch.place];
        return held >= touch.need && (!touch.below || held < *touch.below);
    });
}

void fire(const PtNet& net, Marking& marking, TransitionId transition) {
    for (const Touch& touch : touches(net, transition)) {
        Count& held = marking[touch.place];
        base::check(held >= touch.consume, "only an enabled transition fires");
        held = (touch.reset ? 0 : held - touch.consume) + touch.produce;
    }
}

Marking fired(const PtNet& net, const Marking& marking, TransitionId transition) {
    Marking after = marking;
    fire(net, after, transition);
    return after;
}

std::optional<Marking> replayed(
    const PtNet& net, Marking marking, std::span<const TransitionId> sequence
) {
    for (const TransitionId transition : sequence) {
        if (!enabled(net, marking, transition)) return std::nullopt;
        fire(net, marking, transition);
    }
    return marking;
}

const std::string& label(const PtPlace& place) {
    return place.name.empty() ? place.id : place.name;
}

const std::string& label(const PtTransition& transition) {
    return transition.name.empty() ? transition.id : transition.name;
}

std::vector<TransitionId> first_of_origin(const PtNet& net) {
    std::map<std::string, TransitionId> first;
    std::vector<TransitionId> result;
    for (TransitionId t = 0; t < net.transitions.size(); ++t) {
        const std::string& origin = net.transitions[t].origin;
        result.push_back(origin.empty() ? t : first.try_emplace(origin, t).first->second);
    }
    return result;
}

std::vector<PlaceId> first_of_place(const PtNet& net) {
    std::map<std::string, PlaceId> first;
    std::vector<PlaceId> result;
    for (PlaceId p = 0; p < net.places.size(); ++p) {
        const std::string& of = net.places[p].of;
        result.push_back(of.empty() ? p : first.try_emplace(of, p).first->second);
    }
    return result;
}

const std::string& real_name(const PtTransition& transition) {
    return transition.origin.empty() ? label(transition) : transition.origin;
}

bool plain(const PtNet& net) {
    return std::ranges::none_of(
               net.places, [](const PtPlace& place) { return place.capacity.has_value(); }
           ) &&
           std::ranges::all_of(net.transitions, [](const PtTransition& transition) {
               return transition.inhibit.empty() && transition.reset.empty();
           });
}

}  // namespace nets::analysis
