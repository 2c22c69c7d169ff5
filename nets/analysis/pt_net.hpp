#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Answers about a net before it runs. Everything here works on a `PtNet`: places that hold counts
/// of tokens, no data. All of it is pure; time comes in with `Limits`.
namespace nets::analysis {

using PlaceId = std::uint32_t;       ///< into PtNet::places
using TransitionId = std::uint32_t;  ///< into PtNet::transitions
using Count = std::uint64_t;         ///< tokens

/// The most tokens that an initial marking, a weight or a capacity may name. Sums of them stay far
/// from the end of 64 bits.
inline constexpr Count count_max = 1'000'000'000;

struct PtArc {
    PlaceId place = 0;
    Count weight = 1;
    bool operator==(const PtArc&) const = default;
};

struct PtPlace {
    std::string id{};    ///< unique among the places
    std::string name{};  ///< for people; may be empty
    Count initial = 0;
    std::optional<Count> capacity{};
    bool outside = false;  ///< `initial` stands for what comes from outside the net
    /// The place of the real net of which this is a part, for tokens of one kind; empty: this one.
    std::string of{};
    bool operator==(const PtPlace&) const = default;
};

/// In each list a place stands at most once. A transition is enabled when every consumed and every
/// read place holds at least the weight (each for itself, not summed), every inhibiting place holds
/// fewer than the weight, and no place that it produces into would exceed its capacity. It fires by
/// taking, then emptying the reset places, then producing.
struct PtTransition {
    std::string id{};    ///< unique among the transitions
    std::string name{};  ///< for people; may be empty
    std::vector<PtArc> consume{};
    std::vector<PtArc> produce{};
    std::vector<PtArc> read{};
    std::vector<PtArc> inhibit{};
    std::vector<PlaceId> reset{};
    /// True when the abstraction left out something that could keep it from firing (a guard, say),
    /// so that a sequence which fires it is not certain on the real net.
    bool may_refuse = false;
    /// The transition of the real net that this is one way of; empty: this one itself.
    std::string origin{};
    /// No transition of the real net: what comes from outside is of this kind.
    bool outside = false;
    /// While one of these holds a token too, the order in which the real net takes them decides
    /// whether it may fire.
    std::vector<PlaceId> rivals{};
    /// Not empty: why it can never fire, for people.
    std::string never{};
    bool operator==(const PtTransition&) const = default;
};

/// Something of the real net that this one does not have.
struct Abstraction {
    enum class Kind : std::uint8_t { data, guard, time, priority, weight, outputs, environment };
    Kind kind = Kind::data;
    std::string element{};  ///< id of the place or transition; empty: the net
    std::string what{};     ///< for people
    /// The real net can do things that this one cannot, so that nothing is proved by trying all of
    /// them. (Otherwise it is the other way round: this one can do all that the real one can.)
    bool narrows = false;
    /// ... but only where some place can hold more tokens than this.
    std::optional<Count> exact_up_to{};
    bool operator==(const Abstraction&) const = default;
};
std::string_view name(Abstraction::Kind kind);

struct PtNet {
    std::string name{};
    std::vector<PtPlace> places{};
    std::vector<PtTransition> transitions{};
    /// Where a case begins, and where it may end. `places[*start].initial` counts without the case.
    std::optional<PlaceId> start{};
    std::vector<PlaceId> end{};
    std::vector<Abstraction> abstracted{};
    bool operator==(const PtNet&) const = default;
};

using Marking = std::vector<Count>;  ///< one count a place

/// The initial marking, with `cases` tokens put on `start` where the net has one.
Marking initial_marking(const PtNet& net, Count cases = 1);
bool enabled(const PtNet& net, const Marking& marking, TransitionId transition);
/// The marking after firing an enabled transition.
Marking fired(const PtNet& net, const Marking& marking, TransitionId transition);
void fire(const PtNet& net, Marking& marking, TransitionId transition);
/// The marking at the end of a firing sequence, or nothing when some step is not enabled.
std::optional<Marking> replayed(
    const PtNet& net, Marking marking, std::span<const TransitionId> sequence
);

/// What a person calls it: the name, or the id where it has none.
const std::string& label(const PtPlace& place);
const std::string& label(const PtTransition& transition);
/// The same for the transition of the real net that it is one way of.
const std::string& real_name(const PtTransition& transition);

/// For each transition the first one of the same origin: together they are one real transition.
std::vector<TransitionId> first_of_origin(const PtNet& net);

/// For each place the first part of the same real place: together they are one real place.
std::vector<PlaceId> first_of_place(const PtNet& net);

/// What a transition asks of one place and does to it, all arcs together.
struct Touch {
    PlaceId place = 0;
    Count need = 0;                ///< at least so many must be there
    std::optional<Count> below{};  ///< fewer than so many must be there (inhibit, capacity)
    bool reset = false;
    Count consume = 0;
    Count produce = 0;
    [[nodiscard]] std::int64_t change() const;  ///< of a firing; for a place that is not reset
    [[nodiscard]] bool changes() const { return reset || consume != produce; }
};

/// One `Touch` a place that the transition has to do with, ordered by place.
std::vector<Touch> touches(const PtNet& net, TransitionId transition);
std::vector<std::vector<Touch>> all_touches(const PtNet& net);

/// What it takes to hold each transition against all that have to do with its places.
std::uint64_t neighbours(const PtNet& net, const std::vector<std::vector<Touch>>& touches);
/// More are not put into memory.
inline constexpr std::uint64_t neighbours_max = 20'000'000;

/// True when every arc is consume or produce and no place has a capacity: what the theorems about
/// structure are about. (A read arc counts as plain: it is a consume and a produce.)
bool plain(const PtNet& net);

}  // namespace nets::analysis
