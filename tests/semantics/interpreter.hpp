#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "nets/net.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
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
};

struct Binding {
    std::uint64_t case_seq = 0;
    std::string key;
    std::vector<std::vector<base::TokenId>> arcs;  ///< by arc; those of inhibit and reset are empty
};

using Marking = std::vector<std::uint32_t>;

class Interpreter {
public:
    explicit Interpreter(const nets::Net& net) : net_(net) {}

    /// Tokens set aside for firings that are being prepared, with the case of each: no record says
    /// so.
    using Aside = std::map<base::TokenId, std::uint64_t>;
    void set_aside(Aside tokens) { aside_ = std::move(tokens); }
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
    std::string follow_over(const base::Json& record);
    std::string follow_ended(const base::Json& record) const;
    std::string check_made(
        const base::Json& record, const nets::Transition& rules, const Binding& binding
    );
    std::string check_reset(
        const base::Json& record, const nets::Transition& rules, const Binding& binding
    );
    std::string check_places() const;

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
    [[nodiscard]] bool full_output(const nets::Transition& rules) const;
    /// 1: a token may still come; 0: none; -1: not found out.
    [[nodiscard]] int may_arrive(nets::TransitionIndex t, const Binding& binding) const;

    const nets::Net& net_;
    std::map<base::TokenId, Token> tokens_;
    std::map<std::uint64_t, Running> running_;
    Aside aside_;
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
