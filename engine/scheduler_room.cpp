#include "engine/scheduler.hpp"

#include <algorithm>
#include <utility>

// Who waits for room in a place with a capacity.
namespace engine {

void Scheduler::wait_for_room(const Enabled& held, places::PlaceId place) {
    Runtime* runtime = runtimes_[held.transition].get();
    if (runtime == nullptr) return;
    auto queue = std::ranges::find(runtime->rooms, place, &RoomQueue::place);
    if (queue == runtime->rooms.end()) {
        for (const auto& source : runtime->sources) {
            if (!runtime->varies) break;
            // From now on it matters what leaves the places that it takes from.
            state_.store.place(source.place).watched = true;
            watch(room_watchers_, source.place, held.transition);
        }
        queue = runtime->rooms.insert(queue, RoomQueue{.place = place, .parked = {}});
        watch(room_waiters_, place, held.transition);
    }
    while (!queue->parked.empty() && !in_want(*runtime, queue->parked.back()))
        queue->parked.pop_back();
    auto& standing = runtime->standing[held.candidate];
    standing.where = at_room;
    standing.ticket = ++tickets_;
    queue->parked.push_back({held.candidate, standing.ticket});
    queue->woken = std::min(queue->woken, queue->parked.size());
    if (queue->parked.size() > 2 * runtime->standing.size() + 1024) sweep(*runtime);
    // Not having fired does not restart the wait.
    runtime->stamp = held.waiting_since;
    runtime->in_heap = false;
    push(held.transition);
}

std::optional<Candidate> Scheduler::take_roomy(Runtime& runtime) {
    for (auto& queue : runtime.rooms) {
        while (queue.woken > 0 && !queue.parked.empty() &&
               state_.store.place(queue.place).has_room(1)) {
            --queue.woken;
            const Parked parked = std::move(queue.parked.front());
            queue.parked.pop_front();
            if (!in_want(runtime, parked)) continue;
            runtime.standing.find(parked.candidate)->second.where = at_guard;
            return parked.candidate;
        }
        queue.woken = 0;
    }
    return std::nullopt;
}

bool Scheduler::in_want(const Runtime& runtime, const Parked& parked) {
    const auto found = runtime.standing.find(parked.candidate);
    return found != runtime.standing.end() && found->second.where == at_room &&
           found->second.ticket == parked.ticket;
}

void Scheduler::look_again(TransitionId id, base::CaseId of) {
    Runtime& runtime = *runtimes_[id];
    if (!runtime.varies || runtime.rooms.empty()) return;
    if (of && !runtime.keyed) {
        for (const auto case_seq : {of.seq, base::CaseId{}.seq}) {
            const auto found = runtime.standing.find(Candidate{case_seq, {}});
            if (found != runtime.standing.end() && found->second.where == at_room)
                make_ready(id, found->first, found->second);
        }
        return;
    }
    for (const auto& queue : runtime.rooms) {
        for (const auto& parked : queue.parked) {
            const auto case_seq = parked.candidate.case_seq;
            if ((of && case_seq != 0 && case_seq != of.seq) || !in_want(runtime, parked)) continue;
            make_ready(id, parked.candidate, runtime.standing.find(parked.candidate)->second);
        }
    }
}

void Scheduler::wait_for_room(places::Holder holder, places::PlaceId place) {
    const auto [entry, first] = in_queue_.try_emplace(holder, place);
    if (!first) {
        if (entry->second == place) return;
        stop_waiting(holder);
        in_queue_.emplace(holder, place);
    }
    if (room_queues_.size() <= place) room_queues_.resize(state_.store.place_count());
    auto& queue = room_queues_[place];
    queue.insert(holder);
    state_.store.place(place).awaited_by = *queue.begin();
}

void Scheduler::stop_waiting(places::Holder holder) {
    const auto found = in_queue_.find(holder);
    if (found == in_queue_.end()) return;
    const auto place = found->second;
    in_queue_.erase(found);
    roomy_.erase(holder);
    auto& queue = room_queues_[place];
    queue.erase(holder);
    state_.store.place(place).awaited_by = queue.empty() ? 0 : *queue.begin();
    room_in(place);
}

std::optional<places::Holder> Scheduler::next_roomy() {
    if (roomy_.empty()) return std::nullopt;
    return roomy_.extract(roomy_.begin()).value();
}

// Those that have their answer come first, the oldest of them before all.
void Scheduler::room_in(places::PlaceId place) {
    if (place < room_queues_.size() && !room_queues_[place].empty()) {
        roomy_.insert(*room_queues_[place].begin());
        return;
    }
    for (const auto id : room_waiters_[place]) {
        if (!runtimes_[id]) continue;
        const auto queue = std::ranges::find(runtimes_[id]->rooms, place, &RoomQueue::place);
        base::check(queue != runtimes_[id]->rooms.end(), "who waits in a place has a queue there");
        queue->woken = queue->parked.size();
        push(id);
    }
}

}  // namespace engine
