#include "executor/job_control.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <sys/eventfd.h>

namespace executor {

JobControl::JobControl() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    base::check(static_cast<bool>(wake_), "cannot make an eventfd");
}

void JobControl::stop(StopOrder order) {
    state_.with([&](State& state) {
        if (state.stop) {
            state.stop->grace = std::min(state.stop->grace, order.grace);
        } else {
            state.stop = order;
        }
    });
    ::eventfd_write(wake_.value(), 1);
}

std::optional<StopOrder> JobControl::stop_order() const {
    return state_.with([](const State& state) { return state.stop; });
}

JobView JobControl::view() const {
    return state_.with([](const State& state) { return state.view; });
}

void JobControl::show(jobs::Phase phase) {
    state_.with([&](State& state) { state.view.phase = phase; });
}

void JobControl::show(const jobs::Usage& usage) {
    state_.with([&](State& state) { state.view.usage = usage; });
}

void JobControl::show(const jobs::Progress& progress) {
    state_.with([&](State& state) { state.view.progress = progress; });
}

}  // namespace executor
