#include "base/limits.hpp"
#include "engine/decisions.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// The end tokens of a case, in order of arrival.
std::vector<const places::Token*> end_tokens(const State& state, const Case& over) {
    std::vector<const places::Token*> tokens;
    for (auto slot = state.store.first_of_case(over.id); slot != places::no_slot;
         slot = state.store.next_of_case(slot)) {
        const auto& token = state.store.token(slot);
        if (over.deployment->ends_in(token.place)) tokens.push_back(&token);
    }
    std::ranges::sort(tokens, {}, [](const auto* token) { return token->id; });
    return tokens;
}

// The data of the only end token; of more (or none) a list.
Result<std::string> result_of(const std::vector<const places::Token*>& tokens) {
    if (tokens.size() == 1) return std::string(tokens.front()->data.view());
    std::string list = "[";
    for (const auto* token : tokens) {
        if (list.size() > 1) list += ',';
        list += token->data.view();
        if (list.size() > child_result_bytes_max) {
            return fail(
                ErrorCode::too_large,
                fmt::format(
                    "the end tokens of the child case are over {} bytes", child_result_bytes_max
                ),
                "let the child net gather them into blobs"
            );
        }
    }
    return list + "]";
}

std::optional<std::string> text_at(const base::Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
}

// Why a case failed: what its first dead letter says.
base::Error failure_of(const State& state, const Case& over) {
    const places::Token* first = nullptr;
    for (auto slot = state.store.first_of_case(over.id); slot != places::no_slot;
         slot = state.store.next_of_case(slot)) {
        const auto& token = state.store.token(slot);
        if (token.place != state.dead_letter()) continue;
        if (first == nullptr || token.id < first->id) first = &token;
    }
    base::Error error{ErrorCode::internal, "", {}, {}};
    std::string why = "it has dead letters";
    if (first != nullptr) {
        const auto letter = base::parse_json(first->data.view(), base::limits::stored);
        if (letter && letter->is_object() && letter->contains("error")) {
            const auto& quoted = letter->at("error");
            error.code = base::error_code_from_name(text_at(quoted, "code").value_or(""))
                             .value_or(ErrorCode::internal);
            why = text_at(quoted, "message").value_or(why);
        }
    }
    error.message = fmt::format(
        "case {} of net '{}' failed: {}", text(over.id), over.deployment->net->name, why
    );
    return error;
}

// What the child case is to start with.
Result<std::string> input_of(const Operation& operation) {
    const auto call = base::parse_json(operation.call, base::limits::stored);
    if (call && call->is_object() && call->contains("input"))
        return base::canonical(call->at("input"));
    return fail(
        ErrorCode::tamper,
        fmt::format(
            "the stored call of operation {} cannot be read: {}",
            text(operation.id),
            call ? "it has no input" : call.error().message
        ),
        "netwright audit verify"
    );
}

}  // namespace

void Decisions::start_child(base::OperationId id) {
    const Operation& operation = *state().find_operation(id);
    const auto& rules = std::get<nets::ChildNet>(operation.rules().action);
    const auto input = input_of(operation);
    auto event = input ? case_start(state(), rules.net, rules.version.value_or(""), *input)
                       : base::fail(input.error());
    if (!event) {
        settle({
            .operation = id,
            .attempt = operation.attempt,
            .kind = Outcome::Kind::never_started,
            .error = std::move(event.error()),
        });
        return;
    }
    event->operation = id;
    const std::string* above = state().owner_of(operation.case_id);
    // No request asked for this case: it answers none.
    const Asker owner{
        .actor = above != nullptr ? *above : operation.deployment->by, .now = asker.now
    };
    const base::CaseId child{model.emit(std::move(*event), owner)};
    end_if_quiet(child);
}

void Decisions::child_over(base::CaseId id) {
    const Case& over = *state().find_case(id);
    if (!over.parent) return;
    const Operation* operation = state().find_operation(over.parent);
    if (operation == nullptr || operation->child != id) return;
    if (operation->state != OperationState::invoking) return;
    Outcome outcome{.operation = operation->id, .attempt = operation->attempt};
    base::Json meta = {
        {"case", text(id)},
        {"net", over.deployment->net->name},
        {"version", over.deployment->net->version},
        {"state", name(over.state)},
        {"operation", text(operation->id)},
    };
    outcome.kind = Outcome::Kind::error;
    if (over.state == CaseState::completed) {
        const auto tokens = end_tokens(state(), over);
        meta["places"] = base::Json::array();
        for (const auto* token : tokens)
            meta["places"].push_back(state().store.place(token->place).name);
        auto result = result_of(tokens);
        if (result) {
            outcome.kind = Outcome::Kind::returned;
            outcome.result = std::move(*result);
        } else {
            outcome.error = std::move(result.error());
        }
    } else if (over.state == CaseState::failed) {
        outcome.error = failure_of(state(), over);
    } else {
        outcome.error = {
            ErrorCode::cancelled, fmt::format("case {} was cancelled", text(id)), {}, {}
        };
    }
    outcome.meta = base::canonical(meta);
    if (outcome.kind == Outcome::Kind::error) outcome.details = outcome.meta;
    settle(std::move(outcome));
}

void Decisions::cancel_child(base::CaseId id) {
    const Case* child = state().find_case(id);
    if (child == nullptr || child->state != CaseState::running) return;
    // A consequence, not what was asked for: it answers no request.
    const Asker quiet{.actor = asker.actor, .now = asker.now};
    Decisions{model, quiet}.cancel(id);
}

}  // namespace engine
