#include "nets/analysis/limits.hpp"

#include "base/result.hpp"

#include <utility>

namespace nets::analysis {
namespace {

constexpr base::Duration report_interval = base::milliseconds(200);

}  // namespace

std::string_view name(LimitHit hit) {
    switch (hit) {
        case LimitHit::states:
            return "states";
        case LimitHit::memory:
            return "memory";
        case LimitHit::time:
            return "time";
    }
    base::check(false, "a limit outside its enumeration");
    return {};
}

Budget::Budget(const Limits& limits, ProgressCallback progress)
    : limits_(limits), progress_(std::move(progress)) {
    base::check(!limits.time_max || limits.clock != nullptr, "a limit on time needs a clock");
    if (limits.time_max) {
        deadline_ = base::Duration{limits.clock->elapsed().us + limits.time_max->us};
    }
}

bool Budget::out_of_time() const {
    return deadline_ && limits_.clock->elapsed() >= *deadline_;
}

void Budget::report(const Progress& progress) {
    if (!progress_) return;
    if (limits_.clock != nullptr) {
        const base::Duration now = limits_.clock->elapsed();
        if (reported_ && now.us - reported_->us < report_interval.us) return;
        reported_ = now;
    }
    progress_(progress);
}

}  // namespace nets::analysis
