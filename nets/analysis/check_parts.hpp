#pragma once

#include "nets/analysis/components.hpp"
#include "nets/analysis/coverability.hpp"
#include "nets/analysis/invariants.hpp"
#include "nets/analysis/limits.hpp"
#include "nets/analysis/report.hpp"
#include "nets/analysis/siphons.hpp"
#include "nets/analysis/state_space.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The parts of `check`, in the order in which they run; each adds what it learns to the report.
namespace nets::analysis {

struct CheckRun {
    CheckRun(const PtNet& net, const Limits& limits, const ProgressCallback& progress);

    const PtNet& net;
    Budget budget;
    Marking initial;
    Report report{};
    std::vector<std::optional<Count>> bounds{};  ///< of places, by structure
    std::vector<TransitionId> group_of{};        ///< see `first_of_origin`
    std::vector<PlaceId> place_group_of{};       ///< see `first_of_place`
    bool places_whole = true;                    ///< no place is a part of a real one
    EmptySiphon siphon{};
    std::optional<Pump> pump{};
    std::vector<std::uint8_t> fires{};  ///< for each transition: 1 = known to fire
    bool fires_exact = false;           ///< 0 then means: never

    [[nodiscard]] Trace trace(
        std::span<const TransitionId> firings, std::span<const TransitionId> repeat = {}
    ) const;
    /// States an answer once; a later one for the same property changes nothing but an `unknown`.
    void answer(
        Property property, Answer answer, std::string reason, std::optional<Trace> trace = {}
    );
    /// `one_safe` or `deadlock_free`: the sequence leads to where it does not hold. `found` says
    /// how it was found: "" or ", found by ...,".
    void refute(
        Property property, std::span<const TransitionId> firings, std::string_view found = {}
    );
    [[nodiscard]] bool decided(Property property) const;
    /// From facts about transitions to facts about real ones: 1 where it is of any of the group.
    [[nodiscard]] std::vector<std::uint8_t> any_of_group(std::vector<std::uint8_t> facts) const;
    void add(Severity severity, std::string code, std::string message, std::optional<Trace> trace);
    /// That the transitions of the group never fire; `why` unless the transition knows better.
    void add_never_fires(TransitionId group, std::string_view why);
    /// That the order in which tokens are taken may decide what a transition does.
    void note_order(TransitionId transition);
    /// Names of places; a real place of which all parts are there is one.
    [[nodiscard]] std::vector<std::string> whole_names(std::span<const PlaceId> places) const;
    /// ... for people, at most a handful.
    [[nodiscard]] std::string names(std::span<const PlaceId> places) const;
};

/// Invariants, bounds, siphons, lint.
void check_structure(CheckRun& run);
/// Of a net with places that are parts of one: what takes all parts together.
struct WholePlaces {
    Count place_max = 0;
    std::optional<StateId> beyond_one{};  ///< the first state with two tokens in a whole place
    bool complete = true;                 ///< false: the time was over before all was looked at
};
/// Also notes where the order of tokens may matter.
WholePlaces whole_places(CheckRun& run, const StateSpace& space);
/// Answers from all reachable markings.
void check_complete(CheckRun& run, const StateSpace& space);
/// Answers where the limits ended the exploration: structure, reduction, stubborn sets, walks.
void check_partial(CheckRun& run, const StateSpace& space);
/// What follows from the other answers, and `unknown` for the rest.
void conclude(CheckRun& run);

/// The answers about cases, for nets with a start: from all markings, or from some.
void check_soundness(CheckRun& run, const StateSpace& space, const Components& parts);
void check_soundness_partly(CheckRun& run, const StateSpace& space);

}  // namespace nets::analysis
