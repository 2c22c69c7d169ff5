#pragma once

#include "base/json_schema.hpp"
#include "places/index.hpp"
#include "places/token.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace places {

/// A durable bag of tokens. `net` is empty for a place that all nets of the model share.
struct Place {
    std::string net;
    std::string name;
    std::optional<std::uint64_t> capacity;
    bool cases = true;  ///< false: what enters loses its case
    /// What arrives must fit it: whoever decides looks, the store does not.
    std::optional<base::Schema> schema;
    std::uint64_t count = 0;      ///< tokens in it, reserved and delayed ones too
    std::uint64_t reserved = 0;   ///< of these, held by a firing
    std::uint64_t delayed = 0;    ///< of these, not yet visible
    std::uint64_t caseless = 0;   ///< of these, without a case
    std::uint64_t room_held = 0;  ///< kept free for firings in flight
    /// The oldest that waits for room for what it has made already; 0 = none. A matter of the live
    /// run: whoever schedules says so.
    Holder awaited_by = 0;
    bool watched = false;  ///< a change is told when a token leaves, is reserved or shows

    /// For somebody new, who lets those pass that wait already.
    [[nodiscard]] bool has_room(std::uint64_t more) const {
        if (!capacity) return true;
        if (awaited_by != 0 && more != 0) return false;
        return count + room_held + more <= *capacity;
    }
};

/// What happened to a place, for whoever schedules: a token can be bound, there is room in a place
/// with a capacity, or a token left a place that is watched, was
/// reserved there or is no longer delayed.
struct Change {
    enum class Kind : std::uint8_t { bindable, room, left } kind;
    PlaceId place;
    Slot slot;  ///< of the bindable token
    base::CaseId case_id;
};

/// All tokens of a model: by id, by place in order of arrival, and by case within a place. One
/// strand; no I/O, no clock. At most 2^32 - 1 tokens.
class Store {
public:
    PlaceId add_place(Place place);
    [[nodiscard]] Place& place(PlaceId id) { return boxes_[id]->place; }
    [[nodiscard]] const Place& place(PlaceId id) const { return boxes_[id]->place; }
    [[nodiscard]] std::size_t place_count() const { return boxes_.size(); }

    Slot add(Token token);
    void remove(Slot slot);
    void reserve(Slot slot, Holder holder);
    void release(Slot slot);
    /// A reservation passes from one holder to another without becoming free in between.
    void hand_over(Slot slot, Holder holder);
    /// Room for one token of a firing in flight.
    void hold_room(PlaceId id) { ++boxes_[id]->place.room_held; }
    void release_room(PlaceId id);
    /// A delayed token becomes visible.
    void reveal(Slot slot);

    [[nodiscard]] const Token& token(Slot slot) const {
        return (*pages_[slot >> page_bits])[slot & page_mask];
    }
    [[nodiscard]] Slot find(base::TokenId id) const;
    [[nodiscard]] std::size_t size() const { return ids_.size(); }

    /// All tokens of a place in order of arrival.
    [[nodiscard]] Slot first_in(PlaceId id) const { return boxes_[id]->head; }
    [[nodiscard]] Slot next_in_place(Slot slot) const { return token(slot).place_next; }

    /// The bindable tokens of a case in a place, first in, first out.
    [[nodiscard]] Slot first_bindable(PlaceId id, base::CaseId case_id) const;
    [[nodiscard]] Slot next_bindable(Slot slot) const { return token(slot).bucket_next; }
    /// From the other end.
    [[nodiscard]] Slot last_bindable(PlaceId id, base::CaseId case_id) const;
    [[nodiscard]] Slot previous_bindable(Slot slot) const { return token(slot).bucket_previous; }
    [[nodiscard]] std::uint32_t count_bindable(PlaceId id, base::CaseId case_id) const;

    /// All tokens of a case, reserved and delayed ones too, in no particular order. Tokens without
    /// a case are in no such list.
    [[nodiscard]] Slot first_of_case(base::CaseId case_id) const;
    [[nodiscard]] Slot next_of_case(Slot slot) const { return token(slot).case_next; }

    /// An index that the store keeps up to date from now on, filled with what is there.
    Index* add_index(PlaceId id, IndexRules rules);
    void remove_index(PlaceId id, const Index* index);

    /// Changes since the caller last cleared them, when recording is on (a replay does not record).
    void record_changes(bool on) { recording_ = on; }
    [[nodiscard]] std::vector<Change>& changes() { return changes_; }

    template <class Action>
    void for_each(Action&& action) const {
        for (const auto& [id, slot] : ids_)
            action(token(slot));
    }

private:
    struct Box {
        Place place;
        Slot head = no_slot;
        Slot tail = no_slot;
        boost::unordered_flat_map<std::uint64_t, Bucket> cases;
        std::vector<std::unique_ptr<Index>> indexes;       // of bindable tokens
        std::vector<std::unique_ptr<Index>> wide_indexes;  // of reserved ones too
    };
    static constexpr unsigned page_bits = 10;
    static constexpr Slot page_mask = (1U << page_bits) - 1;
    using Page = std::array<Token, std::size_t{1} << page_bits>;

    [[nodiscard]] Token& at(Slot slot) { return (*pages_[slot >> page_bits])[slot & page_mask]; }
    Slot free_slot();
    void link(Slot slot);
    void unlink(Slot slot);
    void tell_left(Slot slot);
    void join_case(Slot slot);
    void leave_case(Slot slot);
    static bool holds(const Index& index, const Token& token);
    static bool bindable(const Token& token) { return token.holder == 0 && !token.hidden; }

    std::vector<std::unique_ptr<Box>> boxes_;
    std::vector<std::unique_ptr<Page>> pages_;  // growing never moves a token
    Slot used_ = 0;                             // slots ever used
    std::vector<Slot> free_;
    boost::unordered_flat_map<base::TokenId, Slot, std::hash<base::TokenId>> ids_;
    boost::unordered_flat_map<std::uint64_t, Slot> cases_;  // one token of each case
    std::vector<Change> changes_;
    bool recording_ = false;
};

}  // namespace places
