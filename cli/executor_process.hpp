#pragma once

#include "base/result.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace cli {

/// `netwright executor` as a child of the master's process, which it does not outlive. It is
/// started anew when it ends by itself.
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
