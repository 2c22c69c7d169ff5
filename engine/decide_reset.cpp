#include "engine/decisions.hpp"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

// The join key that the tokens of a binding share; empty when no arc has one.
std::string key_of(const State& state, const nets::Transition& rules, const Binding& binding) {
    for (const std::size_t arc : rules.binding_order) {
        if (!rules.in[arc].key || binding.arcs[arc].empty()) continue;
        const auto slot = binding.arcs[arc].front();
        if (slot == places::no_slot) continue;
        return classify(rules.in[arc], state.store.token(slot)).value_or(std::string{});
    }
    return {};
}

template <class Value>
void add_once(std::vector<Value>& to, const Value& value) {
    if (std::ranges::find(to, value) == to.end()) to.push_back(value);
}

// Gathers the tokens of one reset arc.
struct Gathering {
    const Model& model;
    const nets::InputArc& arc;
    base::CaseId case_id;
    const std::string& key;
    const std::vector<places::Slot>& taken;  // by the firing itself, sorted
    Resets& into;

    [[nodiscard]] base::CaseId case_of_holder(places::Holder holder) const {
        if ((holder & places::claim_bit) != 0) {
            return model.claims().at(holder).enabled.binding.case_id;
        }
        return model.state().find_operation({holder})->case_id;
    }

    // A token without a case that another case's firing holds is that case's for now.
    [[nodiscard]] bool concerns(const places::Token& token) const {
        if (arc.any_case || token.case_id || token.holder == 0) return true;
        const auto of = case_of_holder(token.holder);
        return !of || of == case_id;
    }

    void look(places::Slot slot) {
        const auto& token = model.state().store.token(slot);
        if (std::ranges::binary_search(taken, slot) || !concerns(token)) return;
        const auto found = classify(arc, token);
        if (!found || (arc.key && *found != key)) return;
        into.tokens.push_back(slot);
        if (token.holder == 0) return;
        if ((token.holder & places::claim_bit) != 0) {
            add_once(into.claims, token.holder);
        } else {
            add_once(into.operations, base::OperationId{token.holder});
        }
    }
};

}  // namespace

Resets resets(
    const Model& model,
    const Deployment& deployment,
    const nets::Transition& rules,
    const Binding& binding
) {
    Resets found;
    const auto resetting = [](const nets::InputArc& arc) {
        return arc.kind == nets::ArcKind::reset;
    };
    if (std::ranges::none_of(rules.in, resetting)) return found;
    const std::string key = key_of(model.state(), rules, binding);
    std::vector<places::Slot> taken;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (rules.in[arc].kind != nets::ArcKind::consume) continue;
        taken.insert(taken.end(), binding.arcs[arc].begin(), binding.arcs[arc].end());
    }
    std::ranges::sort(taken);
    const auto& store = model.state().store;
    for (const auto& arc : rules.in) {
        if (!resetting(arc)) continue;
        Gathering gathering{model, arc, binding.case_id, key, taken, found};
        const auto place = deployment.places[arc.place];
        for (auto slot = store.first_of_case(binding.case_id);
             !arc.any_case && slot != places::no_slot;
             slot = store.next_of_case(slot)) {
            if (store.token(slot).place == place) gathering.look(slot);
        }
        if (!arc.any_case && store.place(place).caseless == 0) continue;
        for (auto slot = store.first_in(place); slot != places::no_slot;
             slot = store.next_in_place(slot)) {
            if (arc.any_case || !store.token(slot).case_id) gathering.look(slot);
        }
    }
    std::ranges::sort(found.tokens, {}, [&](places::Slot slot) { return store.token(slot).id; });
    const auto twice = std::ranges::unique(found.tokens);  // several arcs may reset a token
    found.tokens.erase(twice.begin(), twice.end());
    std::ranges::sort(found.operations);
    return found;
}

void Decisions::emit_with(const Resets& resets, Event&& event) {
    if (resets.empty()) {
        const auto case_id = event.case_id;
        emit(std::move(event));
        if (case_id) end_if_quiet(case_id);
        return;
    }
    std::vector<base::CaseId> cases;
    if (event.case_id) cases.push_back(event.case_id);
    for (const auto slot : resets.tokens) {
        const auto& token = state().store.token(slot);
        event.reset.push_back(token.id);
        if (token.case_id) add_once(cases, token.case_id);
    }
    std::vector<TransitionId> freed;
    std::vector<base::CaseId> children;
    for (const auto id : resets.operations) {
        const Operation& ending = *state().find_operation(id);
        const bool performed = performer(ending.rules()) == Performer::handler;
        const bool runs =
            ending.state == OperationState::invoking || ending.state == OperationState::uncertain;
        if (performed && runs) model.want(Cancel{id});
        if (ending.child) children.push_back(ending.child);
        if (ending.case_id) add_once(cases, ending.case_id);
        freed.push_back(ending.transition);
    }
    event.cancelled = resets.operations;
    for (const auto claim : resets.claims)
        drop_claim(claim);
    emit(std::move(event));
    for (const auto transition : freed)
        scheduler().freed(transition);
    for (const auto child : children)
        cancel_child(child);
    for (const auto case_id : cases)
        end_if_quiet(case_id);
}

}  // namespace engine
