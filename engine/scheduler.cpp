#include "engine/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace engine {

using places::Slot;

namespace {

// Where every firing puts as many tokens into the same places, another binding finds no more room.
bool varies(const nets::Transition& rules) {
    const auto chosen = [](const nets::OutputRule& rule) {
        return rule.when || rule.each || rule.otherwise;
    };
    const auto gives_room = [&](const nets::InputArc& arc) {
        if (arc.kind == nets::ArcKind::reset) return true;
        if (arc.kind != nets::ArcKind::consume) return false;
        return std::ranges::find(rules.out.rules, arc.place, &nets::OutputRule::place) !=
               rules.out.rules.end();
    };
    return std::ranges::any_of(rules.out.rules, chosen) ||
           std::ranges::any_of(rules.in, gives_room);
}

}  // namespace

Scheduler::Scheduler(State& state) : state_(state) {}

Scheduler::~Scheduler() = default;

void Scheduler::rebuild() {
    for (TransitionId id = 0; id < runtimes_.size(); ++id)
        detach(id);
    runtimes_.resize(state_.transitions.size());
    claims_.resize(state_.transitions.size());
    readers_.assign(state_.store.place_count(), {});
    room_waiters_.assign(state_.store.place_count(), {});
    for (places::PlaceId place = 0; place < state_.store.place_count(); ++place)
        state_.store.place(place).watched = false;
    watchers_.assign(state_.store.place_count(), {});
    room_watchers_.assign(state_.store.place_count(), {});
    ripening_ = {};
    heap_ = {};
    searching_.clear();
    for (TransitionId id = 0; id < state_.transitions.size(); ++id)
        attach(id);
    // After an opening, or where a capacity changed, there may be room.
    for (const auto& [holder, place] : in_queue_)
        roomy_.insert(holder);
    for (const auto& [id, operation] : state_.operations) {
        if (operation.state == OperationState::returned) roomy_.insert(id.seq);
    }
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
    runtime->id = id;
    runtime->search = searched(rules);
    runtime->varies = varies(rules);
    runtime->parked.resize(rules.in.size());
    runtime->woken.resize(rules.in.size());
    for (std::size_t i = 0; i < rules.in.size(); ++i) {
        const nets::InputArc& arc = rules.in[i];
        const ArcSource made = source(*entry.deployment, arc);
        runtime->sources.push_back(made);
        if (nets::is_timer(rules)) continue;  // it looks when its time has come
        if (arc.kind == nets::ArcKind::inhibit) {
            state_.store.place(made.place).watched = true;
            watch(watchers_, made.place, id);
            runtime->sees_all |= arc.any_case;
        }
        if (!arc.binds()) continue;
        runtime->keyed |= made.keyed;
        readers_[made.place].push_back({id, i});
    }
    index_joins(*runtime);
    watch_inputs(*runtime);
    if (rules.or_join) {
        runtime->arrivals = arrival_net(state_, id);
        for (const auto place : runtime->arrivals->places) {
            state_.store.place(place).watched = true;
            watch(watchers_, place, id);
        }
    }
    runtimes_[id] = std::move(runtime);
}

ArcSource Scheduler::source(const Deployment& deployment, const nets::InputArc& arc) {
    ArcSource made{.place = deployment.places[arc.place], .any_case = arc.any_case};
    made.keyed = arc.key.has_value();
    const bool sorted = arc.order == nets::OrderKind::expression;
    if (arc.kind == nets::ArcKind::reset) return made;
    if (arc.binds() && !arc.where && !arc.key && !arc.any_case && !sorted) return made;
    places::IndexRules rules{.by_case = !arc.any_case};
    if (arc.kind == nets::ArcKind::inhibit) rules.held = places::Held::visible;
    // The arc lives as long as its deployment, and that as long as the index.
    rules.classify = [&arc](const places::Token& token) { return classify(arc, token); };
    if (sorted) rules.rank = [&arc](const places::Token& token) { return rank(arc, token); };
    made.index = state_.store.add_index(made.place, std::move(rules));
    return made;
}

void Scheduler::index_joins(Runtime& runtime) {
    const nets::Transition& rules = runtime.rules();
    runtime.joins = guard_joins(rules);
    for (GuardJoin& join : runtime.joins) {
        const nets::InputArc& arc = rules.in[join.arc];
        places::IndexRules index{.by_case = !arc.any_case};
        // Rules and sides live as long as the deployment and its runtime, and these as the index.
        index.classify = [&rules, &arc, &own = join.own, at = join.arc](const places::Token& token
                         ) -> std::optional<std::string> {
            const auto key = classify(arc, token);
            if (!key) return std::nullopt;
            const auto side = side_of(rules, at, own, token);
            if (!side) return std::nullopt;
            return joined_key(*key, *side);
        };
        if (arc.order == nets::OrderKind::expression)
            index.rank = [&arc](const places::Token& token) { return rank(arc, token); };
        join.index = state_.store.add_index(runtime.sources[join.arc].place, std::move(index));
    }
}

// Where a list is judged, one token less in it may do what all of them did not.
void Scheduler::watch_inputs(Runtime& runtime) {
    const nets::Transition& rules = runtime.rules();
    if (!runtime.search || nets::is_timer(rules)) return;
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        if (!rules.in[arc].binds() || !rules.in[arc].takes_list) continue;
        const auto place = runtime.sources[arc].place;
        state_.store.place(place).watched = true;
        watch(watchers_, place, runtime.id);
        runtime.sees_all |= rules.in[arc].any_case;
    }
}

void Scheduler::watch(
    std::vector<std::vector<TransitionId>>& by_place, places::PlaceId place, TransitionId id
) {
    auto& watchers = by_place[place];
    if (std::ranges::find(watchers, id) == watchers.end()) watchers.push_back(id);
}

