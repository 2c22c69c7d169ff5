#include "nets/analysis/abstract.hpp"

#include "nets/analysis/abstract_transition.hpp"
#include "nets/analysis/surroundings.hpp"
#include "nets/analysis/unfolding.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nets::analysis {
namespace {

constexpr std::size_t kept_apart_max = 20'000;  ///< transitions made by telling values apart
constexpr std::size_t rounds_max = 16;          ///< of giving places up

class Abstracter {
public:
    Abstracter(const Net& net, const Unfolding& unfolding) : net_(net), unfolding_(unfolding) {
        made_.notes = unfolding.notes;
    }

    struct TooMany {
        std::vector<const Transition*> of{};  ///< transitions that would become too many
        bool in_all = false;                  ///< ... as they all do together
    };
    /// Where telling values apart goes too far.
    TooMany run() {
        made_.net.name = net_.name;
        add_places();
        TooMany too_many;
        std::size_t told_apart = 0;
        for (TransitionIndex t = 0; t < net_.transitions.size(); ++t) {
            const Transition& transition = net_.transitions[t];
            if (std::holds_alternative<Link>(transition.action)) continue;
            const Widened done = add_transition(net_, t, unfolding_, made_);
            told_apart += done.made;
            if (done.too_wide) too_many.of.push_back(&transition);
            too_many.in_all = told_apart > kept_apart_max;
            if (too_many.in_all) break;
        }
        return too_many;
    }

    PtNet finished() && {
        add_surroundings(net_, unfolding_, made_);
        made_.net.abstracted = made_.notes.take();
        return std::move(made_.net);
    }

private:
    void add_places() {
        made_.places.resize(net_.places.size());
        for (PlaceIndex p = 0; p < net_.places.size(); ++p) {
            const Place& place = net_.places[p];
            AbstractPlace& made = made_.places[p];
            if (place.shared) {
                made_.notes.add(
                    {.kind = Abstraction::Kind::environment,
                     .element = place.name,
                     .what = "is shared with other nets: it may hold anything at any time"}
                );
            } else if (unfolding_.of(p)) {
                add_values(p, *unfolding_.places[p]);
            } else {
                made.whole = add_place(
                    {.id = place.name, .initial = place.tokens.size(), .capacity = place.capacity}
                );
            }
        }
    }

    void add_values(PlaceIndex p, const UnfoldedPlace& unfolded) {
        const std::string& name = net_.places[p].name;
        if (net_.start == p) made_.places[p].whole = add_place({.id = name, .of = name});
        for (std::size_t value = 0; value < unfolded.ids.size(); ++value) {
            const auto initial = std::ranges::count(unfolded.initial, value);
            made_.places[p].values.push_back(add_place(
                {.id = unfolded.ids[value], .initial = static_cast<Count>(initial), .of = name}
            ));
        }
    }

    PlaceId add_place(PtPlace place) {
        made_.net.places.push_back(std::move(place));
        return static_cast<PlaceId>(made_.net.places.size() - 1);
    }

    const Net& net_;
    const Unfolding& unfolding_;
    AbstractNet made_;
};

void give_up(const Abstracter::TooMany& too_many, bool all, Unfolding& unfolding) {
    for (const Transition* const transition : too_many.of) {
        unfolding.notes.add(
            {.kind = Abstraction::Kind::data,
             .element = transition->name,
             .what = "has to do with more combinations of values than are told apart"}
        );
        unfolding.fold_back(*transition);
    }
    if (too_many.in_all) {
        unfolding.notes.add(
            {.kind = Abstraction::Kind::data,
             .what = fmt::format(
                 "values in tokens are not told apart: it would take more than {} transitions",
                 kept_apart_max
             )}
        );
    }
    if (!all && !too_many.in_all) return;
    for (auto& place : unfolding.places)
        place.reset();
}

}  // namespace

PtNet abstracted(const Net& net, Values values) {
    Unfolding unfolding = values == Values::told_apart ? unfolding_of(net) : folded(net);
    for (std::size_t round = 0;; ++round) {
        Abstracter abstracter(net, unfolding);
        const auto too_many = abstracter.run();
        if (too_many.of.empty() && !too_many.in_all) return std::move(abstracter).finished();
        give_up(too_many, round + 1 >= rounds_max, unfolding);
    }
}

}  // namespace nets::analysis
