#include "engine/scheduler.hpp"

#include <utility>

// Who waits for room in a place with a capacity.
namespace engine {

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
    for (const auto id : std::exchange(room_waiters_[place], {})) {
        if (!runtimes_[id]) continue;
        runtimes_[id]->room.reset();
        push(id);
    }
}

}  // namespace engine
