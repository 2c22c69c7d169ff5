#include "http/stop.hpp"

#include "base/guarded.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace http {

namespace detail {

struct StopState {
    std::atomic<bool> raised = false;
    base::Guarded<std::vector<const std::function<void()>*>> actions;
};

}  // namespace detail

bool StopSignal::stopped() const {
    return state_ && state_->raised.load(std::memory_order_acquire);
}

StopSource::StopSource() : state_(std::make_shared<detail::StopState>()) {}

void StopSource::raise() const {
    // Under the lock, so that a watch cannot end while its action runs.
    state_->actions.with([&](auto& actions) {
        if (state_->raised.exchange(true)) return;
        for (const auto* action : actions)
            (*action)();
        actions.clear();
    });
}

StopWatch::StopWatch(const StopSignal& signal, std::function<void()> action)
    : state_(signal.state_), action_(std::move(action)) {
    if (!state_) return;
    state_->actions.with([&](auto& actions) {
        if (state_->raised.load())
            action_();
        else
            actions.push_back(&action_);
    });
}

StopWatch::~StopWatch() {
    if (!state_) return;
    state_->actions.with([&](auto& actions) { std::erase(actions, &action_); });
}

}  // namespace http
