#include "nets/analysis/invariants.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace nets::analysis {
namespace {

constexpr std::size_t rows_max = 2'000;
constexpr std::size_t nodes_max = 6'000;  ///< of larger nets none are computed: it takes too long

/// One line of Farkas' table: what is left to cancel, and the combination that it is made of.
struct Row {
    std::vector<Term> rest;
    std::vector<Term> combination;
    std::vector<std::uint64_t> support;  ///< of the combination, as bits
};

std::optional<std::int64_t> checked_sum(
    std::int64_t a, std::int64_t x, std::int64_t b, std::int64_t y
) {
    std::int64_t left = 0;
    std::int64_t right = 0;
    std::int64_t sum = 0;
    if (__builtin_mul_overflow(a, x, &left) || __builtin_mul_overflow(b, y, &right) ||
        __builtin_add_overflow(left, right, &sum)) {
        return std::nullopt;
    }
    return sum;
}

/// a*x + b*y, or nothing on overflow.
std::optional<std::vector<Term>> combined(
    std::int64_t a, const std::vector<Term>& x, std::int64_t b, const std::vector<Term>& y
) {
    std::vector<Term> result;
    auto left = x.begin();
    auto right = y.begin();
    while (left != x.end() || right != y.end()) {
        Term term;
        std::int64_t from_left = 0;
        std::int64_t from_right = 0;
        const bool take_left = right == y.end() || (left != x.end() && left->index <= right->index);
        const bool take_right =
            left == x.end() || (right != y.end() && right->index <= left->index);
        term.index = take_left ? left->index : right->index;
        if (take_left) from_left = (left++)->factor;
        if (take_right) from_right = (right++)->factor;
        const auto factor = checked_sum(a, from_left, b, from_right);
        if (!factor) return std::nullopt;
        term.factor = *factor;
        if (term.factor != 0) result.push_back(term);
    }
    return result;
}

std::int64_t factor_at(const std::vector<Term>& terms, std::uint32_t index) {
    const auto at = std::ranges::lower_bound(terms, index, {}, &Term::index);
    return at != terms.end() && at->index == index ? at->factor : 0;
}

void divide_by_common(Row& row) {
    std::int64_t common = 0;
    for (const Term& term : row.rest)
        common = std::gcd(common, term.factor);
    for (const Term& term : row.combination)
        common = std::gcd(common, term.factor);
    if (common <= 1) return;
    for (Term& term : row.rest)
        term.factor /= common;
    for (Term& term : row.combination)
        term.factor /= common;
}

bool subset(const std::vector<std::uint64_t>& part, const std::vector<std::uint64_t>& whole) {
    for (std::size_t i = 0; i < part.size(); ++i) {
        if ((part[i] & ~whole[i]) != 0) return false;
    }
    return true;
}

/// Farkas' algorithm: the non-negative combinations of `rows` that cancel in every column, those of
/// least support.
class Farkas {
public:
    Farkas(std::vector<Row> rows, std::uint32_t columns, const Budget& budget)
        : rows_(std::move(rows)), budget_(budget), patience_(budget), left_(columns, 1) {}

    bool complete = true;

    std::vector<Row> run() && {
        while (const auto column = cheapest_column()) {
            left_[*column] = 0;
            eliminate(*column);
            if (budget_.out_of_time()) {
                complete = false;
                std::erase_if(rows_, [](const Row& row) { return !row.rest.empty(); });
            }
        }
        return std::move(rows_);
    }

private:
    std::optional<std::uint32_t> cheapest_column() const {
        std::vector<std::uint64_t> plus(left_.size(), 0);
        std::vector<std::uint64_t> minus(left_.size(), 0);
        for (const Row& row : rows_) {
            for (const Term& term : row.rest)
                ++(term.factor > 0 ? plus : minus)[term.index];
        }
        std::optional<std::uint32_t> best;
        std::uint64_t best_cost = 0;
        for (std::uint32_t column = 0; column < left_.size(); ++column) {
            if (plus[column] + minus[column] == 0) continue;
            const std::uint64_t cost = plus[column] * minus[column];
            if (best && cost >= best_cost) continue;
            best = column;
            best_cost = cost;
        }
        return best;
    }

    void eliminate(std::uint32_t column) {
        std::vector<Row> kept;
        std::vector<Row> plus;
        std::vector<Row> minus;
        for (Row& row : rows_) {
            const std::int64_t factor = factor_at(row.rest, column);
            (factor == 0 ? kept : factor > 0 ? plus : minus).push_back(std::move(row));
        }
        for (const Row& positive : plus) {
            for (const Row& negative : minus) {
                const bool late = patience_.over(1 + kept.size() * positive.support.size());
                if (kept.size() >= rows_max || late) {
                    complete = false;
                    break;
                }
                add_combination(kept, column, positive, negative);
            }
        }
        rows_ = std::move(kept);
    }

