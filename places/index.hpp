#pragma once

#include "places/token.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_map.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace places {

/// A first-in-first-out list of slots.
struct Bucket {
    Slot head = no_slot;
    Slot tail = no_slot;
    std::uint32_t count = 0;
};

/// The tokens that one arc may bind, grouped by case and join key, each group first in, first out.
/// Holds only tokens that are visible and reserved by nobody.
class Index {
public:
    /// The join key of a token (empty where the arc has none), or nothing when the arc's filter
    /// does not take the token.
    using Classify = std::function<std::optional<std::string>(const Token&)>;

    Index(bool by_case, Classify classify) : by_case_(by_case), classify_(std::move(classify)) {}

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
    [[nodiscard]] std::uint32_t count(base::CaseId case_id, std::string_view key) const;
    /// The group of a token in the index, or null.
    [[nodiscard]] const Group* group(Slot slot) const;
    [[nodiscard]] bool by_case() const { return by_case_; }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }

private:
    struct GroupHash {
        std::size_t operator()(const Group& group) const noexcept {
            return std::hash<std::string>{}(group.key) ^ (group.case_seq * 0x9E3779B97F4A7C15U);
        }
    };
    struct Node {
        Slot previous = no_slot;
        Slot next = no_slot;
        const Group* group = nullptr;
        base::TokenId id;
    };

    bool by_case_;
    Classify classify_;
    // Node-based, so that a group's address stays while it has tokens.
    boost::unordered_map<Group, Bucket, GroupHash> buckets_;
    boost::unordered_flat_map<Slot, Node> nodes_;
};

}  // namespace places
