#pragma once

#include "base/json.hpp"
#include "nets/analysis/invariants.hpp"
#include "nets/analysis/limits.hpp"
#include "nets/analysis/pt_net.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nets::analysis {

enum class Property : std::uint8_t {
    bounded,             ///< no place grows without end
    one_safe,            ///< no place ever holds two tokens
    deadlock_free,       ///< something can always fire
    quasi_live,          ///< each transition can fire at least once
    live,                ///< each transition can always fire again
    option_to_complete,  ///< from wherever a case is, it can still be completed
    proper_completion,   ///< when a case has reached an end, nothing of it is left elsewhere
    sound,               ///< the two above, and quasi_live
};
std::string_view name(Property property);

enum class Answer : std::uint8_t { proved, refuted, unknown };
std::string_view name(Answer answer);

/// A firing sequence, by the ids of its transitions, and where it leads.
struct Trace {
    std::vector<std::string> firings{};
    std::vector<std::string> repeat{};                     ///< can then be fired again and again
    std::vector<std::pair<std::string, Count>> marking{};  ///< reached: places that hold tokens
    /// The real net can do this too: nothing that was abstracted away could keep it from it.
    bool certain = true;
};

struct Verdict {
    Property property = Property::bounded;
    Answer answer = Answer::unknown;
    std::string reason;  ///< how it is known, or why it is not
    std::optional<Trace> trace{};
};

enum class Severity : std::uint8_t { error, warning, note };
std::string_view name(Severity severity);

struct Finding {
    Severity severity = Severity::note;
    std::string code;
    std::string element;  ///< id of the place or transition; empty: the net
    std::string message;
    std::optional<Trace> trace{};
    std::optional<std::string> pointer{};  ///< RFC 6901, for findings about a net document
};

struct NamedInvariant {
    std::vector<std::pair<std::string, std::int64_t>> terms;
    Count value = 0;
};

/// What is known about a net. A value that is absent is not known.
struct Report {
    std::string net;
    std::size_t places = 0;
    std::size_t transitions = 0;
    std::optional<std::uint64_t> states;
    std::optional<std::uint64_t> edges;  ///< firings of the full graph
    std::optional<Count> max_token_in_place;
    std::optional<Count> max_token_per_marking;
    std::optional<bool> has_deadlock;
    std::optional<bool> one_safe;
    std::optional<bool> live;
    std::optional<bool> quasi_live;
    std::optional<bool> bounded;
    std::optional<LimitHit> stopped;  ///< the full graph was not finished
    std::uint64_t states_seen = 0;    ///< of the full graph
    std::vector<Verdict> verdicts;
    std::vector<Finding> findings;
    std::vector<NamedInvariant> place_invariants;
    std::vector<NamedInvariant> transition_invariants;
    bool invariants_complete = true;
    std::vector<Abstraction> abstracted;

    [[nodiscard]] const Verdict* verdict(Property property) const;
    [[nodiscard]] bool has_errors() const;
};

base::Json to_json(const Report& report);

}  // namespace nets::analysis
