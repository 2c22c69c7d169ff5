#include "engine/timer_thread.hpp"

#include "engine/lane.hpp"

#include <utility>

namespace engine {

TimerThread::TimerThread() : thread_([this] { run(); }) {}

void TimerThread::wake(std::weak_ptr<ModelLane> lane, base::Duration after) {
    const auto at = std::chrono::steady_clock::now() + std::chrono::microseconds(after.us);
    {
        const std::scoped_lock lock(mutex_);
        due_.emplace(at, std::move(lane));
    }
    changed_.notify_one();
}

void TimerThread::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void TimerThread::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (due_.empty()) {
            changed_.wait(lock);
            continue;
        }
        if (due_.begin()->first > std::chrono::steady_clock::now()) {
            changed_.wait_until(lock, due_.begin()->first);
            continue;
        }
        const auto lane = due_.begin()->second.lock();
        due_.erase(due_.begin());
        if (!lane) continue;
        lock.unlock();
        lane->schedule();
        lock.lock();
    }
}

}  // namespace engine
