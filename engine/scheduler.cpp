#include "engine/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace engine {

using places::Slot;

Scheduler::Scheduler(State& state) : state_(state) {}

Scheduler::~Scheduler() = default;

void Scheduler::rebuild() {
    for (TransitionId id = 0; id < runtimes_.size(); ++id)
        detach(id);
    runtimes_.resize(state_.transitions.size());
    claims_.resize(state_.transitions.size());
    readers_.assign(state_.store.place_count(), {});
    room_waiters_.assign(state_.store.place_count(), {});
    heap_ = {};
    for (TransitionId id = 0; id < state_.transitions.size(); ++id)
        attach(id);
    // Every bindable token arrives once more, the oldest first.
    std::vector<std::pair<base::TokenId, Slot>> tokens;
    for (places::PlaceId place = 0; place < readers_.size(); ++place) {
        if (readers_[place].empty()) continue;
        for (Slot slot = state_.store.first_in(place); slot != places::no_slot;
             slot = state_.store.next_in_place(slot)) {
            const auto& token = state_.store.token(slot);
            if (token.holder == 0 && !token.hidden) tokens.emplace_back(token.id, slot);
        }
    }
    std::ranges::sort(tokens);
    state_.store.changes().clear();
    for (const auto& [id, slot] : tokens) {
        const auto& token = state_.store.token(slot);
        arrived({places::Change::Kind::bindable, token.place, slot, token.case_id});
    }
}

void Scheduler::attach(TransitionId id) {
    const TransitionEntry& entry = state_.transitions[id];
    if (!entry.deployment) return;
    auto runtime = std::make_unique<Runtime>();
    runtime->deployment = entry.deployment;
    runtime->index = entry.index;
    const nets::Transition& rules = runtime->rules();
    if (std::holds_alternative<nets::Link>(rules.action)) return;
    runtime->parked.resize(rules.in.size());
    runtime->woken.resize(rules.in.size());
    for (std::size_t i = 0; i < rules.in.size(); ++i) {
        const nets::InputArc& arc = rules.in[i];
        ArcSource source{.place = entry.deployment->places[arc.place], .any_case = arc.any_case};
        source.keyed = arc.key.has_value();
        if (arc.where || arc.key || arc.any_case) {
            source.index = state_.store.add_index(
                source.place,
                !arc.any_case,
                [deployment = entry.deployment, &arc](const places::Token& token) {
                    return classify(arc, token);
                }
            );
        }
        runtime->keyed |= source.keyed;
        runtime->sources.push_back(source);
        readers_[source.place].push_back({id, i});
    }
    runtimes_[id] = std::move(runtime);
}

void Scheduler::detach(TransitionId id) {
    if (!runtimes_[id]) return;
    for (const auto& source : runtimes_[id]->sources) {
        if (source.index != nullptr) state_.store.remove_index(source.place, source.index);
    }
    runtimes_[id].reset();
}

void Scheduler::absorb() {
    auto& changes = state_.store.changes();
    // A place made since the last look has no reader yet.
    if (readers_.size() < state_.store.place_count()) {
        readers_.resize(state_.store.place_count());
        room_waiters_.resize(state_.store.place_count());
    }
    for (const auto& change : changes) {
        if (change.kind == places::Change::Kind::bindable) {
            arrived(change);
        } else {
            for (const auto id : std::exchange(room_waiters_[change.place], {})) {
                if (!runtimes_[id]) continue;
                runtimes_[id]->room.reset();
                push(id);
            }
        }
    }
    changes.clear();
}

void Scheduler::freed(TransitionId transition) {
    Runtime* runtime = runtimes_[transition].get();
    if (runtime == nullptr) return;
    runtime->full = false;
    push(transition);
}

void Scheduler::claimed(TransitionId transition) {
    ++claims_[transition];
}

void Scheduler::unclaimed(TransitionId transition) {
    --claims_[transition];
}

bool Scheduler::at_capacity(TransitionId id) const {
    const auto& limit = runtimes_[id]->rules().concurrency;
    return limit && state_.transitions[id].in_flight + claims_[id] >= *limit;
}

bool Scheduler::has_candidates(const Runtime& runtime) {
    return !runtime.ready.empty() ||
           std::ranges::any_of(runtime.woken, [](std::size_t count) { return count > 0; });
}

void Scheduler::push(TransitionId id) {
    Runtime& runtime = *runtimes_[id];
    if (runtime.in_heap || runtime.full || runtime.room || !has_candidates(runtime)) return;
    // First enabled: it queues up behind those that wait already.
    if (runtime.stamp == 0) runtime.stamp = ++clock_;
    runtime.in_heap = true;
    heap_.push({runtime.rules().priority, runtime.stamp, id});
}

