#include "engine/binding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace engine {

using places::no_slot;
using places::Slot;

namespace {

constexpr double weight_max = 1e15;  // every whole number up to it is exact
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// The bindable tokens of one arc for one candidate, those of the case and those without one, in the
// order of the arc.
class Queue {
public:
    Queue(const BindRequest& request, std::size_t arc)
        : store_(request.state.store),
          index_(request.sources[arc].index),
          order_(request.rules.in[arc].order) {
        const ArcSource& source = request.sources[arc];
        const std::string_view key =
            source.keyed ? std::string_view(request.candidate.key) : std::string_view();
        const base::CaseId own{source.any_case ? 0 : request.candidate.case_seq};
        own_ = first(source.place, own, key);
        if (own) free_ = first(source.place, {}, key);
    }
    [[nodiscard]] Slot peek() const {
        if (own_ == no_slot) return free_;
        if (free_ == no_slot) return own_;
        return before(free_, own_) ? free_ : own_;
    }
    void advance() {
        Slot& from = peek() == own_ ? own_ : free_;
        const bool back = order_ == nets::OrderKind::lifo;
        if (index_ != nullptr) {
            from = back ? index_->previous(from) : index_->next(from);
        } else {
            from = back ? store_.previous_bindable(from) : store_.next_bindable(from);
        }
    }

private:
    [[nodiscard]] Slot first(places::PlaceId place, base::CaseId of, std::string_view key) const {
        const bool back = order_ == nets::OrderKind::lifo;
        if (index_ != nullptr) return back ? index_->last(of, key) : index_->first(of, key);
        return back ? store_.last_bindable(place, of) : store_.first_bindable(place, of);
    }
    [[nodiscard]] bool before(Slot left, Slot right) const {
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
    const places::Index* index_;
    nets::OrderKind order_;
    Slot own_ = no_slot;
    Slot free_ = no_slot;
};

// How many tokens an arc takes: as many as there are, from `min` to `max`.
struct Demand {
    std::uint64_t min = 1;
    std::uint64_t max = 1;
};

// Whether what is chosen for one arc may decide what another finds, guards apart: weights that
// speak of tokens, arcs of one place, and arcs that choose the case of which others speak.
bool choices_matter(const nets::Transition& rules) {
    std::vector<nets::PlaceIndex> seen;
    bool chooses_case = false;
    bool speaks_of_case = rules.or_join;
    for (const auto& arc : rules.in) {
        if (std::holds_alternative<nets::ExpressionWeight>(arc.take)) return true;
        speaks_of_case |= arc.kind == nets::ArcKind::inhibit;
        if (!arc.binds()) continue;
        chooses_case |= arc.any_case && arc.kind == nets::ArcKind::consume;
        if (std::ranges::find(seen, arc.place) != seen.end()) return true;
        seen.push_back(arc.place);
    }
    return chooses_case && speaks_of_case;
}

class Binder {
public:
    explicit Binder(const BindRequest& request)
        : request_(request),
          rules_(request.rules),
          scope_(request.state, request.rules),
          varies_(rules_.guard || (request.search && choices_matter(rules_))) {
        binding_.arcs.resize(rules_.in.size());
        binding_.case_id = {request.candidate.case_seq};
    }

    std::expected<Binding, Unbound> run() {
        if (choose(0)) return std::move(binding_);
        unbound_.ripe = ripe_;
        if (complete_) return std::unexpected(unbound_);
        unbound_.reason = Unbound::Reason::arc;
        return std::unexpected(unbound_);
    }

private:
    [[nodiscard]] bool taken(Slot slot) const {
        if (!request_.search) return false;
        return std::ranges::any_of(binding_.arcs, [&](const Binding::Tokens& tokens) {
            return std::ranges::find(tokens, slot) != tokens.end();
        });
    }

    // Too young is a matter of time: the scheduler looks again when it is ripe.
    [[nodiscard]] bool ripe(Slot slot, const nets::InputArc& arc) {
        if (arc.age.us == 0) return true;
        const auto at = ripe_at(request_.state.store.token(slot), arc.age);
        if (at <= request_.now) return true;
        if (ripe_.us == 0 || at < ripe_) ripe_ = at;
        return false;
    }

