#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace base {

/// A mutex that owns its data: the data can be reached only while the mutex is held. Never hold it
/// across a `co_await`, disk I/O or a callback.
template <class T>
class Guarded {
public:
    Guarded() = default;
    explicit Guarded(T value) : value_(std::move(value)) {}

    template <class Action>
    decltype(auto) with(Action&& action) {
        const std::scoped_lock lock(mutex_);
        return std::forward<Action>(action)(value_);
    }
    template <class Action>
    decltype(auto) with(Action&& action) const {
        const std::scoped_lock lock(mutex_);
        return std::forward<Action>(action)(value_);
    }
    /// Waits until `ready(value)`, then runs `action(value)` under the same lock.
    template <class Ready, class Action>
    decltype(auto) wait(Ready&& ready, Action&& action) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ready(value_); });
        return std::forward<Action>(action)(value_);
    }
    /// Waits until `ready(value)` or until `length` has passed; false = the latter.
    template <class Length, class Ready>
    bool wait_for(Length length, Ready&& ready) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, length, [&] { return ready(value_); });
    }
    /// Wakes those in `wait`; call it after a change that may make them ready.
    void notify() { changed_.notify_all(); }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    T value_{};
};

}  // namespace base