    void add_combination(
        std::vector<Row>& kept, std::uint32_t column, const Row& positive, const Row& negative
    ) {
        const std::int64_t up = factor_at(positive.rest, column);
        const std::int64_t down = -factor_at(negative.rest, column);
        const std::int64_t common = std::gcd(up, down);
        Row row;
        row.support = positive.support;
        for (std::size_t i = 0; i < row.support.size(); ++i)
            row.support[i] |= negative.support[i];
        for (const Row& other : kept) {
            if (subset(other.support, row.support)) return;
        }
        auto rest = combined(down / common, positive.rest, up / common, negative.rest);
        auto combination =
            combined(down / common, positive.combination, up / common, negative.combination);
        if (!rest || !combination) {
            complete = false;
            return;
        }
        row.rest = std::move(*rest);
        row.combination = std::move(*combination);
        divide_by_common(row);
        std::erase_if(kept, [&](const Row& other) { return subset(row.support, other.support); });
        kept.push_back(std::move(row));
    }

    std::vector<Row> rows_;
    const Budget& budget_;
    Patience patience_;
    std::vector<std::uint8_t> left_;
};

std::vector<Row> unit_rows(
    std::vector<std::vector<Term>> rests, const std::vector<bool>& left_out
) {
    std::vector<Row> rows;
    const std::size_t words = (rests.size() + 63) / 64;
    for (std::uint32_t i = 0; i < rests.size(); ++i) {
        if (left_out[i]) continue;
        Row row{
            .rest = std::move(rests[i]),
            .combination = {{.index = i}},
            .support = std::vector<std::uint64_t>(words, 0)
        };
        row.support[i / 64] |= std::uint64_t{1} << (i % 64);
        rows.push_back(std::move(row));
    }
    return rows;
}

bool too_large(const PtNet& net) {
    return net.places.size() + net.transitions.size() > nodes_max;
}

}  // namespace

Invariants place_invariants(const PtNet& net, const Marking& initial, const Budget& budget) {
    if (too_large(net)) return {.found = {}, .complete = false};
    std::vector<std::vector<Term>> changes(net.places.size());
    std::vector<bool> emptied(net.places.size(), false);
    for (TransitionId t = 0; t < net.transitions.size(); ++t) {
        for (const Touch& touch : touches(net, t)) {
            if (touch.reset) emptied[touch.place] = true;
            if (!touch.reset && touch.change() != 0) {
                changes[touch.place].push_back({.index = t, .factor = touch.change()});
            }
        }
    }
    Farkas farkas(
        unit_rows(std::move(changes), emptied),
        static_cast<std::uint32_t>(net.transitions.size()),
        budget
    );
    Invariants result;
    std::vector<Row> rows = std::move(farkas).run();
    result.complete = farkas.complete;
    for (Row& row : rows) {
        Invariant invariant{.terms = std::move(row.combination)};
        bool fits = true;
        for (const Term& term : invariant.terms) {
            Count product = 0;
            fits = fits &&
                   !__builtin_mul_overflow(
                       static_cast<Count>(term.factor), initial[term.index], &product
                   ) &&
                   !__builtin_add_overflow(invariant.value, product, &invariant.value);
        }
        if (fits) result.found.push_back(std::move(invariant));
        result.complete = result.complete && fits;
    }
    return result;
}

Invariants transition_invariants(const PtNet& net, const Budget& budget) {
    if (too_large(net)) return {.found = {}, .complete = false};
    std::vector<std::vector<Term>> changes(net.transitions.size());
    std::vector<bool> resets(net.transitions.size(), false);
    for (TransitionId t = 0; t < net.transitions.size(); ++t) {
        resets[t] = !net.transitions[t].reset.empty();
        for (const Touch& touch : touches(net, t)) {
            if (touch.change() != 0) {
                changes[t].push_back({.index = touch.place, .factor = touch.change()});
            }
        }
    }
    Farkas farkas(
        unit_rows(std::move(changes), resets), static_cast<std::uint32_t>(net.places.size()), budget
    );
    Invariants result;
    std::vector<Row> rows = std::move(farkas).run();
    result.complete = farkas.complete;
    for (Row& row : rows)
        result.found.push_back({.terms = std::move(row.combination)});
    return result;
}

std::vector<std::optional<Count>> place_bounds(
    const PtNet& net, const Marking& initial, const Invariants& invariants, const Budget& budget
) {
    Patience patience(budget);
    std::vector<bool> grows(net.places.size(), false);
    for (const std::vector<Touch>& of_transition : all_touches(net)) {
        // What grows is not known then, and without it nothing is.
        if (patience.over(of_transition.size()))
            return std::vector<std::optional<Count>>(net.places.size());
        for (const Touch& touch : of_transition) {
            if (touch.produce > (touch.reset ? 0 : touch.consume)) grows[touch.place] = true;
        }
    }
    std::vector<std::optional<Count>> bounds(net.places.size());
    for (PlaceId p = 0; p < net.places.size(); ++p) {
        if (!grows[p]) {
            bounds[p] = initial[p];
        } else if (net.places[p].capacity) {
            bounds[p] = std::max(initial[p], *net.places[p].capacity);
        }
    }
    for (const Invariant& invariant : invariants.found) {
        if (patience.over(invariant.terms.size())) break;
        for (const Term& term : invariant.terms) {
            const Count bound = invariant.value / static_cast<Count>(term.factor);
            std::optional<Count>& best = bounds[term.index];
            best = std::min(best.value_or(bound), bound);
        }
    }
    return bounds;
}

}  // namespace nets::analysis
