#include "nets/cel/value.hpp"

namespace nets::cel {

namespace {

// As CEL's other implementations do it, and its conformance cases ask: an integer meets a double as
// the double nearest to it.
std::partial_ordering order_integer_real(std::int64_t left, double right) {
    return static_cast<double>(left) <=> right;
}

std::partial_ordering order_uinteger_real(std::uint64_t left, double right) {
    return static_cast<double>(left) <=> right;
}

std::strong_ordering order_integer_uinteger(std::int64_t left, std::uint64_t right) {
    if (left < 0) return std::strong_ordering::less;
    return static_cast<std::uint64_t>(left) <=> right;
}

std::partial_ordering reversed(std::partial_ordering order) {
    return 0 <=> order;
}

std::partial_ordering order_numbers(const Value& left, const Value& right) {
    const bool right_integer = right.is(Kind::integer);
    const bool right_real = right.is(Kind::real);
    if (left.is(Kind::integer)) {
        if (right_integer) return left.as_integer() <=> right.as_integer();
        if (right_real) return order_integer_real(left.as_integer(), right.as_real());
        return order_integer_uinteger(left.as_integer(), right.as_uinteger());
    }
    if (left.is(Kind::uinteger)) {
        if (right_integer) {
            return reversed(order_integer_uinteger(right.as_integer(), left.as_uinteger()));
        }
        if (right_real) return order_uinteger_real(left.as_uinteger(), right.as_real());
        return left.as_uinteger() <=> right.as_uinteger();
    }
    if (right_integer) return reversed(order_integer_real(right.as_integer(), left.as_real()));
    if (right_real) return left.as_real() <=> right.as_real();
    return reversed(order_uinteger_real(right.as_uinteger(), left.as_real()));
}

// Whether an integer and a double are the same number. Not by way of `order_numbers`: the double
// nearest to 2^53 + 1 is also the one nearest to 2^53, and equality has to carry over.
bool same_number(std::int64_t left, double right) {
    if (!(right >= -0x1p63 && right < 0x1p63)) return false;
    const auto whole = static_cast<std::int64_t>(right);
    return whole == left && static_cast<double>(whole) == right;
}

bool same_number(std::uint64_t left, double right) {
    if (!(right >= 0 && right < 0x1p64)) return false;
    const auto whole = static_cast<std::uint64_t>(right);
    return whole == left && static_cast<double>(whole) == right;
}

bool equal_numbers(const Value& left, const Value& right) {
    if (left.is(Kind::real) == right.is(Kind::real)) return std::is_eq(order_numbers(left, right));
    const Value& real = left.is(Kind::real) ? left : right;
    const Value& whole = left.is(Kind::real) ? right : left;
    if (whole.is(Kind::integer)) return same_number(whole.as_integer(), real.as_real());
    return same_number(whole.as_uinteger(), real.as_real());
}

// One comparison of possibly deep values. Values nest no deeper than JSON and expressions may, so
// the recursion is bounded.
class Equality {
public:
    Equality(std::uint64_t& work, std::uint64_t work_max) : work_(work), work_max_(work_max) {}

    bool equal(const Value& left, const Value& right) {
        if (++work_ > work_max_) return false;
        if (left.is_number() && right.is_number()) return equal_numbers(left, right);
        if (left.kind() != right.kind()) return false;
        switch (left.kind()) {
            case Kind::null:
                return true;
            case Kind::boolean:
                return left.as_boolean() == right.as_boolean();
            case Kind::timestamp:
            case Kind::duration:
                return left.as_span() == right.as_span();
            case Kind::string:
            case Kind::bytes:
            case Kind::type:
                work_ += left.text().size() / 64;
                return left.text() == right.text();
            case Kind::list:
                return equal_lists(left, right);
            case Kind::map:
                return equal_maps(left, right);
            case Kind::optional:
                if (!left.inner() || !right.inner()) return left.inner() == right.inner();
                return equal(*left.inner(), *right.inner());
            case Kind::integer:
            case Kind::uinteger:
            case Kind::real:
                break;
        }
        return false;
    }

private:
    bool equal_lists(const Value& left, const Value& right) {
        if (left.size() != right.size()) return false;
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (!equal(left.at(i), right.at(i))) return false;
        }
        return true;
    }

    bool equal_maps(const Value& left, const Value& right) {
        if (left.size() != right.size()) return false;
        work_ += left.size();
        if (work_ > work_max_) return false;
        for (const auto& [key, value] : left.entries()) {
            const auto other = right.find(key);
            if (!other || !equal(value, *other)) return false;
        }
        return true;
    }

    std::uint64_t& work_;
    std::uint64_t work_max_;
};

}  // namespace

bool equal(const Value& left, const Value& right, std::uint64_t& work, std::uint64_t work_max) {
    return Equality(work, work_max).equal(left, right);
}

bool operator==(const Value& left, const Value& right) {
    std::uint64_t work = 0;
    return equal(left, right, work, UINT64_MAX);
}

std::partial_ordering order(const Value& left, const Value& right) {
    if (left.is_number() && right.is_number()) return order_numbers(left, right);
    if (left.kind() != right.kind()) return std::partial_ordering::unordered;
    switch (left.kind()) {
        case Kind::boolean:
            return left.as_boolean() <=> right.as_boolean();
        case Kind::string:
        case Kind::bytes:
            return left.text() <=> right.text();
        case Kind::timestamp:
        case Kind::duration:
            return left.as_span() <=> right.as_span();
        case Kind::null:
        case Kind::integer:
        case Kind::uinteger:
        case Kind::real:
        case Kind::list:
        case Kind::map:
        case Kind::type:
        case Kind::optional:
            return std::partial_ordering::unordered;
    }
    return std::partial_ordering::unordered;
}

}  // namespace nets::cel
