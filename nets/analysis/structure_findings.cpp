#include "nets/analysis/check.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace nets::analysis {
namespace {

struct Use {
    bool fed = false;   ///< some transition adds to it
    bool read = false;  ///< some transition needs it, is kept back by it or empties it
};

std::vector<Use> uses_of(const PtNet& net) {
    std::vector<Use> uses(net.places.size());
    for (const PtTransition& transition : net.transitions) {
        for (const PtArc& arc : transition.produce)
            uses[arc.place].fed = true;
        for (const auto* arcs : {&transition.consume, &transition.read, &transition.inhibit}) {
            for (const PtArc& arc : *arcs)
                uses[arc.place].read = true;
        }
        for (const PlaceId place : transition.reset)
            uses[place].read = true;
    }
    return uses;
}

void look_at_place(
    const PtNet& net, PlaceId p, const Use& use, Count initial, std::vector<Finding>& findings
) {
    const PtPlace& place = net.places[p];
    const bool is_end = std::ranges::find(net.end, p) != net.end.end();
    if (place.capacity && initial > *place.capacity) {
        findings.push_back(
            {Severity::error,
             "capacity_exceeded",
             place.id,
             fmt::format(
                 "place '{}' begins with {} tokens, but has room for {}",
                 label(place),
                 initial,
                 *place.capacity
             )}
        );
    }
    if (!use.fed && !use.read) {
        if (!is_end && net.start != p) {
            findings.push_back(
                {Severity::warning,
                 "unconnected",
                 place.id,
                 fmt::format("place '{}' is connected to no transition", label(place))}
            );
        }
    } else if (!use.fed && initial == 0) {
        findings.push_back(
            {Severity::warning,
             "never_fed",
             place.id,
             fmt::format(
                 "place '{}' holds no token and no transition puts one there: tokens must come "
                 "from outside the net",
                 label(place)
             )}
        );
    } else if (!use.read && !is_end) {
        findings.push_back(
            {net.end.empty() ? Severity::note : Severity::warning,
             "never_read",
             place.id,
             fmt::format(
                 "no transition takes a token out of place '{}'{}: tokens stay there",
                 label(place),
                 net.end.empty() ? "" : ", and it is not an end"
             )}
        );
    }
    if (is_end && !use.fed && initial == 0) {
        findings.push_back(
            {Severity::warning,
             "end_never_fed",
             place.id,
             fmt::format("no transition puts a token into the end '{}'", label(place))}
        );
    }
}

void look_at_transition(const PtNet& net, TransitionId t, std::vector<Finding>& findings) {
    const PtTransition& transition = net.transitions[t];
    for (const Touch& touch : touches(net, t)) {
        const PtPlace& place = net.places[touch.place];
        if (touch.below && *touch.below <= touch.need) {
            findings.push_back(
                {Severity::error,
                 "contradiction",
                 transition.id,
                 fmt::format(
                     "transition '{}' can never fire: it needs {} tokens in place '{}', but fires "
                     "only when fewer than {} are there{}",
                     label(transition),
                     touch.need,
                     label(place),
                     *touch.below,
                     place.capacity ? fmt::format(" (capacity {})", *place.capacity) : ""
                 )}
            );
        }
    }
    if (transition.consume.empty() && transition.read.empty()) {
        findings.push_back(
            {Severity::note,
             "no_input",
             transition.id,
             fmt::format(
                 "transition '{}' takes no token: nothing in the net limits how often it fires",
                 label(transition)
             )}
        );
    }
}

}  // namespace

std::vector<Finding> structure_findings(const PtNet& net, const Marking& initial) {
    std::vector<Finding> findings;
    const std::vector<Use> uses = uses_of(net);
    for (PlaceId p = 0; p < net.places.size(); ++p) {
        look_at_place(net, p, uses[p], initial[p], findings);
    }
    for (TransitionId t = 0; t < net.transitions.size(); ++t)
        look_at_transition(net, t, findings);
    return findings;
}

}  // namespace nets::analysis
