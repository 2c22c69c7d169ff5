#pragma once

#include "base/guarded.hpp"

#include <functional>
#include <optional>
#include <thread>

namespace executor {

/// One thread that runs one task at a time; started with its first task. The destructor waits for
/// the task that runs.
class Slot {
public:
    Slot() = default;
    ~Slot() {
        state_.with([](State& state) { state.ending = true; });
        state_.notify();
        if (thread_.joinable()) thread_.join();
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    /// Only when the one before has ended. One thread calls this.
    void run(std::move_only_function<void()> task) {
        state_.with([&](State& state) { state.task = std::move(task); });
        if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
        state_.notify();
    }

private:
    struct State {
        std::move_only_function<void()> task;
        bool ending = false;
    };
    void work() {
        for (;;) {
            std::move_only_function<void()> task;
            state_.wait(
                [](const State& state) { return state.ending || state.task; },
                [&](State& state) { std::swap(task, state.task); }
            );
            if (!task) return;
            task();
        }
    }

    base::Guarded<State> state_;
    std::thread thread_;
};

}  // namespace executor