std::optional<Candidate> Scheduler::take_candidate(
    Runtime& runtime, std::optional<std::size_t>& woken_arc
) {
    // Those woken have waited longer than those that just came.
    for (std::size_t arc = 0; arc < runtime.woken.size(); ++arc) {
        auto& queue = runtime.parked[arc];
        while (runtime.woken[arc] > 0 && !queue.empty()) {
            --runtime.woken[arc];
            const Parked parked = std::move(queue.front());
            queue.pop_front();
            const auto found = runtime.standing.find(parked.candidate);
            if (found == runtime.standing.end() || found->second.ticket != parked.ticket) continue;
            if (found->second.where != arc) continue;
            woken_arc = arc;
            return parked.candidate;
        }
        runtime.woken[arc] = 0;
    }
    if (!runtime.ready.empty()) {
        Candidate candidate = std::move(runtime.ready.front());
        runtime.ready.pop_front();
        return candidate;
    }
    return std::nullopt;
}

std::optional<Enabled> Scheduler::next(base::Timestamp now) {
    while (!heap_.empty()) {
        const TransitionId id = heap_.top().transition;
        const std::uint64_t stamp = heap_.top().stamp;
        heap_.pop();
        Runtime* runtime = runtimes_[id].get();
        if (runtime == nullptr || !runtime->in_heap || runtime->stamp != stamp) continue;
        runtime->in_heap = false;
        if (at_capacity(id)) {
            runtime->full = true;
            continue;
        }
        std::optional<std::size_t> woken_arc;
        while (auto candidate = take_candidate(*runtime, woken_arc)) {
            auto binding = try_bind(*runtime, *candidate, now);
            if (binding) {
                runtime->stamp = ++clock_;
                return Enabled{
                    id, runtime->deployment, std::move(*candidate), std::move(*binding), stamp
                };
            }
            if (!woken_arc) continue;
            // One token without a case woke them all. Where one is all that a firing takes from
            // that place, and the first in the queue did not get it, none behind will.
            const auto standing = runtime->standing.find(*candidate);
            const auto* weight =
                std::get_if<nets::FixedWeight>(&runtime->rules().in[*woken_arc].take);
            if (weight != nullptr && weight->count == 1 && !runtime->keyed &&
                standing != runtime->standing.end() && standing->second.where == *woken_arc) {
                runtime->woken[*woken_arc] = 0;
                auto& queue = runtime->parked[*woken_arc];
                queue.push_front(std::move(queue.back()));
                queue.pop_back();
            }
            woken_arc.reset();
        }
    }
    return std::nullopt;
}

std::optional<Binding> Scheduler::try_bind(
    Runtime& runtime, const Candidate& candidate, base::Timestamp now
) {
    Standing& standing = runtime.standing[candidate];
    BindRequest request{state_, runtime.rules(), runtime.sources, candidate, std::nullopt, now};
    auto bound = runtime.rules().guard ? bind_fresh(runtime, standing, request) : bind(request);
    if (bound) {
        standing.where = at_guard;  // nowhere: `put_back` says
        return std::move(*bound);
    }
    park(runtime, candidate, bound.error());
    return std::nullopt;
}

// With a guard: only bindings that hold a token not tried before are worth a look.
std::expected<Binding, Unbound> Scheduler::bind_fresh(
    Runtime& /*runtime*/, Standing& standing, BindRequest& request
) {
    while (!standing.fresh.empty()) {
        const auto [arc, id] = standing.fresh.front();
        const Slot slot = state_.store.find(id);
        if (slot == places::no_slot || state_.store.token(slot).holder != 0 ||
            state_.store.token(slot).hidden) {
            standing.fresh.pop_front();
            continue;
        }
        request.fixed = Fixed{arc, slot};
        auto bound = bind(request);
        if (bound) return bound;
        if (bound.error().reason == Unbound::Reason::arc) return bound;
        standing.fresh.pop_front();
    }
    return std::unexpected(Unbound{Unbound::Reason::guard, 0});
}

bool Scheduler::has_own_tokens(const Runtime& runtime, const Candidate& candidate) const {
    return std::ranges::any_of(runtime.sources, [&](const ArcSource& source) {
        const base::CaseId of{source.any_case ? 0 : candidate.case_seq};
        if (source.index == nullptr) return state_.store.count_bindable(source.place, of) > 0;
        return source.index->count(of, source.keyed ? std::string_view(candidate.key) : "") > 0;
    });
}

