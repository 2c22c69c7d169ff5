#include "engine/binding.hpp"

#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace engine {

using nets::FixedName;
using places::no_slot;
using places::Slot;

Scope::Scope(const State& state, const nets::Transition& rules)
    : state_(state), rules_(rules), values_(rules.name_count()), loaded_(rules.in.size()) {}

Scope::~Scope() = default;

void Scope::bind(const Binding& binding, base::CaseId case_id) {
    binding_ = &binding;
    loaded_.assign(rules_.in.size(), false);
    if (!case_id) return;
    base::Json value = base::Json::object({{"id", text(case_id)}});
    kept_.push_back(std::make_unique<base::Json>(std::move(value)));
    set(FixedName::case_, nets::cel::Value::json(*kept_.back()));
}

const base::Json& Scope::keep(std::string_view text) {
    auto parsed = base::parse_json(text);
    base::check(parsed.has_value(), "what the engine stored reads back");
    kept_.push_back(std::make_unique<base::Json>(std::move(*parsed)));
    return *kept_.back();
}

void Scope::bind_text(std::size_t arc, std::string_view json) {
    values_[arc] = nets::cel::Value::json(keep(json));
    loaded_[arc] = true;
}

void Scope::set(FixedName name, nets::cel::Value value) {
    values_[rules_.in.size() + static_cast<std::size_t>(name)] = std::move(value);
}

base::Result<void> Scope::set_json(FixedName name, std::string_view json) {
    auto parsed = base::parse_json(json);
    if (!parsed) return base::fail(std::move(parsed.error()));
    kept_.push_back(std::make_unique<base::Json>(std::move(*parsed)));
    set(name, nets::cel::Value::json(*kept_.back()));
    return {};
}

const places::Payload* Scope::payload(std::size_t arc) const {
    if (binding_ == nullptr || rules_.in[arc].takes_list || loaded_[arc]) return nullptr;
    return &state_.store.token(binding_->arcs[arc].front()).data;
}

void Scope::load(std::size_t arc) {
    if (loaded_[arc] || binding_ == nullptr) return;
    loaded_[arc] = true;
    const auto& tokens = binding_->arcs[arc];
    if (!rules_.in[arc].takes_list) {
        values_[arc] = nets::cel::Value::json(keep(state_.store.token(tokens.front()).data.view()));
        return;
    }
    std::vector<nets::cel::Value> elements;
    for (const Slot slot : tokens) {
        elements.push_back(nets::cel::Value::json(keep(state_.store.token(slot).data.view())));
    }
    values_[arc] = nets::cel::Value::list(std::move(elements));
}

namespace {

// The bindable tokens of one arc for one candidate: those of the case and those without one, older
// first.
class Queue {
public:
    Queue(const State& state, const ArcSource& source, const Candidate& candidate)
        : store_(state.store), index_(source.index) {
        const std::string_view key = source.keyed ? std::string_view(candidate.key) : "";
        const base::CaseId own{source.any_case ? 0 : candidate.case_seq};
        own_ = first(source.place, own, key);
        if (own) free_ = first(source.place, {}, key);
    }
    [[nodiscard]] Slot peek() const {
        if (own_ == no_slot) return free_;
        if (free_ == no_slot) return own_;
        return store_.token(free_).id < store_.token(own_).id ? free_ : own_;
    }
    void advance() {
        Slot& from = peek() == own_ ? own_ : free_;
        from = index_ != nullptr ? index_->next(from) : store_.next_bindable(from);
    }

private:
    [[nodiscard]] Slot first(places::PlaceId place, base::CaseId of, std::string_view key) const {
        return index_ != nullptr ? index_->first(of, key) : store_.first_bindable(place, of);
    }
    const places::Store& store_;
    const places::Index* index_;
    Slot own_ = no_slot;
    Slot free_ = no_slot;
};

class Binder {
public:
    explicit Binder(const BindRequest& request)
        : request_(request), scope_(request.state, request.rules) {
        binding_.case_id = {request.candidate.case_seq};
        binding_.arcs.resize(request.rules.in.size());
    }

