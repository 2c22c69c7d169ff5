#pragma once

#include "base/ids.hpp"
#include "base/json.hpp"
#include "nets/cel/cel.hpp"
#include "nets/faults.hpp"
#include "nets/features.hpp"
#include "nets/net.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Between the files of the compiler (nets/compile*.cpp) only.
namespace nets {

inline constexpr std::size_t places_max = 100'000;
inline constexpr std::size_t transitions_max = 100'000;
inline constexpr std::size_t document_bytes_max = std::size_t{16} << 20U;
inline constexpr std::size_t schema_bytes_max = std::size_t{256} << 10U;  ///< of one place
inline constexpr std::size_t arcs_max = 64;                               ///< of one transition
inline constexpr std::size_t rules_max = 64;  ///< of one `out` or `fail`
inline constexpr std::int64_t weight_max = 1'000'000;
inline constexpr std::int64_t capacity_max = 1'000'000'000;

/// A net while it is being compiled. Its places stand before the first transition is read.
struct Draft {
    Net net;
    Faults faults;
    std::vector<std::string_view> place_names;  ///< for hints

    void needs(Feature feature, const At& at);
};

/// Which names an expression may use where it stands. `scope` may hold more (a compiled net gives
/// all expressions of one transition the same names): those are refused with a word of why.
struct Vocabulary {
    const cel::Scope* scope = nullptr;
    std::size_t alias_count = 0;
    std::string_view where;  ///< "a guard"
    std::array<bool, fixed_name_count> known{};
    std::string passed;  ///< the alias that a rule without 'token' passes on; "" = it needs one
    const std::vector<InputArc>* arcs =
        nullptr;  ///< of the aliases; those that bind none are refused

    [[nodiscard]] Vocabulary with(FixedName name) const;
};

/// Text that is an expression, bare or as `${...}`.
std::optional<cel::Program> read_expression(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& vocabulary
);
std::optional<Template> read_template(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& vocabulary
);

/// Where no place could be read, which is a fault: the net will not come out.
inline constexpr PlaceIndex unknown_place = std::numeric_limits<PlaceIndex>::max();

/// What an arc or a rule does with a place; system places can only be read.
enum class PlaceUse : std::uint8_t { read, change };
std::optional<PlaceIndex> place_named(
    std::string_view name, const At& at, Draft& draft, PlaceUse use
);
std::optional<PlaceIndex> read_place(
    const base::Json& value, const At& at, Draft& draft, PlaceUse use
);

/// `p-...`: made and kept by the engine.
bool system_place(std::string_view name);

void compile_places(const base::Json& places, const At& at, Draft& draft);
void compile_transition(const base::Json& value, const At& at, Draft& draft, Transition& into);
/// Fills `into.in` and `scope`: the aliases, then the fixed names.
void compile_arcs(
    const base::Json& value, const At& at, Draft& draft, Transition& into, cel::Scope& scope
);
/// Reads what a transition does from the field of that name. `into.in` is known, and nothing else.
using CompileAction = void (*)(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    Transition& into
);
struct ActionEntry {
    std::string_view field;
    CompileAction compile;
    bool has_result = false;  ///< `out` sees `result`
    bool has_meta = false;
    bool starts_alone = false;  ///< needs no input arc
};
/// Null when the field is no action.
const ActionEntry* action_entry(std::string_view field);

/// `out` or `fail`.
void compile_outputs(
    const base::Json& value, const At& at, Draft& draft, const Vocabulary& vocabulary, Outputs& into
);

}  // namespace nets
