#include "cli/executor_process.hpp"

#include "base/files.hpp"
#include "base/log.hpp"

#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cli {

ExecutorProcess::ExecutorProcess(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)) {}

ExecutorProcess::~ExecutorProcess() {
    if (child_ < 0) return;
    ::kill(child_, SIGTERM);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

base::Result<void> ExecutorProcess::start() {
    // All that needs memory is made before the fork: other threads may hold its locks.
    std::string name = "netwright";
    std::vector<char*> argv{name.data()};
    for (auto& argument : arguments_)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return base::fail(base::errno_error("fork"));
    if (child == 0) {
        ::signal(SIGTERM, SIG_DFL);
        ::signal(SIGINT, SIG_DFL);
        // Follows the thread that forked: `start` and `look_after` stay on one that lives as long
        // as the process. KILL, since a job in its grace would hold up the end; the next executor
        // sweeps what is left, and reports the leases as lost.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        // Whatever a library opened without O_CLOEXEC: a socket that listens would keep its port.
        ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        if (::getppid() == parent) ::execv("/proc/self/exe", argv.data());
        ::_exit(127);
    }
    child_ = child;
    return {};
}

void ExecutorProcess::look_after() {
    int status = 0;
    if (child_ >= 0) {
        if (::waitpid(child_, &status, WNOHANG) != child_) return;
        child_ = -1;
        base::log_error(
            fmt::format("the executor has ended (status {}); it is started anew", status)
        );
    }
    if (const auto started = start(); !started) {
        base::log_error("the executor cannot be started: " + started.error().message);
    }
}

}  // namespace cli
