#include "engine/scheduler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

// What wakes whom: tokens that arrive, leave or come of age.
namespace engine {

using places::Slot;

void Scheduler::absorb() {
    auto& changes = state_.store.changes();
    // A place made since the last look has no reader yet.
    if (readers_.size() < state_.store.place_count()) {
        readers_.resize(state_.store.place_count());
        room_waiters_.resize(state_.store.place_count());
        watchers_.resize(state_.store.place_count());
        room_watchers_.resize(state_.store.place_count());
    }
    for (const auto& change : changes) {
        switch (change.kind) {
            case places::Change::Kind::bindable:
                arrived(change);
                break;
            case places::Change::Kind::left:
                left(change);
                break;
            case places::Change::Kind::room:
                room_in(change.place);
                break;
        }
    }
    changes.clear();
}

void Scheduler::advance(base::Timestamp now) {
    now_ = std::max(now_, now);
    while (!ripening_.empty() && ripening_.top().at <= now_) {
        const Ripening ripe = ripening_.top();
        ripening_.pop();
        const Slot slot = state_.store.find(ripe.token);
        if (slot == places::no_slot || !runtimes_[ripe.reader.transition]) continue;
        const auto& token = state_.store.token(slot);
        // One that was taken and comes back arrives anew.
        if (token.holder == 0 && !token.hidden) arrived(ripe.reader, slot, token.case_id);
    }
}

std::optional<base::Timestamp> Scheduler::next_ripe() const {
    if (ripening_.empty()) return std::nullopt;
    return ripening_.top().at;
}

// A token is gone: what it kept from happening may happen now.
void Scheduler::left(const places::Change& change) {
    for (const auto id : room_watchers_[change.place])
        look_again(id, runtimes_[id]->sees_all ? base::CaseId{} : change.case_id);
    for (const auto id : watchers_[change.place]) {
        Runtime& runtime = *runtimes_[id];
        if (!runtime.keyed && !runtime.sees_all && change.case_id) {
            // Tokens without a case may have been bound with it, over an arc that takes any.
            for (const auto case_seq : {change.case_id.seq, base::CaseId{}.seq}) {
                const auto found = runtime.standing.find(Candidate{case_seq, {}});
                if (found == runtime.standing.end()) continue;
                start_over(runtime, found->second);
                if (found->second.where == in_ready || found->second.where == in_search) continue;
                make_ready(id, found->first, found->second);
            }
            continue;
        }
        for (auto& [candidate, standing] : runtime.standing) {
            const bool concerned = !change.case_id || runtime.sees_all || candidate.case_seq == 0 ||
                                   candidate.case_seq == change.case_id.seq;
            if (!concerned) continue;
            start_over(runtime, standing);
            if (standing.where != in_ready && standing.where != in_search)
                make_ready(id, candidate, standing);
        }
    }
}

void Scheduler::arrived(const places::Change& change) {
    for (const Reader& reader : readers_[change.place])
        arrived(reader, change.slot, change.case_id);
}

void Scheduler::arrived(const Reader& reader, Slot slot, base::CaseId case_id) {
    Runtime& runtime = *runtimes_[reader.transition];
    const ArcSource& source = runtime.sources[reader.arc];
    Candidate candidate;
    if (source.index != nullptr) {
        const auto* group = source.index->group(slot);
        if (group == nullptr) return;  // filtered out, or taken meanwhile
        candidate.key = group->key;
    }
    const base::TokenId token = state_.store.token(slot).id;
    const base::Duration age = runtime.rules().in[reader.arc].age;
    if (age.us > 0) {
        const auto at = ripe_at(state_.store.token(slot), age);
        if (at > now_) {
            ripening_.push({at, token, reader});
            return;
        }
    }
    const bool one_case = !source.any_case && case_id;
    candidate.case_seq = one_case ? case_id.seq : 0;
    if (runtime.keyed && !source.keyed) {
        // No key of its own: every key of the case may go with it.
        wake_all(reader.transition, reader.arc, token, one_case ? case_id : base::CaseId{});
        return;
    }
    offer(reader.transition, candidate, reader.arc, token);
    if (one_case) return;
    // Without a case it goes with the tokens of any.
    if (!runtime.keyed) return wake_all(reader.transition, reader.arc, token, {});
    const auto cases = runtime.cases_of_key.find(candidate.key);
    if (cases == runtime.cases_of_key.end()) return;
    for (const std::uint64_t seq : cases->second) {
        offer(reader.transition, Candidate{seq, candidate.key}, reader.arc, token);
    }
}

// Older ones first: one that comes back after a firing let it go is older than those that came
// since. The first stays first while a search with it goes on.
void Scheduler::freshen(
    Runtime& runtime, Standing& standing, std::size_t arc, base::TokenId token
) {
    if (!runtime.rules().guard || runtime.search) return;
    // Until a token comes to the arc that has none there are no combinations.
    if (standing.where < runtime.parked.size() && standing.where != arc) return;
    const auto first = std::next(standing.fresh.begin(), standing.progress ? 1 : 0);
    auto at = standing.fresh.end();
    while (at != first && token < std::prev(at)->second)
        --at;
    standing.fresh.emplace(at, arc, token);
}

// What was tried may do now.
void Scheduler::start_over(Runtime& runtime, Standing& standing) {
    if (!runtime.search || !standing.progress) return;
    standing.progress.reset();
    ++standing.restarts;
}

void Scheduler::offer(
    TransitionId id, const Candidate& candidate, std::size_t arc, base::TokenId token
) {
    Runtime& runtime = *runtimes_[id];
    auto [entry, made] = runtime.standing.try_emplace(candidate);
    Standing& standing = entry->second;
    freshen(runtime, standing, arc, token);
    start_over(runtime, standing);
    if (made) {
        standing.where = at_guard;
    } else if (standing.where == at_room) {
        if (!runtime.varies) return;  // it would want the same room
    } else if (standing.where == in_ready ||
               (standing.where != at_guard && standing.where != arc)) {
        return;  // queued already, or it misses something on another arc
    }
    make_ready(id, candidate, standing);
}

void Scheduler::make_ready(TransitionId id, const Candidate& candidate, Standing& standing) {
    standing.where = in_ready;
    runtimes_[id]->ready.push_back(candidate);
    push(id);
}

void Scheduler::wake_all(TransitionId id, std::size_t arc, base::TokenId token, base::CaseId of) {
    Runtime& runtime = *runtimes_[id];
    runtime.woken[arc] = runtime.parked[arc].size();
    if (runtime.rules().guard || runtime.search) {
        for (auto& [candidate, standing] : runtime.standing) {
            if (of && candidate.case_seq != of.seq) continue;
            freshen(runtime, standing, arc, token);
            start_over(runtime, standing);
            if (standing.where == at_guard) make_ready(id, candidate, standing);
        }
    }
    look_again(id, of);
    push(id);
}

bool Scheduler::goes_on(base::CaseId case_id) const {
    const auto& store = state_.store;
    for (Slot slot = store.first_of_case(case_id); slot != places::no_slot;
         slot = store.next_of_case(slot)) {
        const auto& token = store.token(slot);
        if (token.holder != 0 || token.hidden || token.place >= readers_.size()) continue;
        for (const Reader& reader : readers_[token.place]) {
            const auto& arc = runtimes_[reader.transition]->rules().in[reader.arc];
            if (arc.age.us > 0 && ripe_at(token, arc.age) > now_ && classify(arc, token))
                return true;
        }
    }
    for (const auto& runtime : runtimes_) {
        if (!runtime || !runtime->full || !at_capacity(runtime->id)) continue;
        const auto is_its = [&](const Candidate& candidate) {
            return candidate.case_seq == case_id.seq && bind(request(*runtime, candidate));
        };
        if (std::ranges::any_of(runtime->ready, is_its)) return true;
    }
    return false;
}

}  // namespace engine
