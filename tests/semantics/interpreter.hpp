#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "nets/net.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A second, slow and obvious reading of docs/semantics.md: follows the records of a model with one
/// net and says what in them the clauses do not allow. Shares no code with the engine, save the
/// compiled net and its expressions.
namespace semantics {

struct Token {
    base::TokenId id;
    nets::PlaceIndex place = 0;
    std::uint64_t case_seq = 0;
    base::Json data;
    base::Timestamp visible;  ///< from when it is there to be bound
    std::uint64_t holder = 0;
};

struct Running {
    nets::TransitionIndex transition = 0;
    std::uint64_t case_seq = 0;
    std::string key;
    std::vector<std::vector<base::TokenId>> arcs;
    bool returned = false;  ///< S5: it waits for room, with an answer
    bool failed = false;    ///< that is an error
};

struct Binding {
    std::uint64_t case_seq = 0;
    std::string key;
    std::vector<std::vector<base::TokenId>> arcs;  ///< by arc; those of inhibit and reset are empty
    std::uint64_t looking = 0;  ///< the case that took part with it; 0: of the first token
};

using Marking = std::vector<std::uint32_t>;

class Interpreter {
public:
    explicit Interpreter(const nets::Net& net) : net_(net) {}

    /// Tokens set aside for firings that are being prepared, with the case of each: no record says
    /// so. These firings keep room, too.
    using Aside = std::map<base::TokenId, std::uint64_t>;
    void set_aside(Aside tokens, std::vector<Running> firings) {
        aside_ = std::move(tokens);
        preparing_ = std::move(firings);
    }
    /// Follows one record. "" or what is wrong with it.
    std::string follow(const base::Json& record);
    /// "" or the transition that is enabled at that time although the engine rests.
    std::string at_rest(base::Timestamp now) const;

    [[nodiscard]] const std::map<base::TokenId, Token>& tokens() const { return tokens_; }

private:
    using Visit = std::function<bool(const Binding&)>;  // true: enough

    void produce(const base::Json& record);
    std::string take(const base::Json& record, const char* field, std::uint64_t holder);
    std::string follow_fired(const base::Json& record);
    std::string follow_invoking(const base::Json& record);
    std::string follow_returned(const base::Json& record);
    std::string follow_over(const base::Json& record);
    std::string follow_ended(const base::Json& record) const;
    std::string check_made(
        const base::Json& record, const nets::Transition& rules, const Binding& binding
    );
    std::string check_reset(
        const base::Json& record, const nets::Transition& rules, const Binding& binding
    );
    std::string check_places() const;
    std::string check_passes_none(nets::TransitionIndex t, const Binding& binding) const;

    std::optional<base::Json> made(
        const nets::Transition& rules,
        const nets::Outputs& outputs,
        const std::vector<nets::cel::Value>& names,
        base::Timestamp at
    ) const;
    [[nodiscard]] static bool foretold(const nets::Transition& rules);
    [[nodiscard]] std::set<base::TokenId> resets(
        const nets::Transition& rules, const Binding& binding
    ) const;

    // room.cpp: S5
    using Counts = std::map<nets::PlaceIndex, std::uint64_t>;
    [[nodiscard]] Counts counts(const base::Json& made) const;
    /// What a firing in flight makes when it ends.
    [[nodiscard]] Counts made_at_end(const Running& running) const;
    /// Of the places with a capacity: what the firing takes or resets there.
    [[nodiscard]] Counts given_up(
        const nets::Transition& rules, const Binding& binding, bool failed
    ) const;
    /// The room that firings in flight keep, save one.
    [[nodiscard]] Counts kept_room(std::uint64_t save) const;
    /// The most that `out` may make, beyond what the firing takes.
    [[nodiscard]] Counts most_made(
        const nets::Transition& rules, const std::vector<std::vector<base::TokenId>>& arcs
    ) const;
    /// Places without room for these, physically.
    [[nodiscard]] std::set<nets::PlaceIndex> lacking(
        const Counts& made, const Counts& given, std::uint64_t save
    ) const;
    /// A firing that would begin now finds no room, or may have to let somebody pass.
    [[nodiscard]] bool wants_room(nets::TransitionIndex t, const Binding& binding) const;
    /// A firing in flight has to wait with its answer.
    [[nodiscard]] bool waits(std::uint64_t operation) const;

    /// All bindings of the transition that S2 to S14 allow, and of those without a guard the first.
    bool each_binding(nets::TransitionIndex t, base::Timestamp now, const Visit& visit) const;
    bool choose(
        nets::TransitionIndex t,
        std::size_t step,
        Binding& binding,
        base::Timestamp now,
        const Visit& visit
    ) const;
    bool accept(nets::TransitionIndex t, Binding binding, const Visit& visit) const;
    [[nodiscard]] std::vector<base::TokenId> queue(
        const nets::InputArc& arc, const Binding& binding, base::Timestamp now
    ) const;
    [[nodiscard]] bool takes_part(
        const nets::Transition& rules, std::uint64_t case_seq, const std::string& key
    ) const;
    [[nodiscard]] bool may_stay_empty(const nets::Transition& rules, const nets::InputArc& arc)
        const;
    [[nodiscard]] bool inhibited(const nets::Transition& rules, const Binding& binding) const;
    [[nodiscard]] std::vector<nets::cel::Value> values(
        const nets::Transition& rules, const Binding& binding
    ) const;
    [[nodiscard]] std::set<std::string> keys(const nets::Transition& rules) const;
    /// 1: a token may still come; 0: none; -1: not found out.
    [[nodiscard]] int may_arrive(nets::TransitionIndex t, const Binding& binding) const;

    const nets::Net& net_;
    std::map<base::TokenId, Token> tokens_;
    std::map<std::uint64_t, Running> running_;
    Aside aside_;
    std::vector<Running> preparing_;
    base::Timestamp now_;
    bool rested_ = false;  ///< all was looked at: a token that is too young makes no case take part
};

/// An expression over one token; null when it fails.
base::Json over_token(const nets::cel::Program& program, const base::Json& token);
std::string key_of(const nets::InputArc& arc, const base::Json& data);
/// S11
bool matches(const nets::InputArc& arc, const base::Json& data, const std::string& key);
/// All that arcs of the kind bind, in the order of the arcs.
std::vector<base::TokenId> bound(
    const nets::Transition& rules, const Binding& binding, nets::ArcKind kind
);

/// The forward search behind S22: may a token come to an arc of the join that takes more?
struct ArrivalQuestion {
    const nets::Net& net;
    nets::TransitionIndex join;
    Marking marking;  ///< of the case, by place
    std::vector<nets::TransitionIndex> running;
    std::vector<nets::PlaceIndex> late;  ///< where delayed tokens will be
    Marking held;                        ///< what the served arcs need to stay
    std::set<nets::PlaceIndex> wanted;
};
int may_arrive(const ArrivalQuestion& question);

}  // namespace semantics
