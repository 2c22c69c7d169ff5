#include "http/watchdog.hpp"

#include <boost/asio/steady_timer.hpp>

#include <utility>

namespace http {

namespace {

using Moment = std::chrono::steady_clock::time_point;

}  // namespace

struct Watchdog::State {
    State(const boost::asio::any_io_executor& executor, std::function<void()> run)
        : timer(executor), action(std::move(run)) {}
    boost::asio::steady_timer timer;
    std::function<void()> action;
    Moment deadline = Moment::max();
    /// When the pending wait of `timer` ends; max = none pending.
    Moment armed_for = Moment::max();
    bool expired = false;
};

Watchdog::Watchdog(const boost::asio::any_io_executor& executor, std::function<void()> action)
    : state_(std::make_shared<State>(executor, std::move(action))) {}

Watchdog::~Watchdog() {
    state_->timer.cancel();
    state_->action = nullptr;
    state_->deadline = Moment::max();
}

void Watchdog::expire_in(base::Duration length) {
    state_->expired = false;
    state_->deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(length.us);
    if (state_->deadline < state_->armed_for) arm(state_);
}

void Watchdog::disarm() {
    state_->expired = false;
    state_->deadline = Moment::max();
}

bool Watchdog::expired() const {
    return state_->expired;
}

void Watchdog::arm(const std::shared_ptr<State>& state) {
    state->armed_for = state->deadline;
    state->timer.expires_at(state->deadline);
    state->timer.async_wait([weak = std::weak_ptr(state),
                             due = state->deadline](const boost::system::error_code& error) {
        const auto living = weak.lock();
        // Another wait has replaced this one when its moment is not the armed one.
        if (error || !living || living->armed_for != due) return;
        living->armed_for = Moment::max();
        if (living->deadline == Moment::max()) return;
        const auto now = std::chrono::steady_clock::now();
        if (now < living->deadline) return arm(living);
        living->deadline = now + std::chrono::seconds(1);
        living->expired = true;
        arm(living);
        if (living->action) living->action();
    });
}

}  // namespace http
