#pragma once

#include "base/result.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace cli {

/// `netwright executor` as a child of the master's process, which it does not outlive: the kernel
/// kills it when the thread that started it ends. It inherits no descriptor but the standard three,
/// and is restarted when it ends on its own.
class ExecutorProcess {
public:
    /// `arguments`: what follows `netwright`.
    explicit ExecutorProcess(std::vector<std::string> arguments);
    /// Stops it, and waits until it has.
    ~ExecutorProcess();
    ExecutorProcess(const ExecutorProcess&) = delete;
    ExecutorProcess& operator=(const ExecutorProcess&) = delete;

    base::Result<void> start();
    /// Call from time to time, on the thread that has started it.
    void look_after();

private:
    std::vector<std::string> arguments_;
    pid_t child_ = -1;
};

}  // namespace cli
