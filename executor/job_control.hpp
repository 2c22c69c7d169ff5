#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/guarded.hpp"
#include "jobs/outcome.hpp"
#include "jobs/sync.hpp"

#include <cstdint>
#include <optional>

namespace executor {

/// Why a job is being stopped.
enum class StopReason : std::uint8_t {
    wall,       ///< its wall clock ran out
    cpu,        ///< its CPU time ran out
    memory,     ///< seen above its memory cap where no cgroup enforces it
    requested,  ///< the master wants it
    lease,      ///< the lease could not be renewed, or is fenced
    shutdown,   ///< the executor is being stopped
};

struct StopOrder {
    StopReason reason = StopReason::requested;
    base::Duration grace;  ///< between TERM and KILL
};

struct JobView {
    jobs::Phase phase = jobs::Phase::preparing;
    jobs::Usage usage;
    std::optional<jobs::Progress> progress;
};

/// What the thread that runs a job and the rest of the executor tell each other. Thread-safe.
class JobControl {
public:
    JobControl();

    /// Asks the job to stop; the first reason counts, the shortest grace too.
    void stop(StopOrder order);
    [[nodiscard]] std::optional<StopOrder> stop_order() const;
    /// Becomes readable when `stop` is called. Borrowed.
    [[nodiscard]] int wake_fd() const { return wake_.value(); }

    [[nodiscard]] JobView view() const;
    void show(jobs::Phase phase);
    void show(const jobs::Usage& usage);
    void show(const jobs::Progress& progress);

private:
    struct State {
        std::optional<StopOrder> stop;
        JobView view;
    };
    base::Guarded<State> state_;
    base::FileDescriptor wake_;
};

}  // namespace executor