    std::expected<Binding, Unbound> run() {
        if (choose(0)) {
            settle_case();
            return std::move(binding_);
        }
        if (guard_failed_) return std::unexpected(Unbound{Unbound::Reason::guard, 0});
        return std::unexpected(Unbound{Unbound::Reason::arc, missing_});
    }

private:
    [[nodiscard]] bool taken(Slot slot, std::size_t before) const {
        for (std::size_t arc = 0; arc < before; ++arc) {
            if (std::ranges::find(binding_.arcs[arc], slot) != binding_.arcs[arc].end())
                return true;
        }
        return false;
    }

    // Chooses tokens for this arc and those after it; the last arc varies fastest.
    bool choose(std::size_t arc) {
        if (arc == request_.rules.in.size()) return guard_holds();
        auto& chosen = binding_.arcs[arc];
        const auto* weight = std::get_if<nets::FixedWeight>(&request_.rules.in[arc].take);
        const std::uint64_t count = weight != nullptr ? weight->count : 1;
        if (request_.fixed && request_.fixed->arc == arc && count == 1) {
            chosen.assign(1, request_.fixed->slot);
            return !taken(request_.fixed->slot, arc) && choose(arc + 1);
        }
        Queue queue(request_.state, request_.sources[arc], request_.candidate);
        while (true) {
            chosen.clear();
            while (chosen.size() < count && queue.peek() != no_slot) {
                const Slot slot = queue.peek();
                queue.advance();
                if (!taken(slot, arc)) chosen.push_back(slot);
            }
            if (chosen.size() < count) {
                if (!reached_guard_) missing_ = arc;
                chosen.clear();
                return false;
            }
            if (choose(arc + 1)) return true;
            // Without a guard another token would fail at the same later arc.
            if (!reached_guard_ || tries_ >= guard_tries_max) return false;
        }
    }

    bool guard_holds() {
        const auto& guard = request_.rules.guard;
        if (!guard) return true;
        reached_guard_ = true;
        ++tries_;
        scope_.bind(binding_, binding_.case_id);
        scope_.set(FixedName::now, nets::cel::Value::timestamp(request_.now));
        scope_.budget = {};
        const auto value = guard->evaluate(scope_.values(*guard), scope_.budget);
        const bool holds = value && value->is(nets::cel::Kind::boolean) && value->as_boolean();
        guard_failed_ |= !holds;
        return holds;
    }

    // A candidate without a case may have bound a token with one, over an arc that takes any case.
    void settle_case() {
        if (binding_.case_id) return;
        for (std::size_t arc = 0; arc < binding_.arcs.size(); ++arc) {
            if (request_.rules.in[arc].kind != nets::ArcKind::consume) continue;
            for (const Slot slot : binding_.arcs[arc]) {
                binding_.case_id = request_.state.store.token(slot).case_id;
                if (binding_.case_id) return;
            }
        }
    }

    const BindRequest& request_;
    Scope scope_;
    Binding binding_;
    std::size_t missing_ = 0;
    std::size_t tries_ = 0;
    bool reached_guard_ = false;
    bool guard_failed_ = false;
};

}  // namespace

std::expected<Binding, Unbound> bind(const BindRequest& request) {
    return Binder(request).run();
}

std::optional<std::string> classify(const nets::InputArc& arc, const places::Token& token) {
    if (!arc.where && !arc.key) return std::string{};
    const auto data = base::parse_json(token.data.view());
    if (!data) return std::nullopt;
    const nets::cel::Value value = nets::cel::Value::json(*data);
    nets::cel::Budget budget;
    if (arc.where) {
        const auto taken = arc.where->evaluate({&value, 1}, budget);
        if (!taken || !taken->is(nets::cel::Kind::boolean) || !taken->as_boolean()) {
            return std::nullopt;
        }
    }
    std::string key;
    if (!arc.key) return key;
    const auto joined = arc.key->evaluate({&value, 1}, budget);
    if (!joined) return std::nullopt;
    // 1 and 1.0 are one key, as they are equal in the language.
    const bool whole =
        joined->is(nets::cel::Kind::real) &&
        joined->as_real() == static_cast<double>(static_cast<std::int64_t>(joined->as_real()));
    const auto written = nets::cel::append_canonical(
        key,
        whole ? nets::cel::Value::integer(static_cast<std::int64_t>(joined->as_real())) : *joined
    );
    if (!written) return std::nullopt;
    return key;
}

}  // namespace engine
