#pragma once

#include "nets/analysis/coverability.hpp"
#include "nets/analysis/invariants.hpp"
#include "nets/analysis/limits.hpp"
#include "nets/analysis/report.hpp"
#include "nets/analysis/siphons.hpp"
#include "nets/analysis/state_space.hpp"

#include <optional>
#include <span>
#include <string>
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
    [[nodiscard]] bool decided(Property property) const;
    /// From facts about transitions to facts about real ones: 1 where it is of any of the group.
    [[nodiscard]] std::vector<std::uint8_t> any_of_group(std::vector<std::uint8_t> facts) const;
    void add(Severity severity, std::string code, std::string message, std::optional<Trace> trace);
    /// Names of places or transitions for people, at most a handful.
    [[nodiscard]] std::string names(std::span<const PlaceId> places) const;
};

/// Invariants, bounds, siphons, lint.
void check_structure(CheckRun& run);
/// Answers from all reachable markings.
void check_complete(CheckRun& run, const StateSpace& space);
/// Answers where the limits ended the exploration: structure, reduction, stubborn sets, walks.
void check_partial(CheckRun& run, const StateSpace& space);
/// What follows from the other answers, and `unknown` for the rest.
void conclude(CheckRun& run);

/// The answers about cases, for nets with a start: from all markings, or from some.
void check_soundness(CheckRun& run, const StateSpace& space);
void check_soundness_partly(CheckRun& run, const StateSpace& space);

}  // namespace nets::analysis
