#include "places/store.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <utility>

namespace places {

PlaceId Store::add_place(Place place) {
    boxes_.push_back(std::make_unique<Box>());
    boxes_.back()->place = std::move(place);
    return static_cast<PlaceId>(boxes_.size() - 1);
}

Slot Store::free_slot() {
    if (!free_.empty()) {
        const Slot slot = free_.back();
        free_.pop_back();
        return slot;
    }
    base::check(used_ < no_slot, "a model holds at most 2^32 - 1 tokens");
    if ((used_ >> page_bits) == pages_.size()) pages_.push_back(std::make_unique<Page>());
    return used_++;
}

Slot Store::add(Token token) {
    const Slot slot = free_slot();
    Token& stored = at(slot);
    stored = std::move(token);
    Box& box = *boxes_[stored.place];
    base::check(ids_.emplace(stored.id, slot).second, "a token id is given once");
    stored.place_previous = box.tail;
    stored.place_next = no_slot;
    (box.tail == no_slot ? box.head : at(box.tail).place_next) = slot;
    box.tail = slot;
    ++box.place.count;
    if (stored.holder != 0) ++box.place.reserved;
    if (stored.hidden) ++box.place.delayed;
    if (!stored.case_id) ++box.place.caseless;
    join_case(slot);
    for (const auto& index : box.wide_indexes) {
        if (holds(*index, stored)) index->link(slot, stored);
    }
    if (bindable(stored)) link(slot);
    return slot;
}

void Store::remove(Slot slot) {
    Token& token = at(slot);
    Box& box = *boxes_[token.place];
    if (bindable(token)) unlink(slot);
    for (const auto& index : box.wide_indexes)
        index->unlink(slot);
    if (token.holder != 0) --box.place.reserved;
    if (token.hidden) --box.place.delayed;
    if (!token.case_id) --box.place.caseless;
    --box.place.count;
    (token.place_previous == no_slot ? box.head : at(token.place_previous).place_next) =
        token.place_next;
    (token.place_next == no_slot ? box.tail : at(token.place_next).place_previous) =
        token.place_previous;
    if (recording_ && box.place.capacity) {
        changes_.push_back({Change::Kind::room, token.place, slot, token.case_id});
    }
    tell_left(slot);
    leave_case(slot);
    ids_.erase(token.id);
    token.data = {};
    free_.push_back(slot);
}

void Store::reserve(Slot slot, Holder holder) {
    Token& token = at(slot);
    base::check(token.holder == 0, "a token is reserved by at most one firing");
    if (bindable(token)) unlink(slot);
    token.holder = holder;
    ++boxes_[token.place]->place.reserved;
    tell_left(slot);
}

void Store::hand_over(Slot slot, Holder holder) {
    at(slot).holder = holder;
    tell_left(slot);
}

void Store::tell_left(Slot slot) {
    const Token& token = at(slot);
    if (!recording_ || !boxes_[token.place]->place.watched) return;
    changes_.push_back({Change::Kind::left, token.place, slot, token.case_id});
}

void Store::release(Slot slot) {
    Token& token = at(slot);
    base::check(token.holder != 0, "only a reserved token can be released");
    token.holder = 0;
    --boxes_[token.place]->place.reserved;
    if (bindable(token)) link(slot);
}

void Store::release_room(PlaceId id) {
    --boxes_[id]->place.room_held;
    if (recording_) changes_.push_back({Change::Kind::room, id, no_slot, {}});
}

void Store::reveal(Slot slot) {
    Token& token = at(slot);
    if (!token.hidden) return;
    token.hidden = false;
    Box& box = *boxes_[token.place];
    --box.place.delayed;
    for (const auto& index : box.wide_indexes)
        index->link(slot, token);
    tell_left(slot);  // it no longer is to come
    if (bindable(token)) link(slot);
}

void Store::join_case(Slot slot) {
    Token& token = at(slot);
    token.case_previous = no_slot;
    token.case_next = no_slot;
    if (!token.case_id) return;
    const auto [entry, first] = cases_.try_emplace(token.case_id.seq, slot);
    if (first) return;
    token.case_next = entry->second;
    at(entry->second).case_previous = slot;
    entry->second = slot;
}

void Store::leave_case(Slot slot) {
    const Token& token = at(slot);
    if (!token.case_id) return;
    if (token.case_next != no_slot) at(token.case_next).case_previous = token.case_previous;
    if (token.case_previous != no_slot) {
        at(token.case_previous).case_next = token.case_next;
    } else if (token.case_next != no_slot) {
        cases_[token.case_id.seq] = token.case_next;
    } else {
        cases_.erase(token.case_id.seq);
    }
}

Slot Store::first_of_case(base::CaseId case_id) const {
    const auto found = cases_.find(case_id.seq);
    return found == cases_.end() ? no_slot : found->second;
}

Slot Store::find(base::TokenId id) const {
    const auto found = ids_.find(id);
    return found == ids_.end() ? no_slot : found->second;
}

Slot Store::first_bindable(PlaceId id, base::CaseId case_id) const {
    const auto& cases = boxes_[id]->cases;
    const auto found = cases.find(case_id.seq);
    return found == cases.end() ? no_slot : found->second.head;
}

std::uint32_t Store::count_bindable(PlaceId id, base::CaseId case_id) const {
    const auto& cases = boxes_[id]->cases;
    const auto found = cases.find(case_id.seq);
    return found == cases.end() ? 0 : found->second.count;
}

Slot Store::last_bindable(PlaceId id, base::CaseId case_id) const {
    const auto& cases = boxes_[id]->cases;
    const auto found = cases.find(case_id.seq);
    return found == cases.end() ? no_slot : found->second.tail;
}

Index* Store::add_index(PlaceId id, IndexRules rules) {
    Box& box = *boxes_[id];
    auto& indexes = rules.held == Held::bindable ? box.indexes : box.wide_indexes;
    auto& index = indexes.emplace_back(std::make_unique<Index>(std::move(rules)));
    for (Slot slot = box.head; slot != no_slot; slot = token(slot).place_next) {
        if (holds(*index, token(slot))) index->link(slot, token(slot));
    }
    return index.get();
}

bool Store::holds(const Index& index, const Token& token) {
    switch (index.held()) {
        case Held::bindable:
            return bindable(token);
        case Held::visible:
            return !token.hidden;
    }
    return false;
}

void Store::remove_index(PlaceId id, const Index* index) {
    const auto same = [&](const auto& held) { return held.get() == index; };
    std::erase_if(boxes_[id]->indexes, same);
    std::erase_if(boxes_[id]->wide_indexes, same);
}

void Store::link(Slot slot) {
    Token& token = at(slot);
    Box& box = *boxes_[token.place];
    Bucket& bucket = box.cases[token.case_id.seq];
    // As in Index::link: a freed token is older than most that wait.
    Slot after = bucket.tail;
    if (after != no_slot && token.id < at(after).id) {
        Slot before = bucket.head;
        while (at(before).id < token.id)
            before = at(before).bucket_next;
        after = at(before).bucket_previous;
    }
    token.bucket_previous = after;
    token.bucket_next = after == no_slot ? bucket.head : at(after).bucket_next;
    (after == no_slot ? bucket.head : at(after).bucket_next) = slot;
    (token.bucket_next == no_slot ? bucket.tail : at(token.bucket_next).bucket_previous) = slot;
    ++bucket.count;
    for (const auto& index : box.indexes)
        index->link(slot, token);
    if (recording_) {
        changes_.push_back({Change::Kind::bindable, token.place, slot, token.case_id});
    }
}

void Store::unlink(Slot slot) {
    Token& token = at(slot);
    Box& box = *boxes_[token.place];
    const auto entry = box.cases.find(token.case_id.seq);
    Bucket& bucket = entry->second;
    (token.bucket_previous == no_slot ? bucket.head : at(token.bucket_previous).bucket_next) =
        token.bucket_next;
    (token.bucket_next == no_slot ? bucket.tail : at(token.bucket_next).bucket_previous) =
        token.bucket_previous;
    if (--bucket.count == 0) box.cases.erase(entry);
    for (const auto& index : box.indexes)
        index->unlink(slot);
}

}  // namespace places
