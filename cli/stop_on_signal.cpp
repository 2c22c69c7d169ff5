#include "cli/stop_on_signal.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cli {

namespace {

// What a signal handler can reach. -1 = nobody listens.
std::atomic<int> raised_descriptor{-1};

void on_signal(int /*number*/) {
    const int saved = errno;
    const std::uint64_t one = 1;
    const int descriptor = raised_descriptor.load();
    if (descriptor >= 0) [[maybe_unused]]
        const auto written = ::write(descriptor, &one, sizeof one);
    errno = saved;
}

void handle_signals(void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace

StopOnSignal::StopOnSignal()
    : raised_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    base::check(raised_.value() >= 0 && ended_.value() >= 0, "eventfd works");
    raised_descriptor = raised_.value();
    handle_signals(&on_signal);
    watcher_ = std::thread([this] {
        std::array<pollfd, 2> waited{
            pollfd{raised_.value(), POLLIN, 0}, pollfd{ended_.value(), POLLIN, 0}
        };
        while (::poll(waited.data(), waited.size(), -1) < 0 && errno == EINTR) {
        }
        if (waited[0].revents != 0) source_.raise();
    });
}

StopOnSignal::~StopOnSignal() {
    handle_signals(SIG_DFL);
    raised_descriptor = -1;
    const std::uint64_t one = 1;
    base::check(::write(ended_.value(), &one, sizeof one) == sizeof one, "an eventfd takes a one");
    watcher_.join();
}

}  // namespace cli
