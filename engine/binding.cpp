#include "engine/binding.hpp"

#include "base/limits.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace engine {

using nets::FixedName;
using places::Slot;

namespace {

base::Error unreadable_value(const base::Error& why) {
    return {
        base::ErrorCode::tamper,
        fmt::format("a stored value cannot be read: {}", why.message),
        "netwright audit verify",
        {}
    };
}

}  // namespace

Scope::Scope(const State& state, const nets::Transition& rules)
    : state_(state), rules_(rules), values_(rules.name_count()), loaded_(rules.in.size()) {}

Scope::~Scope() = default;

// Arcs that are bound to the same tokens as before keep their values: a search changes one at a
// time.
void Scope::bind(const Binding& binding, base::CaseId case_id) {
    binding_ = &binding;
    for (std::size_t arc = 0; arc < loaded_.size(); ++arc) {
        Loaded& loaded = loaded_[arc];
        if (loaded.done && !loaded.given && loaded.tokens == binding.arcs[arc]) continue;
        loaded = {};
    }
    if (!case_id || case_id == case_id_) return;
    case_id_ = case_id;
    base::Json value = base::Json::object({{"id", text(case_id)}});
    kept_.push_back(std::make_unique<base::Json>(std::move(value)));
    set(FixedName::case_, nets::cel::Value::json(*kept_.back()));
}

nets::cel::Value Scope::stored(
    std::vector<std::unique_ptr<base::Json>>& kept, std::string_view json
) {
    auto parsed = base::parse_json(json, base::limits::stored);
    if (!parsed) {
        unreadable_ = unreadable_value(parsed.error());
        return {};
    }
    kept.push_back(std::make_unique<base::Json>(std::move(*parsed)));
    return nets::cel::Value::json(*kept.back());
}

void Scope::bind_text(std::size_t arc, std::string_view json) {
    Loaded& loaded = loaded_[arc];
    loaded = {.done = true, .given = true, .tokens = {}, .kept = {}};
    values_[arc] = stored(loaded.kept, json);
}

void Scope::set(FixedName name, nets::cel::Value value) {
    values_[rules_.in.size() + static_cast<std::size_t>(name)] = std::move(value);
}

base::Result<void> Scope::set_json(FixedName name, std::string_view json) {
    auto parsed = base::parse_json(json, base::limits::stored);
    if (!parsed) return base::fail(unreadable_value(parsed.error()));
    kept_.push_back(std::make_unique<base::Json>(std::move(*parsed)));
    set(name, nets::cel::Value::json(*kept_.back()));
    return {};
}

const places::Payload* Scope::payload(std::size_t arc) const {
    if (binding_ == nullptr || rules_.in[arc].takes_list || loaded_[arc].given) return nullptr;
    if (binding_->arcs[arc].empty()) return nullptr;
    return &state_.store.token(binding_->arcs[arc].front()).data;
}

void Scope::load(std::size_t arc) {
    if (loaded_[arc].done || binding_ == nullptr) return;
    Loaded& loaded = loaded_[arc];
    loaded.done = true;
    loaded.tokens = binding_->arcs[arc];
    if (!rules_.in[arc].takes_list) {
        values_[arc] = {};
        if (loaded.tokens.empty()) return;  // an or-join went without it
        values_[arc] = stored(loaded.kept, state_.store.token(loaded.tokens.front()).data.view());
        return;
    }
    std::vector<nets::cel::Value> elements;
    for (const Slot slot : loaded.tokens) {
        elements.push_back(stored(loaded.kept, state_.store.token(slot).data.view()));
    }
    values_[arc] = nets::cel::Value::list(std::move(elements));
}

std::optional<std::string> classify(const nets::InputArc& arc, const places::Token& token) {
    if (!arc.where && !arc.key) return std::string{};
    const auto data = base::parse_json(token.data.view(), base::limits::stored);
    if (!data) return std::nullopt;
    const nets::cel::Value value = nets::cel::Value::json(*data);
    nets::cel::Budget budget;
    if (arc.where) {
        const auto taken = arc.where->evaluate({&value, 1}, budget);
        if (!taken || !taken->is(nets::cel::Kind::boolean) || !taken->as_boolean()) {
            return std::nullopt;
        }
    }
    if (!arc.key) return std::string{};
    const auto joined = arc.key->evaluate({&value, 1}, budget);
    if (!joined) return std::nullopt;
    return nets::cel::identity(*joined);  // keys are equal as `==` has it: 1 and 1.0 are
}

std::optional<std::string> classify_error(const nets::InputArc& arc, const places::Token& token) {
    const auto data = base::parse_json(token.data.view(), base::limits::stored);
    if (!data) return data.error().message;
    const nets::cel::Value value = nets::cel::Value::json(*data);
    nets::cel::Budget budget;
    if (arc.where) {
        const auto taken = arc.where->evaluate({&value, 1}, budget);
        if (!taken) return "'where': " + taken.error().message;
        if (!taken->is(nets::cel::Kind::boolean)) {
            return "'where': is " + nets::cel::a_kind(taken->kind()) + ", not a bool";
        }
        if (!taken->as_boolean()) return std::nullopt;
    }
    if (!arc.key) return std::nullopt;
    const auto joined = arc.key->evaluate({&value, 1}, budget);
    if (!joined) return "'key': " + joined.error().message;
    if (!nets::cel::identity(*joined)) return "'key': NaN is equal to no key";
    return std::nullopt;
}

namespace {

// Numbers of both kinds sort among each other; whole ones beyond 2^53 by what the double lost.
void append_rank(std::string& out, std::uint64_t bits) {
    for (int shift = 56; shift >= 0; shift -= 8)
        out += static_cast<char>(bits >> static_cast<unsigned>(shift));
}

std::uint64_t sortable(std::int64_t value) {
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63U);
}

std::uint64_t sortable(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);  // no minus zero
    const auto sign = std::uint64_t{1} << 63U;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

}  // namespace

std::optional<std::string> rank(const nets::InputArc& arc, const places::Token& token) {
    const auto data = base::parse_json(token.data.view(), base::limits::stored);
    if (!data) return std::nullopt;
    const nets::cel::Value value = nets::cel::Value::json(*data);
    nets::cel::Budget budget;
    const auto found = arc.order_by->evaluate({&value, 1}, budget);
    if (!found) return std::nullopt;
    using nets::cel::Kind;
    std::string bytes;
    if (found->is(Kind::boolean)) {
        bytes = found->as_boolean() ? "b1" : "b0";
    } else if (found->is(Kind::integer)) {
        const std::int64_t whole = found->as_integer();
        const auto rounded = static_cast<double>(whole);
        bytes = "n";
        append_rank(bytes, sortable(rounded));
        append_rank(bytes, sortable(whole));
    } else if (found->is(Kind::real) && !std::isnan(found->as_real())) {
        bytes = "n";
        append_rank(bytes, sortable(found->as_real()));
        const bool fits = std::abs(found->as_real()) < 9e18;
        append_rank(bytes, sortable(fits ? static_cast<std::int64_t>(found->as_real()) : 0));
    } else if (found->is(Kind::timestamp) || found->is(Kind::duration)) {
        bytes = found->is(Kind::timestamp) ? "t" : "d";
        append_rank(bytes, sortable(found->as_span().seconds));
        append_rank(bytes, static_cast<std::uint64_t>(found->as_span().nanoseconds));
    } else if (found->is(Kind::string)) {
        bytes = "s";
        bytes += found->text();
    } else {
        return std::nullopt;
    }
    return bytes;
}

}  // namespace engine
