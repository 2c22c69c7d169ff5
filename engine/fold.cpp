#include "base/limits.hpp"
#include "engine/fold_parts.hpp"
#include "engine/retire.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<void> remember_request(State& state, const Event& event, Seq seq) {
    if (event.cause.empty()) return {};
    const auto cause = base::parse_json(event.cause, base::limits::stored);
    if (!cause || !cause->is_object() || !cause->contains("key")) return {};
    const std::string key = cause->at("key");
    const auto digest = base::Digest::from_hex(cause->value("digest", std::string{}));
    if (!digest) return fail(ErrorCode::validation, "cause without a digest");
    // One request may write several records: the first one names its answer.
    if (!state.requests.try_emplace(key, AnsweredRequest{*digest, seq}).second) return {};
    state.request_order.push_back(key);
    if (state.request_order.size() > State::requests_kept) {
        state.requests.erase(state.request_order.front());
        state.request_order.pop_front();
    }
    return {};
}

// Who may take a token that an operation holds: the record that ends the operation.
bool may_take(const Event& event, places::Holder holder) {
    if (holder == 0 || (holder & places::claim_bit) != 0) return true;
    return holder == event.operation.seq ||
           std::ranges::find(event.cancelled, base::OperationId{holder}) != event.cancelled.end();
}

// `gone` takes the cases, no longer in memory, that a token was of.
template <class Ids>
Result<void> remove(
    State& state, const Event& event, const Ids& ids, std::vector<base::CaseId>& gone
) {
    for (const auto id : ids) {
        const auto slot = state.store.find(id);
        if (slot == places::no_slot) {
            return fail(
                ErrorCode::validation, fmt::format("token {} is not there to consume", text(id))
            );
        }
        const auto& token = state.store.token(slot);
        if (!may_take(event, token.holder)) {
            return fail(
                ErrorCode::validation,
                fmt::format(
                    "token {} is held by operation {}",
                    text(id),
                    text(base::OperationId{token.holder})
                )
            );
        }
        if (token.hidden) state.delayed.erase({token.visible_at, token.id});
        count_token(state, token, -1);
        if (state.retired_owners.contains(token.case_id)) gone.push_back(token.case_id);
        state.store.remove(slot);
    }
    return {};
}

void produce(State& state, const Event& event, const RecordHead& head) {
    std::uint32_t n = 0;
    for (const auto& made : event.produced) {
        places::Token token;
        token.id = {head.seq, n++};
        token.place = made.place;
        if (state.store.place(made.place).cases) token.case_id = made.case_id;
        token.at = head.ts;
        token.visible_at = made.visible_at;
        token.hidden = made.visible_at.us != 0;
        token.data = made.data;
        if (token.hidden) state.delayed.emplace(token.visible_at, token.id);
        count_token(state, token, +1);
        state.store.add(std::move(token));
    }
}

// What the record changes besides its tokens. `before` is what must be there when tokens arrive.
Result<void> apply_before_tokens(State& state, const Event& event, const RecordHead& head) {
    if (event.type == EventType::net_deployed) return apply_deployed(state, event, head);
    if (event.type == EventType::case_started) return apply_case_started(state, event, head);
    return {};
}

Result<void> apply_after_tokens(State& state, const Event& event, const RecordHead& head) {
    switch (event.type) {
        case EventType::net_undeployed:
            return apply_undeployed(state, event);
        case EventType::case_ended:
        case EventType::case_cancelled:
            return apply_case_over(state, event, head);
        case EventType::dead_letter_redriven:
            return apply_redriven(state, event);
        case EventType::fired:
        case EventType::timer_set:
        case EventType::dead_letter_added:
            return apply_fired(state, event);
        case EventType::operation_invoking:
            return apply_invoking(state, event, head);
        case EventType::operation_retrying:
        case EventType::operation_uncertain:
            return apply_held_up(state, event);
        case EventType::operation_returned:
            return apply_returned(state, event, head);
        case EventType::operation_finalized:
        case EventType::operation_failed:
        case EventType::operation_abandoned:
        case EventType::operation_cancelled:
            return apply_over(state, event, head);
        case EventType::lease_granted:
            return apply_lease(state, event);
        case EventType::operation_late_result:
            return apply_late_result(state, event, head);
        case EventType::operation_progress:
            return apply_progress(state, event);
        case EventType::work_claimed:
        case EventType::work_extended:
        case EventType::work_released:
            return apply_work(state, event);
        case EventType::scheduling_paused:
        case EventType::scheduling_resumed:
            return apply_pause(state, event, head);
        case EventType::net_deployed:
        case EventType::tokens_put:
        case EventType::tokens_removed:
        case EventType::case_started:
        case EventType::lease_ended:
        case EventType::dead_letter_dropped:
        case EventType::tool_registered:
        case EventType::tool_changed:
        case EventType::tool_tamper_detected:
            return {};
    }
    return {};
}

}  // namespace

void count_token(State& state, const places::Token& token, int direction) {
    const auto by = static_cast<std::uint64_t>(direction);  // -1 wraps, as subtraction should
    const bool dead = token.place == state.dead_letter();
    if (dead) state.dead_letters += by;
    if (!token.case_id) return;
    Case* owner = state.find_case(token.case_id);
    if (owner == nullptr) return;
    if (dead) {
        owner->dead_letters += by;
    } else {
        owner->tokens += by;
        if (!owner->deployment->ends_in(token.place)) owner->open_tokens += by;
        if (token.hidden) owner->delayed += by;
    }
    reconsider(state, *owner);
}

Result<void> apply(State& state, const Event& event, const RecordHead& head) {
    if (head.seq != state.seq + 1) {
        return fail(
            ErrorCode::validation, fmt::format("record {} follows record {}", head.seq, state.seq)
        );
    }
    state.seq = head.seq;
    state.ts = head.ts;
    state.epoch = head.epoch;
    if (auto done = remember_request(state, event, head.seq); !done) return done;
    if (auto done = apply_before_tokens(state, event, head); !done) return done;
    std::vector<base::CaseId> gone;
    if (auto done = remove(state, event, event.consumed, gone); !done) return done;
    if (auto done = remove(state, event, event.reset, gone); !done) return done;
    if (auto done = apply_reset(state, event); !done) return done;
    produce(state, event, head);
    if (auto done = apply_after_tokens(state, event, head); !done) return done;
    for (const auto id : gone)
        if (state.store.first_of_case(id) == places::no_slot) state.retired_owners.erase(id);
    retire(state);
    return {};
}

std::vector<base::CaseId> reveal_due(State& state, base::Timestamp now) {
    std::vector<base::CaseId> cases;
    while (!state.delayed.empty() && state.delayed.begin()->first <= now) {
        const auto id = state.delayed.begin()->second;
        state.delayed.erase(state.delayed.begin());
        const auto slot = state.store.find(id);
        const auto case_id = state.store.token(slot).case_id;
        if (Case* owner = state.find_case(case_id)) {
            --owner->delayed;
            cases.push_back(case_id);
        }
        state.store.reveal(slot);
    }
    return cases;
}

}  // namespace engine
