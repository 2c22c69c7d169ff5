#pragma once

#include <functional>
#include <memory>

namespace http {

namespace detail {
struct StopState;
}

/// Tells a waiting handler to end: the peer has gone, or the server stops. A default-made signal is
/// never raised. Copies share the signal. Thread-safe.
class StopSignal {
public:
    StopSignal() = default;
    [[nodiscard]] bool stopped() const;

private:
    friend class StopSource;
    friend class StopWatch;
    explicit StopSignal(std::shared_ptr<detail::StopState> state) : state_(std::move(state)) {}
    /// Shared: the source and every waiter look at the one flag and may each end first.
    std::shared_ptr<detail::StopState> state_;
};

/// Who may raise the signal. Once raised it stays raised.
class StopSource {
public:
    StopSource();
    [[nodiscard]] StopSignal signal() const { return StopSignal(state_); }
    void raise() const;

private:
    std::shared_ptr<detail::StopState> state_;
};

/// Calls `action` once when the signal is raised (at once when it already is), from the raising
/// thread, as long as this object lives. `action` must be quick and must not make or end a watch.
class StopWatch {
public:
    StopWatch(const StopSignal& signal, std::function<void()> action);
    ~StopWatch();
    StopWatch(const StopWatch&) = delete;
    StopWatch& operator=(const StopWatch&) = delete;

private:
    std::shared_ptr<detail::StopState> state_;
    std::function<void()> action_;
};

}  // namespace http
