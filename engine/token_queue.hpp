#pragma once

#include "engine/binding.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace engine {

/// The bindable tokens of one arc for one candidate, those of the case and those without one, in
/// the order of the arc; where an index is given, those with its key.
class TokenQueue {
public:
    TokenQueue(
        const BindRequest& request, std::size_t arc, const places::Index* index, std::string key
    )
        : store_(request.state.store),
          place_(request.sources[arc].place),
          index_(index),
          key_(std::move(key)),
          case_(request.sources[arc].any_case ? 0 : request.candidate.case_seq),
          order_(request.rules.in[arc].order) {
        own_ = first(case_);
        if (case_) free_ = first({});
    }
    [[nodiscard]] places::Slot peek() const {
        if (own_ == places::no_slot) return free_;
        if (free_ == places::no_slot) return own_;
        return before(free_, own_) ? free_ : own_;
    }
    void advance() {
        places::Slot& from = peek() == own_ ? own_ : free_;
        from = after(from);
    }
    /// Goes on from the token, or where that is gone from the one after it. False when that cannot
    /// be known: only `fifo` is an order among tokens that are gone.
    [[nodiscard]] bool seek(base::TokenId id) {
        const places::Slot slot = store_.find(id);
        const bool there = slot != places::no_slot && holds(slot);
        if (!there && order_ != nets::OrderKind::fifo) return false;
        const auto passed = [&](places::Slot at) {
            return there ? before(at, slot) : store_.token(at).id < id;
        };
        const auto go_on = [&](places::Slot& at) {
            while (at != places::no_slot && passed(at))
                at = after(at);
        };
        if (there) {
            places::Slot& its = case_of(slot) == case_.seq ? own_ : free_;
            its = slot;
            go_on(&its == &own_ ? free_ : own_);
        } else {
            go_on(own_);
            go_on(free_);
        }
        return true;
    }

private:
    [[nodiscard]] places::Slot first(base::CaseId of) const {
        const bool back = order_ == nets::OrderKind::lifo;
        if (index_ != nullptr) return back ? index_->last(of, key_) : index_->first(of, key_);
        return back ? store_.last_bindable(place_, of) : store_.first_bindable(place_, of);
    }
    [[nodiscard]] places::Slot after(places::Slot slot) const {
        const bool back = order_ == nets::OrderKind::lifo;
        if (index_ != nullptr) return back ? index_->previous(slot) : index_->next(slot);
        return back ? store_.previous_bindable(slot) : store_.next_bindable(slot);
    }
    // By which the lists are kept: an index may disregard cases.
    [[nodiscard]] std::uint64_t case_of(places::Slot slot) const {
        if (index_ != nullptr) return index_->group(slot)->case_seq;
        return store_.token(slot).case_id.seq;
    }
    [[nodiscard]] bool holds(places::Slot slot) const {
        const auto& token = store_.token(slot);
        if (token.place != place_ || token.holder != 0 || token.hidden) return false;
        if (index_ != nullptr) {
            const auto* group = index_->group(slot);
            if (group == nullptr || group->key != key_) return false;
        }
        return case_of(slot) == 0 || case_of(slot) == case_.seq;
    }
    [[nodiscard]] bool before(places::Slot left, places::Slot right) const {
        const auto left_id = store_.token(left).id;
        const auto right_id = store_.token(right).id;
        switch (order_) {
            case nets::OrderKind::fifo:
                return left_id < right_id;
            case nets::OrderKind::lifo:
                return right_id < left_id;
            case nets::OrderKind::expression:
                return std::pair(index_->rank(left), left_id) <
                       std::pair(index_->rank(right), right_id);
        }
        return false;
    }

    const places::Store& store_;
    places::PlaceId place_;
    const places::Index* index_;
    std::string key_;
    base::CaseId case_;
    nets::OrderKind order_;
    places::Slot own_ = places::no_slot;
    places::Slot free_ = places::no_slot;
};

}  // namespace engine
