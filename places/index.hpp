#pragma once

#include "places/token.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_map.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace places {

/// A first-in-first-out list of slots.
struct Bucket {
    Slot head = no_slot;
    Slot tail = no_slot;
    std::uint32_t count = 0;
};

/// Which tokens of a place an index holds.
enum class Held : std::uint8_t {
    bindable,  ///< visible, and reserved by nobody
    visible    ///< also those reserved
};

/// What an index is for.
struct IndexRules {
    /// The join key of a token (empty where the arc has none), or nothing when the arc's filter
    /// does not take the token.
    using Classify = std::function<std::optional<std::string>(const Token&)>;

    bool by_case = true;
    Held held = Held::bindable;
    Classify classify;
    /// Bytes by which a group is sorted, lowest first and equals by age, or nothing when the token
    /// has no rank and is left out. Null: by age alone.
    Classify rank;
};

/// The tokens that one arc looks at, grouped by case and join key, each group first in, first out
/// or by rank.
class Index {
public:
    explicit Index(IndexRules rules) : rules_(std::move(rules)) {}

    struct Group {
        std::uint64_t case_seq = 0;
        std::string key;
        bool operator==(const Group&) const = default;
    };

    /// Puts the token where its id says (older first). Returns its group, or null when filtered
    /// out.
    const Group* link(Slot slot, const Token& token);
    void unlink(Slot slot);

    [[nodiscard]] Slot first(base::CaseId case_id, std::string_view key) const;
    [[nodiscard]] Slot next(Slot slot) const;
    /// From the other end; only without ranks.
    [[nodiscard]] Slot last(base::CaseId case_id, std::string_view key) const;
    [[nodiscard]] Slot previous(Slot slot) const;
    /// The rank of a token in the index; empty without ranks.
    [[nodiscard]] std::string_view rank(Slot slot) const;
    [[nodiscard]] std::uint32_t count(base::CaseId case_id, std::string_view key) const;
    /// The group of a token in the index, or null.
    [[nodiscard]] const Group* group(Slot slot) const;
    [[nodiscard]] Held held() const { return rules_.held; }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }

private:
    struct GroupHash {
        std::size_t operator()(const Group& group) const noexcept {
            return std::hash<std::string>{}(group.key) ^ (group.case_seq * 0x9E3779B97F4A7C15U);
        }
    };
    using Ranks = std::map<std::pair<std::string, base::TokenId>, Slot>;
    struct Node {
        Slot previous = no_slot;
        Slot next = no_slot;
        const Group* group = nullptr;
        base::TokenId id;
        Ranks::const_iterator rank;  // only with ranks
    };
    void place_by_age(Bucket& bucket, Node& node);
    void place_by_rank(Bucket& bucket, Node& node, Slot slot, std::string rank);

    IndexRules rules_;
    // Node-based, so that a group's address stays while it has tokens.
    boost::unordered_map<Group, Bucket, GroupHash> buckets_;
    boost::unordered_map<Group, Ranks, GroupHash> ranks_;
    boost::unordered_flat_map<Slot, Node> nodes_;
};

}  // namespace places
