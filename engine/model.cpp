#include "base/json.hpp"
#include "engine/decisions.hpp"
#include "engine/inconsistent.hpp"
#include "engine/record.hpp"
#include "engine/retire.hpp"
#include "engine/snapshot.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace engine {

Model::Model(std::string id) : state_(std::move(id)), scheduler_(state_) {}

Model::~Model() = default;

base::Result<void> Model::replay(std::string_view bytes) {
    base::check(!live_, "a live model replays nothing");
    // What a record holds is input. Its JSON may have another shape than this version writes.
    try {
        auto parsed = parse(state_, bytes);
        if (!parsed) return base::fail(std::move(parsed.error()));
        state_.leaving.clear();
        return apply(state_, parsed->event, parsed->head);
    } catch (const base::Json::exception& error) {
        return base::fail(base::ErrorCode::validation, error.what());
    }
}

base::Result<void> Model::restore(SnapshotReader& reader) {
    base::check(!live_ && state_.seq == 0, "a snapshot comes first");
    return read_snapshot(state_, reader);
}

void Model::go_live(base::Timestamp now) {
    live_ = true;
    revealed_ = reveal_due(state_, now);
    state_.store.record_changes(true);
    scheduler_.advance(now);
    scheduler_.rebuild();
    for (const auto& [id, operation] : state_.operations) {
        if (operation.state == OperationState::retrying) retries_.emplace(operation.next, id);
    }
    const Asker asker{.now = now};
    Decisions decisions{*this, asker};
    decisions.open_timers();
    decisions.resume_waits();
}

void Model::follow_wall(base::Duration ahead) {
    const base::Duration back = wall_ahead_ - ahead;
    wall_ahead_ = ahead;
    if (!live_) return;
    const Asker asker{.now = now_};
    Decisions{*this, asker}.wall_went_back(back);
}

base::Timestamp Model::next_turn(TransitionId timer) const {
    const auto found = turns_.find(timer);
    const base::Timestamp recorded = state_.transitions[timer].timer_next;
    const bool known = found != turns_.end() && found->second.recorded == recorded;
    return known ? found->second.due : recorded;
}

Seq Model::emit(Event&& event, const Asker& asker) {
    event.actor = asker.actor;
    if (!asker.request_key.empty() && event.cause.empty()) {
        event.cause = R"({"digest":")" + asker.request_digest.hex() + R"(","key":)";
        base::append_canonical_string(event.cause, asker.request_key);
        event.cause += '}';
    }
    const RecordHead head{state_.seq + 1, std::max(asker.now, state_.ts), epoch_};
    if (rendering_) render(batch_, state_, event, head);
    const auto applied = apply(state_, event, head);
    if (!applied) throw Inconsistent(applied.error().message);
    for (const Case& gone : state_.leaving)
        if (rendering_) batch_.cases.push_back({gone.id, retired_text(gone)});
    state_.leaving.clear();
    if (event.type == EventType::net_deployed || event.type == EventType::net_undeployed) {
        scheduler_.rebuild();
        Decisions{*this, asker}.start_timers();
    } else {
        scheduler_.absorb();
    }
    // Whoever is over waits for no room.
    if (event.operation && state_.find_operation(event.operation) == nullptr)
        scheduler_.stop_waiting(event.operation.seq);
    for (const auto id : event.cancelled)
        scheduler_.stop_waiting(id.seq);
    return head.seq;
}

void Model::come_to(base::Timestamp now) {
    // No record is older than the one before it.
    const base::Timestamp at = std::max(now, state_.ts);
    now_ = std::max(now_, at);
    scheduler_.advance(at);
    if (state_.delayed.empty() || state_.delayed.begin()->first > at) return;
    const auto cases = reveal_due(state_, at);
    revealed_.insert(revealed_.end(), cases.begin(), cases.end());
    scheduler_.absorb();
}

std::size_t Model::pump(base::Timestamp now, std::size_t firings_max) {
    const Asker asker{.now = now};
    Decisions decisions{*this, asker};
    // A token that waited on an end place was all that its case was waiting for.
    for (const auto case_id : std::exchange(revealed_, {}))
        decisions.end_if_quiet(case_id);
    std::size_t fired = 0;
    const auto serve_waiting = [&] {
        while (fired < firings_max) {
            const auto holder = scheduler_.next_roomy();
            if (!holder) return;
            if (decisions.room_came(*holder)) ++fired;
        }
    };
    serve_waiting();
    while (fired < firings_max && !retries_.empty() && retries_.begin()->first <= now) {
        const auto id = retries_.begin()->second;
        retries_.erase(retries_.begin());
        decisions.retry_due(id);
        ++fired;
    }
    while (fired < firings_max && !deadlines_.empty() && deadlines_.begin()->first <= now) {
        const auto id = deadlines_.begin()->second;
        deadlines_.erase(deadlines_.begin());
        decisions.deadline_due(id);
        ++fired;
    }
    while (fired < firings_max && !timers_.empty() && timers_.begin()->first <= now) {
        const auto id = timers_.begin()->second;
        timers_.erase(timers_.begin());
        decisions.fire_timer(id);
        ++fired;
    }
    while (true) {
        serve_waiting();
        if (fired >= firings_max) break;
        const auto enabled = scheduler_.next(now);
        if (!enabled) break;
        if (decisions.fire(*enabled)) ++fired;
    }
    return fired;
}

std::optional<base::Timestamp> Model::next_due() const {
    std::optional<base::Timestamp> due;
    const auto sooner = [&](base::Timestamp at) { due = due ? std::min(*due, at) : at; };
    if (!state_.delayed.empty()) sooner(state_.delayed.begin()->first);
    if (!retries_.empty()) sooner(retries_.begin()->first);
    if (!deadlines_.empty()) sooner(deadlines_.begin()->first);
    if (!timers_.empty()) sooner(timers_.begin()->first);
    if (const auto ripe = scheduler_.next_ripe()) sooner(*ripe);
    return due;
}

}  // namespace engine
