#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/json_schema.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "nets/cel/cel.hpp"
#include "nets/cron.hpp"
#include "nets/template.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

/// A net, checked and compiled: what the engine runs. Made from a document by `compile`.
namespace nets {

using PlaceIndex = std::uint32_t;       ///< into Net::places
using TransitionIndex = std::uint32_t;  ///< into Net::transitions

/// What tokens of a place must look like.
struct PlaceSchema {
    base::Schema compiled;
    std::string document;  ///< canonical JSON
};

struct Place {
    std::string name;
    bool shared = false;  ///< the model's place, not the net's
    bool cases = true;    ///< false: strips the case from what enters
    std::optional<std::uint64_t> capacity;
    std::optional<PlaceSchema> schema;
    std::vector<std::string> tokens;  ///< initial tokens, canonical JSON
};

enum class ArcKind : std::uint8_t { consume, read, inhibit, reset };

struct FixedWeight {
    std::uint64_t count = 1;
};
struct ExpressionWeight {
    cel::Program count;
};
struct RangeWeight {
    std::uint64_t min = 1;
    std::uint64_t max = 1;
};
struct AllWeight {};  ///< every token there, at least one
struct AnyWeight {};  ///< every token there, also none
using Weight = std::variant<FixedWeight, ExpressionWeight, RangeWeight, AllWeight, AnyWeight>;

enum class OrderKind : std::uint8_t { fifo, lifo, expression };

struct InputArc {
    std::string alias;
    PlaceIndex place = 0;
    ArcKind kind = ArcKind::consume;
    Weight take = FixedWeight{};        ///< of an inhibit arc: so many inhibit
    bool takes_list = false;            ///< the alias is bound to a list (any weight but a fixed 1)
    std::optional<cel::Program> where;  ///< over {token}
    std::optional<cel::Program> key;    ///< over {token}
    OrderKind order = OrderKind::fifo;
    std::optional<cel::Program> order_by;  ///< over {token}
    base::Duration age;
    bool any_case = false;

    /// Consume and read arcs bind tokens to their alias; inhibit and reset arcs bind none.
    [[nodiscard]] bool binds() const { return kind == ArcKind::consume || kind == ArcKind::read; }
};

/// One way in which tokens come out. `when` and `each` see what the template sees.
struct OutputRule {
    PlaceIndex place = 0;
    Template token;
    std::optional<cel::Program> when;
    bool otherwise = false;
    std::optional<cel::Program> each;  ///< a list; the template sees its element as `each`
    base::Duration delay;
};

struct Outputs {
    std::vector<OutputRule> rules;
    bool first_only = false;    ///< `choose: first`
    bool may_be_empty = false;  ///< no `out` at all: nothing comes out, and that is no error
};

struct Retry {
    std::uint32_t attempts = 1;
    base::Duration backoff = base::seconds(1);
    double factor = 2;
    base::Duration backoff_max = base::seconds(60);
    std::vector<base::ErrorCode> on;  ///< empty: the default of the tool's effect
};

struct Map {};
struct Call {
    std::string tool_id;
    std::optional<std::string> version;
    Template args;
};
struct Command {
    std::size_t from = 0;  ///< index into Transition::in
};
struct Every {
    base::Duration interval;
    bool once_when_missed = false;
};
struct Cron {
    std::string expression;
    std::string zone;  ///< of the IANA database; whether this machine has it shows at deployment
    CronFields fields;
    bool once_when_missed = false;
};
/// A work packet for somebody outside, who claims it and says how it ended.
struct Agent {
    std::string skill;
    std::string persona;  ///< or empty
    std::string budget;   ///< canonical JSON object, or empty
    std::optional<std::uint64_t> steps_max;
    Template input;
};
/// Another net runs as a child case.
struct ChildNet {
    std::string net;
    std::optional<std::string> version;
    Template input;
};
/// A typed relation between two places: never fires.
struct Link {
    std::string type;
    PlaceIndex from = 0;
    PlaceIndex to = 0;
};
using Action = std::variant<Map, Call, Command, Agent, ChildNet, Every, Cron, Link>;

struct Transition {
    std::string name;
    std::vector<InputArc> in;
    /// The arcs that bind tokens, in the order in which these are chosen: a weight that is an
    /// expression comes after the arcs that it speaks of.
    std::vector<std::size_t> binding_order;
    bool or_join = false;  ///< `join: or`
    std::optional<cel::Program> guard;
    Action action;
    Outputs out;
    std::optional<Outputs> fail;
    Retry retry;
    std::optional<base::Duration> timeout;
    std::optional<std::uint64_t> concurrency;
    std::int64_t priority = 0;
    bool fail_when_uncertain = false;  ///< `onUncertain: fail`

    /// Names that guard, weights, `out` and `fail` see, in this order: the aliases (the n-th arc is
    /// the n-th name), then the names of `fixed_names`. A name with no meaning at some point is
    /// null.
    [[nodiscard]] std::size_t name_count() const;
};

/// `every` and `cron`: what fires when its time has come.
inline bool is_timer(const Transition& transition) {
    return std::holds_alternative<Every>(transition.action) ||
           std::holds_alternative<Cron>(transition.action);
}

/// The names after the aliases, in this order.
enum class FixedName : std::uint8_t {
    result,
    error,
    meta,
    case_,  // NOLINT(readability-identifier-naming): `case` is a keyword
    firing,
    now,
    each
};
inline constexpr std::size_t fixed_name_count = 7;
std::string_view name(FixedName fixed);

struct Net {
    std::string name;
    std::string version;
    std::string description;
    std::vector<Place> places;
    std::vector<Transition> transitions;
    std::optional<PlaceIndex> start;
    std::vector<PlaceIndex> end;
    /// Places of the version before that went away, and where their tokens go.
    std::vector<std::pair<std::string, PlaceIndex>> migrate;
    std::string document;  ///< canonical JSON of what was given
    base::Digest digest;   ///< sha256 of `document`

    [[nodiscard]] std::optional<PlaceIndex> place(std::string_view name) const;
    [[nodiscard]] std::optional<TransitionIndex> transition(std::string_view name) const;
};

/// Checks the whole document against the grammar and compiles it. Every fault is in `details`, each
/// with its JSON pointer: unknown fields, wrong types, unknown places, expressions that do not
/// compile; what is part of the language but not of this build is `unsupported`.
base::Result<Net> compile(const base::Json& document);

}  // namespace nets
