#include "engine/scheduler.hpp"

#include <algorithm>
#include <utility>

// Which of its combinations a candidate can fire with, and searches that take more than one turn.
namespace engine {

using places::Slot;

bool Scheduler::held_back(TransitionId id) const {
    return at_capacity(id) || state_.pause_of(state_.transitions[id]) != nullptr;
}

// Tries some more combinations of one of those that are not done, the one that waits longest.
std::optional<Enabled> Scheduler::search_on() {
    since_slice_ = 0;
    while (searching()) {
        auto [id, candidate] = std::move(searching_.front());
        searching_.pop_front();
        Runtime* runtime = runtimes_[id].get();
        if (runtime == nullptr) continue;
        const auto found = runtime->standing.find(candidate);
        if (found == runtime->standing.end() || found->second.where != in_search) continue;
        if (held_back(id)) {
            make_ready(id, found->first, found->second);
            runtime->full = true;
            continue;
        }
        auto binding = try_bind(*runtime, candidate);
        if (!binding) return std::nullopt;
        const auto waiting_since = std::exchange(runtime->stamp, ++clock_);
        runtime->in_heap = false;
        push(id);
        return Enabled{
            id, runtime->deployment, std::move(candidate), std::move(*binding), waiting_since
        };
    }
    return std::nullopt;
}

BindRequest Scheduler::request(const Runtime& runtime, const Candidate& candidate) const {
    return {
        .state = state_,
        .transition = runtime.id,
        .rules = runtime.rules(),
        .sources = runtime.sources,
        .candidate = candidate,
        .fixed = std::nullopt,
        .now = now_,
        .search = runtime.search,
        .arrivals = runtime.arrivals ? &*runtime.arrivals : nullptr,
        .joins = runtime.joins,
    };
}

std::optional<Enabled> Scheduler::peek(TransitionId id, base::Timestamp now) const {
    if (id >= runtimes_.size() || !runtimes_[id]) return std::nullopt;
    const Runtime& runtime = *runtimes_[id];
    const auto look = [&](const Candidate& candidate) -> std::optional<Enabled> {
        BindRequest wanted = request(runtime, candidate);
        wanted.now = now;
        wanted.combinations = combinations_at_once_max;
        auto bound = bind(wanted);
        if (!bound) return std::nullopt;
        // As in `try_bind`: its tokens went elsewhere.
        if (!holds_own(runtime, candidate, *bound) && !has_own_tokens(runtime, candidate))
            return std::nullopt;
        return Enabled{id, runtime.deployment, candidate, std::move(*bound), runtime.stamp};
    };
    std::size_t looked = 0;
    for (const auto& candidate : runtime.ready) {
        if (++looked > candidates_peeked_max) return std::nullopt;
        if (auto found = look(candidate)) return found;
    }
    for (const auto& [candidate, standing] : runtime.standing) {
        if (standing.where == in_ready) continue;
        if (++looked > candidates_peeked_max) return std::nullopt;
        if (auto found = look(candidate)) return found;
    }
    return std::nullopt;
}

std::expected<Binding, Unbound> Scheduler::timer_binding(
    TransitionId transition, base::Timestamp now
) const {
    const Candidate nobody;
    BindRequest wanted = request(*runtimes_[transition], nobody);
    wanted.now = now;
    wanted.combinations = combinations_at_once_max;
    return bind(wanted);
}

std::optional<Binding> Scheduler::try_bind(Runtime& runtime, const Candidate& candidate) {
    Standing& standing = runtime.standing[candidate];
    BindRequest wanted = request(runtime, candidate);
    SearchProgress progress;
    if (standing.progress) progress = std::move(*std::exchange(standing.progress, nullptr));
    if (runtime.rules().guard || runtime.search) wanted.progress = &progress;
    wanted.combinations = slice_ << std::min(standing.restarts, restarts_max);
    const bool fresh_only = runtime.rules().guard && !runtime.search;
    auto bound = fresh_only ? bind_fresh(standing, wanted) : bind(wanted);
    if (bound && !holds_own(runtime, candidate, *bound) && !has_own_tokens(runtime, candidate)) {
        // Its tokens went elsewhere since it queued up: those without a case are not for it alone.
        runtime.standing.erase(candidate);
        return std::nullopt;
    }
    const bool unfinished = !bound && bound.error().reason == Unbound::Reason::searching;
    // Those tried before fail again: once it fired, the search goes on from here.
    if (unfinished || (bound && fresh_only))
        standing.progress = std::make_unique<SearchProgress>(std::move(progress));
    if (unfinished) {
        standing.where = in_search;
        searching_.emplace_back(runtime.id, candidate);
        return std::nullopt;
    }
    standing.restarts = 0;
    if (bound) {
        standing.where = at_guard;  // nowhere: `put_back` says
        return std::move(*bound);
    }
    park(runtime, candidate, bound.error());
    return std::nullopt;
}

// With a guard: only bindings that hold a token not tried before are worth a look.
std::expected<Binding, Unbound> Scheduler::bind_fresh(Standing& standing, BindRequest& request) {
    const std::size_t most = request.combinations;
    SearchProgress& progress = *request.progress;
    std::size_t tried = 0;
    while (!standing.fresh.empty()) {
        const auto [arc, id] = standing.fresh.front();
        const Slot slot = state_.store.find(id);
        const bool gone = slot == places::no_slot || state_.store.token(slot).holder != 0 ||
                          state_.store.token(slot).hidden;
        if (gone) {
            standing.fresh.pop_front();
            continue;
        }
        if (tried >= most) return std::unexpected(Unbound{.reason = Unbound::Reason::searching});
        if (progress.fixed != id) progress = {.fixed = id, .at = {}};
        request.fixed = Fixed{arc, slot};
        request.combinations = most - tried;
        auto bound = bind(request);
        if (bound || bound.error().reason == Unbound::Reason::searching) return bound;
        if (bound.error().reason == Unbound::Reason::arc) {
            // Whichever token comes to make a combination possible is fresh then.
            standing.fresh.clear();
            return bound;
        }
        tried += progress.tried + 1;
        standing.fresh.pop_front();
    }
    return std::unexpected(Unbound{.reason = Unbound::Reason::guard});
}

std::vector<Scheduler::Held> Scheduler::held(TransitionId transition, std::size_t max) const {
    std::vector<Held> found;
    if (transition >= runtimes_.size() || !runtimes_[transition]) return found;
    const Runtime& runtime = *runtimes_[transition];
    for (const auto& [candidate, standing] : runtime.standing) {
        if (found.size() >= max) break;
        const auto bound = bind(request(runtime, candidate));
        if (bound) continue;
        found.push_back({{candidate.case_seq}, bound.error()});
        // Where it has looked at all of them it knows.
        Unbound& why = found.back().why;
        if (why.reason == Unbound::Reason::searching && standing.where == at_guard)
            why.reason = Unbound::Reason::guard;
    }
    return found;
}

}  // namespace engine
