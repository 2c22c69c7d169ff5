#pragma once

#include "base/guarded.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace base {

/// Threads for blocking work: disk, hashing, child processes. Tasks start in the order given; the
/// destructor runs what is queued, then joins.
class WorkerPool {
public:
    explicit WorkerPool(std::size_t threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    void post(std::move_only_function<void()> task);
    /// Tasks that have not started yet: for back-pressure.
    [[nodiscard]] std::size_t queued() const;

private:
    struct Queue {
        std::deque<std::move_only_function<void()>> tasks;
        bool stopping = false;
    };
    void work();

    Guarded<Queue> queue_;
    std::vector<std::thread> threads_;
};

}  // namespace base
