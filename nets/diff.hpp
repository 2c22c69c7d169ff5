#pragma once

#include "base/json.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace nets {

enum class ChangeKind : std::uint8_t { added, removed, changed };

/// One difference between two versions of a net.
struct Change {
    ChangeKind kind = ChangeKind::changed;
    std::string pointer;  ///< into the newer document; of what is gone, into the older
    std::string words;    ///< "place 'inbox' is new"
    bool operator==(const Change&) const = default;
};

/// What became of a net from one document to the other, both of them good (see `compile`). Spelling
/// does not count: `"inbox"` and `{"place": "inbox"}` are the same arc, and what has its default
/// value may be left out. Places come first, then transitions, then the rest.
std::vector<Change> diff(const base::Json& before, const base::Json& after);

/// One line a change, or "no difference".
std::string in_words(const std::vector<Change>& changes);
/// `[{"kind", "pointer", "words"}]`
base::Json to_json(const std::vector<Change>& changes);

}  // namespace nets
