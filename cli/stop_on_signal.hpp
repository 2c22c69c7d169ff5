#pragma once

#include "base/files.hpp"
#include "http/stop.hpp"

#include <optional>
#include <thread>

namespace cli {

/// SIGTERM and SIGINT raise a stop signal instead of ending the process, as long as this lives. One
/// at a time in a process. Signals stay unblocked, so children inherit nothing of it.
class StopOnSignal {
public:
    StopOnSignal();
    ~StopOnSignal();
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;

    [[nodiscard]] http::StopSignal signal() const { return source_.signal(); }
    /// Readable once a signal has come; stays so.
    [[nodiscard]] int descriptor() const { return raised_.value(); }

private:
    http::StopSource source_;
    base::FileDescriptor raised_;  ///< eventfd
    base::FileDescriptor ended_;   ///< eventfd: this object ends
    std::thread watcher_;
};

}  // namespace cli
