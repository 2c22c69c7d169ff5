#include "engine/binding.hpp"
#include "engine/token_queue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace engine {

using places::no_slot;
using places::Slot;

namespace {

constexpr double weight_max = 1e15;              // every whole number up to it is exact
constexpr std::uint64_t steps_of_a_try = 1'000;  // of an expression: so many count as one more
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

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
        begin();
        if (request.progress == nullptr) return;
        stand_.at = std::exchange(request.progress->at, {});
        // What it stood at was complete up to there; what is left may well be nothing.
        if (!stand_.at.empty()) guard_refuses();
    }

    std::expected<Binding, Unbound> run() {
        bool found = partners_there() && choose(0);
        if (stale_) {
            // What the lists hold is not what it was.
            begin();
            stand_ = {};
            stale_ = complete_ = false;
            found = choose(0);
        }
        if (request_.progress != nullptr) {
            if (suspended_ || (found && request_.fixed)) remember();
            request_.progress->tried = tried_;
        }
        if (found) return std::move(binding_);
        unbound_.ripe = ripe_;
        if (suspended_) {
            unbound_.reason = Unbound::Reason::searching;
        } else if (!complete_) {
            unbound_.reason = Unbound::Reason::arc;
        }
        return std::unexpected(unbound_);
    }

private:
    void begin() {
        binding_ = {};
        binding_.arcs.resize(rules_.in.size());
        binding_.case_id = {request_.candidate.case_seq};
        if (request_.fixed) binding_.arcs[request_.fixed->arc].assign(1, request_.fixed->slot);
    }

    [[nodiscard]] bool is_fixed(std::size_t arc) const {
        return request_.fixed && request_.fixed->arc == arc;
    }

    void remember() {
        auto& at = request_.progress->at;
        at.clear();
        for (std::size_t step = 0; step <= step_ && step < rules_.binding_order.size(); ++step) {
            auto& ids = at.emplace_back();
            const std::size_t arc = rules_.binding_order[step];
            if (is_fixed(arc)) continue;
            for (const Slot slot : binding_.arcs[arc])
                ids.push_back(request_.state.store.token(slot).id);
        }
    }

    // An equality with the fixed token that no token of another arc fulfils: nothing can.
    bool partners_there() {
        if (!request_.fixed) return true;
        for (const GuardJoin& join : request_.joins) {
            if (join.partner != request_.fixed->arc) continue;
            const auto key = key_of(join);
            if (key && count(join, *key) != 0) continue;
            // Too few tokens on an arc is another reason, of which `choose` knows.
            if (TokenQueue(
                    request_, join.arc, request_.sources[join.arc].index, source_key(join.arc)
                )
                    .peek() == no_slot)
                continue;
            guard_refuses();
            return false;
        }
        return true;
    }

    void guard_refuses() {
        complete_ = true;
        unbound_.reason = Unbound::Reason::guard;
    }

    [[nodiscard]] std::string source_key(std::size_t arc) const {
        return request_.sources[arc].keyed ? request_.candidate.key : std::string();
    }

    // Of the tokens of `join.arc` that are equal to the one that its partner has.
    [[nodiscard]] std::optional<std::string> key_of(const GuardJoin& join) const {
        const auto& partner = request_.state.store.token(binding_.arcs[join.partner].front());
        const auto side = side_of(rules_, join.partner, join.other, partner);
        if (!side) return std::nullopt;
        return joined_key(source_key(join.arc), *side);
    }

    [[nodiscard]] std::uint64_t count(const GuardJoin& join, std::string_view key) const {
        const bool any = request_.sources[join.arc].any_case;
        const base::CaseId own{any ? 0 : request_.candidate.case_seq};
        const std::uint64_t free = join.index->count({}, key);
        return own ? free + join.index->count(own, key) : free;
    }

    // What to look through for the arc: where the guard demands an equality with a token chosen
    // already, only those that are equal. Nothing when one of them cannot be.
    std::optional<TokenQueue> queue_of(std::size_t arc) {
        const GuardJoin* narrowest = nullptr;
        std::string narrowest_key;
        std::uint64_t least = no_limit;
        for (const GuardJoin& join : request_.joins) {
            if (join.arc != arc || binding_.arcs[join.partner].empty()) continue;
            auto key = key_of(join);
            const auto has = key ? count(join, *key) : 0;
            if (has == 0) return std::nullopt;
            if (has >= least) continue;
            least = has;
            narrowest = &join;
            narrowest_key = std::move(*key);
        }
        if (narrowest != nullptr)
            return TokenQueue(request_, arc, narrowest->index, std::move(narrowest_key));
        return TokenQueue(request_, arc, request_.sources[arc].index, source_key(arc));
    }

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
        step_ = step;
        if (step == rules_.binding_order.size()) return accepted();
        const std::size_t arc = rules_.binding_order[step];
        if (is_fixed(arc)) return choose(step + 1);
        const auto wanted = demand(rules_.in[arc]);
        if (!wanted) {
            missing(arc, 0, 1);
            return false;
        }
        auto queue = queue_of(arc);
        if (!queue) {
            // Without any token at all it is another reason.
            queue.emplace(request_, arc, request_.sources[arc].index, source_key(arc));
            if (queue->peek() != no_slot) {
                guard_refuses();
                return false;
            }
        }
        return choose_from(*queue, step, *wanted);
    }

    bool choose_from(TokenQueue& queue, std::size_t step, const Demand& wanted) {
        const std::size_t arc = rules_.binding_order[step];
        auto& chosen = binding_.arcs[arc];
        bool resumed = go_on(queue, step);
        for (bool first = true; !stale_; first = false) {
            fill(queue, arc, wanted.max);
            const bool enough = chosen.size() >= wanted.min && (first || !chosen.empty());
            if (!enough) {
                const auto has = chosen.size();
                chosen.clear();
                if (first && optional(arc)) return choose(step + 1);
                if (first) missing(arc, has, wanted.min);
                return false;
            }
            resumed = resumed && same(step);
            if (varies_ && !resumed && !afford(step)) return false;
            resumed = false;
            if (choose(step + 1)) return true;
            if (suspended_ || stale_) return false;
            chosen.clear();
            // Unless what is chosen here matters there, another token fails at the same later arc.
            if (!varies_ || (!request_.search && !complete_) || hopeless_) return false;
        }
        return false;
    }

    // To where the search stood. True when there was such a place.
    bool go_on(TokenQueue& queue, std::size_t step) {
        if (step >= stand_.at.size()) return false;
        if (stand_.at[step].empty() || queue.seek(stand_.at[step].front())) return true;
        stale_ = true;
        return false;
    }

    // Whether what was chosen is what was to be tried next. If not, the arcs after this one begin
    // at their first; where more depends on it than which tokens there are, the whole search does.
    bool same(std::size_t step) {
        const auto& ids = stand_.at[step];
        const auto& chosen = binding_.arcs[rules_.binding_order[step]];
        const auto is = [&](Slot slot, base::TokenId id) {
            return request_.state.store.token(slot).id == id;
        };
        if (std::ranges::equal(chosen, ids, is)) return true;
        stand_.at.resize(step);
        stale_ = request_.search;
        return false;
    }

    bool afford(std::size_t step) {
        // Arcs after this one begin at their first from now on.
        if (stand_.at.size() > step) stand_.at.resize(step);
        if (tried_ < request_.combinations) {
            ++tried_;
            return true;
        }
        step_ = step;
        suspended_ = true;
        return false;
    }

    void fill(TokenQueue& queue, std::size_t arc, std::uint64_t most) {
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
            unbound_.reason = Unbound::Reason::inhibited;
            unbound_.arc = arc;
            unbound_.has = has;
            unbound_.needs = wanted ? wanted->min : 0;
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

    void give_up() { hopeless_ = true; }

    bool guard_holds() {
        const auto& guard = rules_.guard;
        if (!guard) return true;
        scope_.bind(binding_, binding_.case_id);
        scope_.budget = {};
        const auto value = guard->evaluate(scope_.values(*guard), scope_.budget);
        tried_ += (nets::cel::Budget{}.steps - scope_.budget.steps) / steps_of_a_try;
        const bool holds = value && value->is(nets::cel::Kind::boolean) && value->as_boolean();
        if (holds) return true;
        unbound_.reason = Unbound::Reason::guard;
        if (!unbound_.error.empty()) return false;
        if (!value) {
            unbound_.error = value.error().message;
        } else if (!value->is(nets::cel::Kind::boolean)) {
            unbound_.error = "is " + nets::cel::a_kind(value->kind()) + ", not a bool";
        }
        return false;
    }

    const BindRequest& request_;
    const nets::Transition& rules_;
    Scope scope_;
    Binding binding_;
    Unbound unbound_;
    base::Timestamp ripe_;
    bool varies_;           // other tokens on one arc may do where the first do not
    SearchProgress stand_;  // where it goes on from
    std::size_t step_ = 0;
    std::size_t tried_ = 0;
    bool suspended_ = false;  // it tried as many combinations as it may
    bool stale_ = false;      // where it would go on is not there any more
    bool hopeless_ = false;   // no other choice of tokens does
    bool complete_ = false;   // tokens for all arcs were found at least once
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