    // Tokens that come later in the queue are younger still, unless they were delayed.
    [[nodiscard]] bool all_younger(Slot slot, const nets::InputArc& arc) const {
        return arc.order == nets::OrderKind::fifo &&
               request_.state.store.token(slot).visible_at.us == 0;
    }

    std::optional<std::uint64_t> value_of(const nets::cel::Program& weight) {
        scope_.bind(binding_, binding_.case_id);
        scope_.budget = {};
        const auto value = weight.evaluate(scope_.values(weight), scope_.budget);
        if (!value) return std::nullopt;
        if (value->is(nets::cel::Kind::integer) && value->as_integer() >= 0) {
            return static_cast<std::uint64_t>(value->as_integer());
        }
        if (value->is(nets::cel::Kind::uinteger)) return value->as_uinteger();
        const bool whole = value->is(nets::cel::Kind::real) && value->as_real() >= 0 &&
                           value->as_real() <= weight_max &&
                           std::trunc(value->as_real()) == value->as_real();
        if (whole) return static_cast<std::uint64_t>(value->as_real());
        return std::nullopt;
    }

    std::optional<Demand> demand(const nets::InputArc& arc) {
        if (const auto* fixed = std::get_if<nets::FixedWeight>(&arc.take)) {
            return Demand{fixed->count, fixed->count};
        }
        if (const auto* range = std::get_if<nets::RangeWeight>(&arc.take)) {
            return Demand{range->min, range->max};
        }
        if (std::holds_alternative<nets::AllWeight>(arc.take)) return Demand{1, no_limit};
        if (std::holds_alternative<nets::AnyWeight>(arc.take)) return Demand{0, no_limit};
        const auto count = value_of(std::get<nets::ExpressionWeight>(arc.take).count);
        if (!count) return std::nullopt;
        return Demand{*count, *count};
    }

    void missing(std::size_t arc, std::uint64_t has, std::uint64_t needs) {
        if (complete_) return;
        unbound_.arc = arc;
        unbound_.has = has;
        unbound_.needs = needs;
    }

    // Chooses tokens for this arc and those after it; the last arc varies fastest.
    bool choose(std::size_t step) {
        if (step == rules_.binding_order.size()) return accepted();
        const std::size_t arc = rules_.binding_order[step];
        auto& chosen = binding_.arcs[arc];
        if (request_.fixed && request_.fixed->arc == arc && !rules_.in[arc].takes_list) {
            chosen.assign(1, request_.fixed->slot);
            if (choose(step + 1)) return true;
            chosen.clear();
            return false;
        }
        const auto wanted = demand(rules_.in[arc]);
        if (!wanted) {
            missing(arc, 0, 1);
            return false;
        }
        Queue queue(request_, arc);
        for (bool first = true;; first = false) {
            fill(queue, arc, wanted->max);
            if (chosen.size() < wanted->min || (!first && chosen.empty())) {
                const auto has = chosen.size();
                chosen.clear();
                if (first && optional(arc)) return choose(step + 1);
                if (first) missing(arc, has, wanted->min);
                return false;
            }
            if (choose(step + 1)) return true;
            chosen.clear();
            // Unless what is chosen here matters there, another token fails at the same later arc.
            if (!varies_ || (!request_.search && !complete_)) return false;
            if (++tries_ >= combinations_max) return false;
        }
    }

    void fill(Queue& queue, std::size_t arc, std::uint64_t most) {
        auto& chosen = binding_.arcs[arc];
        while (chosen.size() < most && queue.peek() != no_slot) {
            const Slot slot = queue.peek();
            queue.advance();
            if (!ripe(slot, rules_.in[arc])) {
                if (all_younger(slot, rules_.in[arc])) return;
                continue;
            }
            if (!taken(slot)) chosen.push_back(slot);
        }
    }

    [[nodiscard]] bool optional(std::size_t arc) const {
        const auto& place = request_.state.store.place(request_.sources[arc].place);
        return may_stay_empty(rules_, rules_.in[arc], place);
    }

    bool accepted() {
        if (rules_.or_join && !holds_a_token()) {
            missing(rules_.binding_order.front(), 0, 1);
            return false;
        }
        settle_case();
        complete_ = true;
        return uninhibited() && guard_holds() && nothing_arrives();
    }

