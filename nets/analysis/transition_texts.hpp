#pragma once

#include "base/json.hpp"
#include "nets/analysis/possible.hpp"
#include "nets/cel/node.hpp"
#include "nets/net.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nets::analysis {

/// What `where` calls the token that it judges.
inline constexpr std::string_view token_name = "token";

/// What a template writes into one field of the token that it makes.
struct Written {
    std::optional<cel::Value> constant{};
    /// Else: the value of this, and from there inwards.
    std::optional<cel::Node> expression{};
    Path below{};
    // Neither: nothing can be said.
};
/// A template as it stands in the document.
struct TemplateSource {
    const base::Json* json = nullptr;
    std::string text{};  ///< where `json` is null
};
Written written_by(const TemplateSource& source, const Path& path);

/// The expressions of a transition as trees, and its templates as they stand in the document.
struct TransitionTexts {
    std::optional<cel::Node> guard{};
    std::vector<std::optional<cel::Node>> where{};  ///< of each input arc
    std::map<const OutputRule*, cel::Node> when{};
    std::map<const OutputRule*, TemplateSource> templates{};
};
/// `document` is the transition's part of the document; the result points into both.
TransitionTexts texts_of(const Transition& transition, const base::Json& document);

}  // namespace nets::analysis
