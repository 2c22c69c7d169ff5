#pragma once

#include "base/result.hpp"
#include "nets/analysis/pt_net.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// ISO 15909-2, place/transition nets.
namespace nets::pnml {

/// Where a node is drawn, as the file says it: decimal numbers, kept as text.
struct Position {
    std::string x;
    std::string y;
    bool operator==(const Position&) const = default;
};

struct Document {
    analysis::PtNet net;
    std::vector<std::optional<Position>> place_positions;       ///< one a place
    std::vector<std::optional<Position>> transition_positions;  ///< one a transition
    bool operator==(const Document&) const = default;
};

struct ReadLimits {
    std::size_t bytes_max = std::size_t{32} << 20U;
    std::size_t depth_max = 64;       ///< of XML elements
    std::size_t nodes_max = 200'000;  ///< places, transitions and references
    std::size_t arcs_max = 2'000'000;
};

/// One net of type ptnet, or of type pnmlcoremodel (as ProM and pm4py write P/T nets). Pages are
/// joined, reference nodes replaced by what they refer to, several arcs between the same two nodes
/// by their sum; graphics other than positions, tool-specific parts and final markings are passed
/// over. Every fault is in `details`, with `line N` as its place. Refused: a document type (and
/// with it entities), more bytes, levels or nodes than `limits`, encodings that `utf8_text` does
/// not read, every element, attribute or text that is not of P/T nets (see shape.hpp), ids that are
/// not unique, counts beyond `analysis::count_max`.
base::Result<Document> read(std::string_view xml, const ReadLimits& limits = {});

/// The same net on one page; `read` of it is the document that was given. A read arc becomes a pair
/// of arcs. `unsupported` for what PNML has no word for: inhibit and reset arcs, capacities.
base::Result<std::string> write(const Document& document);

}  // namespace nets::pnml
