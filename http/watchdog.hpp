#pragma once

#include "base/clock.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace http {

/// One deadline that moves: when it passes, `expired` turns true and the action runs, and again
/// each second until the deadline is moved or taken away (what the action ends may just have ended
/// and begun anew). Moving it later costs no system call: the timer below is set again only when it
/// fires too early. Belongs to the executor's one thread.
class Watchdog {
public:
    Watchdog(const boost::asio::any_io_executor& executor, std::function<void()> action);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    void expire_in(base::Duration length);
    void disarm();
    /// Since the last `expire_in` or `disarm`.
    [[nodiscard]] bool expired() const;

private:
    struct State;
    static void arm(const std::shared_ptr<State>& state);
    /// Shared with the timer's pending handler, which may run after this object has gone.
    std::shared_ptr<State> state_;
};

}  // namespace http
