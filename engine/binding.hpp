#pragma once

#include "base/clock.hpp"
#include "engine/guard_joins.hpp"
#include "engine/or_join.hpp"
#include "engine/state.hpp"
#include "nets/cel/cel.hpp"

#include <boost/container/small_vector.hpp>
#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What an arc looks into: the place's own queue by case, or an index where the arc has a filter, a
/// join key or disregards cases.
struct ArcSource {
    places::PlaceId place = 0;
    places::Index* index = nullptr;  ///< the store's; null = the place's own queue
    bool keyed = false;
    bool any_case = false;
};

/// The tokens chosen for one firing: by arc, in order.
struct Binding {
    using Tokens = boost::container::small_vector<places::Slot, 1>;
    base::CaseId case_id;
    boost::container::small_vector<Tokens, 3> arcs;
    /// By arc, of inhibit arcs: from so many tokens on it inhibits. Empty without such arcs.
    std::vector<std::uint64_t> inhibited_at;
};

/// Which tokens are looked for: those of one case (and those without one), with one join key.
struct Candidate {
    std::uint64_t case_seq = 0;
    std::string key;
    bool operator==(const Candidate&) const = default;
};

/// What the expressions of a transition see. Tokens are parsed only when an expression asks for
/// them. Lives for one decision; borrows the state.
class Scope {
public:
    Scope(const State& state, const nets::Transition& rules);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    void bind(const Binding& binding, base::CaseId case_id);
    /// An arc's value given as canonical JSON (an operation's read arc).
    void bind_text(std::size_t arc, std::string_view json);
    void set(nets::FixedName name, nets::cel::Value value);
    /// Canonical JSON becomes the value of the name; the text is copied. `tamper` when it cannot be
    /// read.
    base::Result<void> set_json(nets::FixedName name, std::string_view json);

    /// The values for a program or template that uses the names that `uses(i)` says.
    template <class Uses>
    std::span<const nets::cel::Value> values(const Uses& uses) {
        for (std::size_t i = 0; i < rules_.in.size(); ++i) {
            if (uses.uses(i)) load(i);
        }
        return values_;
    }
    /// The only token of the arc, when it is bound to one token and not to a list.
    [[nodiscard]] const places::Payload* payload(std::size_t arc) const;
    [[nodiscard]] std::size_t arcs() const { return rules_.in.size(); }
    /// Why a value that an expression asked for could not be read from what is stored. It was null
    /// for the expressions: nothing they came to counts.
    [[nodiscard]] const std::optional<base::Error>& unreadable() const { return unreadable_; }

    [[nodiscard]] const State& state() const { return state_; }

    nets::cel::Budget budget;

private:
    // What an arc's value was made of, and what it borrows.
    struct Loaded {
        bool done = false;
        bool given = false;  // as text, not from tokens
        Binding::Tokens tokens;
        std::vector<std::unique_ptr<base::Json>> kept;
    };
    void load(std::size_t arc);
    nets::cel::Value stored(std::vector<std::unique_ptr<base::Json>>& kept, std::string_view json);

    const State& state_;
    const nets::Transition& rules_;
    const Binding* binding_ = nullptr;
    base::CaseId case_id_;
    std::vector<nets::cel::Value> values_;
    std::vector<Loaded> loaded_;
    std::vector<std::unique_ptr<base::Json>> kept_;
    std::optional<base::Error> unreadable_;
};

/// Why a candidate cannot fire now.
struct Unbound {
    enum class Reason : std::uint8_t {
        arc,        ///< too few tokens on `arc`
        guard,      ///< it holds for none of the combinations
        inhibited,  ///< by `has` tokens on `arc`, of which `needs` inhibit
        arriving,   ///< an or-join: a token may still come to `place`
        undecided,  ///< an or-join: whether one may come to `place` was not found within the limit
        searching,  ///< combinations are left to be tried
    };
    Reason reason = Reason::arc;
    std::size_t arc = 0;
    std::uint64_t has = 0;
    std::uint64_t needs = 0;
    base::Timestamp ripe{};  ///< of the first token that is too young; 0 = none is
    places::PlaceId place = 0;
    std::string error;  ///< of the first combination for which the guard could not be evaluated
};

/// A token that must be part of the binding.
struct Fixed {
    std::size_t arc;
    places::Slot slot;
};

/// True when whether a token does on one arc depends on what was chosen for another, or on more
/// than what arrives: then a search that is to go on starts over when something changed.
bool searched(const nets::Transition& rules);

/// Combinations tried in one go, before others have their turn; what an expression spends counts,
/// too.
inline constexpr std::size_t combinations_max = 1'000;
/// Where the answer cannot wait: a timer's turn, a dry run.
inline constexpr std::size_t combinations_at_once_max = 100'000;

/// Where a search stands, so that it can go on from there.
struct SearchProgress {
    base::TokenId fixed;  ///< the token that must be part of the binding
    /// By step of the binding order, as far as it was chosen: the tokens to be tried next.
    std::vector<std::vector<base::TokenId>> at;
    std::size_t tried = 0;  ///< in the last call
};

/// The first binding, in the order of the arcs, for which the guard holds and nothing inhibits.
struct BindRequest {
    const State& state;
    TransitionId transition;
    const nets::Transition& rules;
    const std::vector<ArcSource>& sources;
    const Candidate& candidate;
    std::optional<Fixed> fixed;  ///< only without a search
    base::Timestamp now;
    bool search = false;                   ///< `searched(rules)`
    const ArrivalNet* arrivals = nullptr;  ///< of an or-join
    std::span<const GuardJoin> joins;
    std::size_t combinations = combinations_max;  ///< at most so many: then it is `searching`
    /// Goes on from there, and says where it stands: at the binding found, or at what is to be
    /// tried next.
    SearchProgress* progress = nullptr;
};
std::expected<Binding, Unbound> bind(const BindRequest& request);

/// How many tokens an inhibit arc sees: those of the case and those without one, reserved or not.
std::uint64_t inhibitors(const ArcSource& source, base::CaseId case_id, std::string_view key);

/// When a token will have been in its place for so long.
inline base::Timestamp ripe_at(const places::Token& token, base::Duration age) {
    return std::max(token.at, token.visible_at) + age;
}

/// The join key of a token on an arc ("" without one), or nothing when the arc's filter refuses it
/// or an expression fails.
std::optional<std::string> classify(const nets::InputArc& arc, const places::Token& token);
/// Why `where` or `key` of the arc cannot be evaluated for the token; nothing when they can.
std::optional<std::string> classify_error(const nets::InputArc& arc, const places::Token& token);
/// Bytes that sort as the values of the arc's `order` do, or nothing when the token has none: the
/// expression fails, or gives neither a number, a text, a bool, a timestamp nor a duration.
std::optional<std::string> rank(const nets::InputArc& arc, const places::Token& token);

}  // namespace engine