    [[nodiscard]] bool holds_a_token() const {
        for (std::size_t arc = 0; arc < rules_.in.size(); ++arc) {
            if (optional(arc) && !binding_.arcs[arc].empty()) return true;
        }
        return false;
    }

    // A candidate without a case may have bound a token with one, over an arc that takes any case.
    void settle_case() {
        binding_.case_id = {request_.candidate.case_seq};
        if (binding_.case_id) return;
        for (std::size_t arc = 0; arc < binding_.arcs.size(); ++arc) {
            if (rules_.in[arc].kind != nets::ArcKind::consume) continue;
            for (const Slot slot : binding_.arcs[arc]) {
                binding_.case_id = request_.state.store.token(slot).case_id;
                if (binding_.case_id) return;
            }
        }
    }

    bool uninhibited() {
        for (std::size_t arc = 0; arc < rules_.in.size(); ++arc) {
            const auto& inhibit = rules_.in[arc];
            if (inhibit.kind != nets::ArcKind::inhibit) continue;
            const auto wanted = demand(inhibit);
            const auto has =
                inhibitors(request_.sources[arc], binding_.case_id, request_.candidate.key);
            if (wanted && has < wanted->min) {
                binding_.inhibited_at.resize(rules_.in.size());
                binding_.inhibited_at[arc] = wanted->min;
                continue;
            }
            // No other choice of tokens makes it fewer.
            if (std::holds_alternative<nets::FixedWeight>(inhibit.take) &&
                request_.candidate.case_seq != 0)
                give_up();
            unbound_ = {
                .reason = Unbound::Reason::inhibited,
                .arc = arc,
                .has = has,
                .needs = wanted ? wanted->min : 0,
            };
            return false;
        }
        return true;
    }

    // No other choice of tokens changes what may come.
    bool nothing_arrives() {
        if (!rules_.or_join) return true;
        const auto more =
            may_arrive(request_.state, *request_.arrivals, request_.transition, binding_);
        using Answer = Arrival::Answer;
        if (more.answer == Answer::cannot) return true;
        unbound_.reason =
            more.answer == Answer::may ? Unbound::Reason::arriving : Unbound::Reason::undecided;
        unbound_.place = more.place;
        if (request_.candidate.case_seq != 0) give_up();
        return false;
    }

    void give_up() { tries_ = combinations_max; }

    bool guard_holds() {
        const auto& guard = rules_.guard;
        if (!guard) return true;
        scope_.bind(binding_, binding_.case_id);
        scope_.budget = {};
        const auto value = guard->evaluate(scope_.values(*guard), scope_.budget);
        const bool holds = value && value->is(nets::cel::Kind::boolean) && value->as_boolean();
        if (!holds) unbound_.reason = Unbound::Reason::guard;
        return holds;
    }

    const BindRequest& request_;
    const nets::Transition& rules_;
    Scope scope_;
    Binding binding_;
    Unbound unbound_;
    base::Timestamp ripe_;
    bool varies_;  // other tokens on one arc may do where the first do not
    std::size_t tries_ = 0;
    bool complete_ = false;  // tokens for all arcs were found at least once
};

}  // namespace

std::expected<Binding, Unbound> bind(const BindRequest& request) {
    return Binder(request).run();
}

bool searched(const nets::Transition& rules) {
    if (rules.or_join || choices_matter(rules)) return true;
    return std::ranges::any_of(rules.in, [&](const nets::InputArc& arc) {
        if (arc.kind == nets::ArcKind::inhibit) return true;
        if (!arc.binds()) return false;
        if (!std::holds_alternative<nets::FixedWeight>(arc.take)) return true;
        return rules.guard && (arc.order != nets::OrderKind::fifo || arc.takes_list);
    });
}

std::uint64_t inhibitors(const ArcSource& source, base::CaseId case_id, std::string_view key) {
    const std::string_view own = source.keyed ? key : std::string_view();
    if (source.any_case || !case_id) return source.index->count({}, own);
    return std::uint64_t{source.index->count(case_id, own)} + source.index->count({}, own);
}

}  // namespace engine
