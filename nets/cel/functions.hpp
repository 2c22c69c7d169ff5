#pragma once

#include "base/result.hpp"
#include "nets/cel/cel.hpp"
#include "nets/cel/value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nets::cel {

/// A set of kinds.
using Kinds = std::uint16_t;

template <class... K>
constexpr Kinds kinds(K... each) {
    return static_cast<Kinds>(((1U << static_cast<unsigned>(each)) | ...));
}
constexpr bool holds(Kinds set, Kind kind) {
    return (set & (1U << static_cast<unsigned>(kind))) != 0;
}
inline constexpr Kinds any_kind = (1U << 13U) - 1;
inline constexpr Kinds number_kinds = kinds(Kind::integer, Kind::uinteger, Kind::real);

using Arguments = std::span<const Value>;

/// One overload of a function. Its code may rely on the kinds of the parameters.
struct Function {
    std::string_view name;
    bool member = false;  ///< called as a.name(b, ...); a is the first parameter
    std::vector<Kinds> parameters;
    std::optional<Kind> result;  ///< nothing: depends
    base::Result<Value> (*call)(Arguments arguments, Budget& budget) = nullptr;
    bool variadic = false;  ///< the last parameter may come again and again
};

/// All overloads of the name, next to each other; empty when there are none.
std::span<const Function> overloads(std::string_view name, bool member);
bool takes(const Function& function, std::size_t arguments);

// Each file of functions adds its own.
void add_core_functions(std::vector<Function>& all);
void add_conversions(std::vector<Function>& all);
void add_string_functions(std::vector<Function>& all);
void add_string_extensions(std::vector<Function>& all);
void add_time_functions(std::vector<Function>& all);
void add_math_functions(std::vector<Function>& all);
void add_optional_functions(std::vector<Function>& all);
void add_json_functions(std::vector<Function>& all);

inline constexpr std::uint64_t text_bytes_per_step = 16;

/// False when the budget does not hold so many steps; it is then empty.
inline bool spend(Budget& budget, std::uint64_t steps) {
    if (budget.steps < steps) {
        budget.steps = 0;
        return false;
    }
    budget.steps -= steps;
    return true;
}
inline bool spend_text(Budget& budget, std::size_t bytes) {
    return spend(budget, bytes / text_bytes_per_step);
}
/// What to return when `spend` said no.
std::unexpected<base::Error> out_of_steps();
/// An evaluation error.
std::unexpected<base::Error> wrong(std::string message);

}  // namespace nets::cel