void Scheduler::detach(TransitionId id) {
    if (!runtimes_[id]) return;
    for (const auto& source : runtimes_[id]->sources) {
        if (source.index != nullptr) state_.store.remove_index(source.place, source.index);
    }
    for (const auto& join : runtimes_[id]->joins)
        state_.store.remove_index(runtimes_[id]->sources[join.arc].place, join.index);
    runtimes_[id].reset();
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
           std::ranges::any_of(runtime.rooms, [](const auto& queue) { return queue.woken > 0; }) ||
           std::ranges::any_of(runtime.woken, [](std::size_t count) { return count > 0; });
}

void Scheduler::push(TransitionId id) {
    Runtime& runtime = *runtimes_[id];
    if (runtime.in_heap || runtime.full || !has_candidates(runtime)) return;
    // First enabled: it queues up behind those that wait already.
    if (runtime.stamp == 0) runtime.stamp = ++clock_;
    runtime.in_heap = true;
    heap_.push({runtime.rules().priority, runtime.stamp, id});
}

std::optional<Candidate> Scheduler::take_candidate(
    Runtime& runtime, std::optional<std::size_t>& woken_arc
) {
    // Those woken have waited longer than those that just came.
    if (auto candidate = take_roomy(runtime)) return candidate;
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
    while (!runtime.ready.empty()) {
        Candidate candidate = std::move(runtime.ready.front());
        runtime.ready.pop_front();
        const auto found = runtime.standing.find(candidate);
        // One that came to want room meanwhile waits for that.
        if (found != runtime.standing.end() && found->second.where == at_room) continue;
        return candidate;
    }
    return std::nullopt;
}

std::optional<Enabled> Scheduler::next(base::Timestamp now) {
    advance(now);
    if (searching() && ++since_slice_ >= firings_per_slice) {
        if (auto found = search_on()) return found;
    }
    if (auto found = next_ready()) return found;
    return search_on();
}

std::optional<Enabled> Scheduler::next_ready() {
    while (!heap_.empty()) {
        const TransitionId id = heap_.top().transition;
        const std::uint64_t stamp = heap_.top().stamp;
        heap_.pop();
        Runtime* runtime = runtimes_[id].get();
        if (runtime == nullptr || !runtime->in_heap || runtime->stamp != stamp) continue;
        runtime->in_heap = false;
        if (held_back(id)) {
            runtime->full = true;
            continue;
        }
        std::optional<std::size_t> woken_arc;
        while (auto candidate = take_candidate(*runtime, woken_arc)) {
            auto binding = try_bind(*runtime, *candidate);
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

// Whether what the arc binds makes the firing the candidate's: tokens of its case, and where arcs
// have keys, on one of those.
bool Scheduler::own_arc(const Runtime& runtime, const Candidate& candidate, std::size_t arc) {
    const ArcSource& source = runtime.sources[arc];
    if (source.any_case && candidate.case_seq != 0) return false;
    return source.keyed || !runtime.keyed;
}

bool Scheduler::holds_own(
    const Runtime& runtime, const Candidate& candidate, const Binding& binding
) const {
    return std::ranges::any_of(runtime.rules().binding_order, [&](std::size_t arc) {
        if (!own_arc(runtime, candidate, arc)) return false;
        return std::ranges::any_of(binding.arcs[arc], [&](Slot slot) {
            const auto of = state_.store.token(slot).case_id.seq;
            return candidate.case_seq == 0 || of == candidate.case_seq;
        });
    });
}

bool Scheduler::has_own_tokens(const Runtime& runtime, const Candidate& candidate) const {
    return std::ranges::any_of(runtime.rules().binding_order, [&](std::size_t arc) {
        if (!own_arc(runtime, candidate, arc)) return false;
        const ArcSource& source = runtime.sources[arc];
        const base::CaseId of{candidate.case_seq};
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
    remember_key(runtime, candidate);
    if (runtime.search || why.reason != Unbound::Reason::arc) {
        standing.where = at_guard;
    } else {
        standing.where = static_cast<std::uint32_t>(why.arc);
        standing.ticket = ++tickets_;
        runtime.parked[why.arc].push_back({candidate, standing.ticket});
    }
    std::size_t entries = runtime.standing.size();
    for (const auto& queue : runtime.parked)
        entries += queue.size();
    if (entries > 2 * runtime.swept_size + 1024) sweep(runtime);
}

void Scheduler::remember_key(Runtime& runtime, const Candidate& candidate) {
    if (!runtime.keyed || candidate.case_seq == 0) return;
    auto& cases = runtime.cases_of_key[candidate.key];
    if (std::ranges::find(cases, candidate.case_seq) == cases.end()) {
        cases.push_back(candidate.case_seq);
    }
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
    for (auto& queue : runtime.rooms) {
        std::erase_if(queue.parked, [&](const Parked& parked) {
            return !in_want(runtime, parked);
        });
        queue.woken = std::min(queue.woken, queue.parked.size());
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

Scheduler::Waiting Scheduler::waiting(TransitionId transition) const {
    if (transition >= runtimes_.size() || !runtimes_[transition]) return {};
    const Runtime& runtime = *runtimes_[transition];
    Waiting made{at_capacity(transition), {}, claims_[transition]};
    for (const auto& queue : runtime.rooms) {
        const auto waits = [&](const Parked& parked) { return in_want(runtime, parked); };
        if (std::ranges::any_of(queue.parked, waits)) made.rooms.push_back(queue.place);
    }
    return made;
}

const std::vector<ArcSource>* Scheduler::sources(TransitionId transition) const {
    if (transition >= runtimes_.size() || !runtimes_[transition]) return nullptr;
    return &runtimes_[transition]->sources;
}

}  // namespace engine