void Scheduler::park(Runtime& runtime, const Candidate& candidate, const Unbound& why) {
    const auto found = runtime.standing.find(candidate);
    if (!has_own_tokens(runtime, candidate)) {
        runtime.standing.erase(found);  // an arrival makes it anew
        return;
    }
    Standing& standing = found->second;
    if (why.reason == Unbound::Reason::guard) {
        standing.where = at_guard;
        return;
    }
    standing.where = static_cast<std::uint32_t>(why.arc);
    standing.ticket = ++tickets_;
    runtime.parked[why.arc].push_back({candidate, standing.ticket});
    if (runtime.keyed && candidate.case_seq != 0) {
        auto& cases = runtime.cases_of_key[candidate.key];
        if (std::ranges::find(cases, candidate.case_seq) == cases.end()) {
            cases.push_back(candidate.case_seq);
        }
    }
    std::size_t entries = runtime.standing.size();
    for (const auto& queue : runtime.parked)
        entries += queue.size();
    if (entries > 2 * runtime.swept_size + 1024) sweep(runtime);
}

// Forgets candidates whose tokens went elsewhere, and queue entries that were overtaken.
void Scheduler::sweep(Runtime& runtime) {
    boost::unordered::erase_if(runtime.standing, [&](const auto& entry) {
        return entry.second.where != in_ready && !has_own_tokens(runtime, entry.first);
    });
    for (std::size_t arc = 0; arc < runtime.parked.size(); ++arc) {
        std::erase_if(runtime.parked[arc], [&](const Parked& parked) {
            const auto found = runtime.standing.find(parked.candidate);
            return found == runtime.standing.end() || found->second.ticket != parked.ticket ||
                   found->second.where != arc;
        });
        runtime.woken[arc] = std::min(runtime.woken[arc], runtime.parked[arc].size());
    }
    boost::unordered::erase_if(runtime.cases_of_key, [&](auto& entry) {
        std::erase_if(entry.second, [&](std::uint64_t case_seq) {
            return !runtime.standing.contains(Candidate{case_seq, entry.first});
        });
        return entry.second.empty();
    });
    runtime.swept_size = runtime.standing.size();
    for (const auto& queue : runtime.parked)
        runtime.swept_size += queue.size();
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
    const bool one_case = !source.any_case && case_id;
    candidate.case_seq = one_case ? case_id.seq : 0;
    if (runtime.keyed && !source.keyed) {
        // No key of its own: every key of the case may go with it.
        wake_all(reader.transition, reader.arc, token);
        return;
    }
    offer(reader.transition, candidate, reader.arc, token);
    if (one_case) return;
    // Without a case it goes with the tokens of any.
    if (!runtime.keyed) return wake_all(reader.transition, reader.arc, token);
    const auto cases = runtime.cases_of_key.find(candidate.key);
    if (cases == runtime.cases_of_key.end()) return;
    for (const std::uint64_t seq : cases->second) {
        offer(reader.transition, Candidate{seq, candidate.key}, reader.arc, token);
    }
}

void Scheduler::offer(
    TransitionId id, const Candidate& candidate, std::size_t arc, base::TokenId token
) {
    Runtime& runtime = *runtimes_[id];
    auto [entry, made] = runtime.standing.try_emplace(candidate);
    Standing& standing = entry->second;
    if (runtime.rules().guard) standing.fresh.emplace_back(arc, token);
    if (made) {
        standing.where = at_guard;
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

void Scheduler::wake_all(TransitionId id, std::size_t arc, base::TokenId token) {
    Runtime& runtime = *runtimes_[id];
    runtime.woken[arc] = runtime.parked[arc].size();
    if (runtime.rules().guard) {
        for (auto& [candidate, standing] : runtime.standing) {
            standing.fresh.emplace_back(arc, token);
            if (standing.where == at_guard) make_ready(id, candidate, standing);
        }
    }
    push(id);
}

void Scheduler::put_back(const Enabled& fired) {
    Runtime* runtime = runtimes_[fired.transition].get();
    if (runtime == nullptr || runtime->deployment != fired.deployment) return;
    const auto found = runtime->standing.find(fired.candidate);
    if (found == runtime->standing.end()) return;
    if (found->second.where != in_ready) {
        found->second.where = in_ready;
        runtime->ready.push_back(fired.candidate);
    }
    push(fired.transition);
}

void Scheduler::wait_for_room(const Enabled& held, places::PlaceId place) {
    Runtime* runtime = runtimes_[held.transition].get();
    if (runtime == nullptr) return;
    auto& standing = runtime->standing[held.candidate];
    if (standing.where != in_ready) {
        standing.where = in_ready;
        runtime->ready.push_front(held.candidate);
    }
    runtime->stamp = held.waiting_since;
    runtime->room = place;
    room_waiters_[place].push_back(held.transition);
}

Scheduler::Waiting Scheduler::waiting(TransitionId transition) const {
    if (transition >= runtimes_.size() || !runtimes_[transition]) return {};
    const Runtime& runtime = *runtimes_[transition];
    return {at_capacity(transition), runtime.room, claims_[transition]};
}

const std::vector<ArcSource>* Scheduler::sources(TransitionId transition) const {
    if (transition >= runtimes_.size() || !runtimes_[transition]) return nullptr;
    return &runtimes_[transition]->sources;
}

}  // namespace engine
