#pragma once

#include "base/json.hpp"
#include "nets/analysis/finite_field.hpp"
#include "nets/analysis/notes.hpp"
#include "nets/analysis/transition_texts.hpp"
#include "nets/net.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nets::analysis {

/// A place that is taken apart: one place for each value of one field of its tokens.
struct UnfoldedPlace {
    FiniteField field{};
    std::vector<std::string> ids{};      ///< `inbox[status="paid"]`, one a value
    std::vector<std::size_t> initial{};  ///< the value of each initial token
};

/// Which places of a net are taken apart, and what that takes.
struct Unfolding {
    std::vector<std::optional<UnfoldedPlace>> places{};  ///< of the net
    std::vector<TransitionTexts> texts{};                ///< of each transition
    std::shared_ptr<const base::Json> document{};        ///< shared: what the texts borrow from
    Notes notes{};                                       ///< what could have been, but for a limit

    [[nodiscard]] bool of(PlaceIndex place) const { return places[place].has_value(); }
    [[nodiscard]] bool any() const;
    /// Gives up the place with the most values among those that the transition has to do with.
    void fold_back(const Transition& transition);
};

/// Nothing is taken apart.
Unfolding folded(const Net& net);

/// Takes apart the places whose values conditions ask for, and those from which such values come.
/// Only where each arc of the place takes, reads or is stopped by one token, or empties the place.
Unfolding unfolding_of(const Net& net);

}  // namespace nets::analysis
