#include "base/worker_pool.hpp"

#include <utility>

namespace base {

WorkerPool::WorkerPool(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) {
        threads_.emplace_back([this] { work(); });
    }
}

WorkerPool::~WorkerPool() {
    queue_.with([](Queue& queue) { queue.stopping = true; });
    queue_.notify();
    for (auto& thread : threads_)
        thread.join();
}

void WorkerPool::post(std::move_only_function<void()> task) {
    queue_.with([&](Queue& queue) { queue.tasks.push_back(std::move(task)); });
    queue_.notify();
}

std::size_t WorkerPool::queued() const {
    return queue_.with([](const Queue& queue) { return queue.tasks.size(); });
}

void WorkerPool::work() {
    for (;;) {
        std::move_only_function<void()> task;
        queue_.wait(
            [](const Queue& queue) { return queue.stopping || !queue.tasks.empty(); },
            [&](Queue& queue) {
                if (queue.tasks.empty()) return;
                task = std::move(queue.tasks.front());
                queue.tasks.pop_front();
            }
        );
        if (!task) return;
        task();
    }
}

}  // namespace base
