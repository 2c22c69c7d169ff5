#include "nets/cel/value.hpp"
#include "nets/cel/value_reps.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace nets::cel {

namespace {

// Up to this many entries are searched one by one; beyond, through the sorted index, so that no
// choice of keys can make a look-up slow.
constexpr std::size_t linear_max = 8;

bool key_kind(const Value& key) {
    return key.is(Kind::string) || key.is(Kind::boolean) || key.is(Kind::integer) ||
           key.is(Kind::uinteger);
}

// A total order over keys in which equal keys are those that CEL's == calls equal.
std::partial_ordering key_order(const Value& left, const Value& right) {
    const auto rank = [](const Value& key) {
        return key.is(Kind::boolean) ? 0 : key.is(Kind::string) ? 2 : 1;
    };
    if (rank(left) != rank(right)) return rank(left) <=> rank(right);
    return order(left, right);
}

// The integer that the double is, exactly.
std::optional<Value> whole_key(double key) {
    if (std::trunc(key) != key) return std::nullopt;
    if (key >= -0x1p63 && key < 0x1p63) return Value::integer(static_cast<std::int64_t>(key));
    if (key >= 0 && key < 0x1p64) return Value::uinteger(static_cast<std::uint64_t>(key));
    return std::nullopt;
}

std::string key_text(const Value& key) {
    if (key.is(Kind::string)) return fmt::format("'{}'", key.text());
    if (key.is(Kind::boolean)) return key.as_boolean() ? "true" : "false";
    if (key.is(Kind::integer)) return fmt::format("{}", key.as_integer());
    return fmt::format("{}u", key.as_uinteger());
}

}  // namespace

base::Result<Value> Value::map(std::vector<std::pair<Value, Value>> entries) {
    for (const auto& [key, value] : entries) {
        if (!key_kind(key)) {
            return base::fail(
                base::ErrorCode::validation,
                fmt::format(
                    "a map key is {}; it must be a bool, int, uint or string",
                    cel::a_kind(key.kind())
                )
            );
        }
    }
    const auto twice = [](const Value& key) {
        return base::fail(
            base::ErrorCode::validation, fmt::format("the map key {} is given twice", key_text(key))
        );
    };
    auto rep = std::make_unique<MapRep>();
    if (entries.size() <= linear_max) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                if (entries[i].first == entries[k].first) return twice(entries[i].first);
            }
        }
    } else {
        rep->sorted.resize(entries.size());
        std::iota(rep->sorted.begin(), rep->sorted.end(), 0U);
        std::ranges::sort(rep->sorted, [&](std::uint32_t left, std::uint32_t right) {
            const auto order = key_order(entries[left].first, entries[right].first);
            return std::is_eq(order) ? left < right : std::is_lt(order);
        });
        for (std::size_t i = 1; i < rep->sorted.size(); ++i) {
            const Value& key = entries[rep->sorted[i]].first;
            if (entries[rep->sorted[i - 1]].first == key) return twice(key);
        }
    }
    rep->entries = std::move(entries);
    Value made;
    made.kind_ = Kind::map;
    made.form_ = Form::owned;
    made.payload_.map = rep.release();
    return made;
}

std::optional<Value> Value::find(const Value& key) const {
    if (form_ == Form::json) {
        if (!key.is(Kind::string)) return std::nullopt;
        return find(key.text());
    }
    const MapRep& rep = *payload_.map;
    if (key.is(Kind::real)) {
        const auto whole = whole_key(key.as_real());
        return whole ? find(*whole) : std::nullopt;
    }
    if (!key_kind(key)) return std::nullopt;
    if (rep.sorted.empty()) {
        for (const auto& [candidate, value] : rep.entries) {
            if (candidate == key) return value;
        }
        return std::nullopt;
    }
    const auto at = std::ranges::lower_bound(
        rep.sorted,
        key,
        [](const Value& left, const Value& right) { return key_order(left, right) < 0; },
        [&](std::uint32_t index) -> const Value& { return rep.entries[index].first; }
    );
    if (at == rep.sorted.end() || rep.entries[*at].first != key) return std::nullopt;
    return rep.entries[*at].second;
}

std::optional<Value> Value::find(std::string_view key) const {
    if (form_ != Form::json) return find(borrow_string(key));
    const auto& object = payload_.json->get_ref<const base::Json::object_t&>();
    const auto at = object.find(key);
    if (at == object.end()) return std::nullopt;
    return json(at->second);
}

std::vector<std::pair<Value, Value>> Value::entries() const {
    if (form_ != Form::json) return payload_.map->entries;
    std::vector<std::pair<Value, Value>> all;
    all.reserve(payload_.json->size());
    for (const auto& [key, value] : payload_.json->get_ref<const base::Json::object_t&>())
        all.emplace_back(borrow_string(key), json(value));
    return all;
}

}  // namespace nets::cel
