#pragma once

#include "engine/state.hpp"
#include "nets/cel/cel.hpp"

#include <optional>
#include <string>
#include <vector>

namespace engine {

/// One side of an equality that a guard demands of the tokens of two arcs, as `order.id ==
/// payment.order`: where `partner` has its token, only those tokens of `arc` are worth a look whose
/// side is equal. The guard is judged all the same.
struct GuardJoin {
    std::size_t arc = 0;
    std::size_t partner = 0;
    nets::cel::Program own;          ///< over the alias of `arc`
    nets::cel::Program other;        ///< over the alias of `partner`
    places::Index* index = nullptr;  ///< of `arc`: the key of its source, then the value of `own`
};

/// Both sides of every equality of the guard that stands between two single tokens. None for an
/// or-join, which may go without a token.
std::vector<GuardJoin> guard_joins(const nets::Transition& rules);

/// What tokens with an equal side share; nothing when the side cannot be evaluated.
std::optional<std::string> side_of(
    const nets::Transition& rules,
    std::size_t arc,
    const nets::cel::Program& side,
    const places::Token& token
);

/// The key of a group in `GuardJoin::index`.
std::string joined_key(std::string_view source_key, std::string_view side);

}  // namespace engine
