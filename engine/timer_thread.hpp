#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace engine {

class ModelLane;

/// Schedules lanes when their time has come.
class TimerThread {
public:
    TimerThread();
    ~TimerThread() { stop(); }
    TimerThread(const TimerThread&) = delete;
    TimerThread& operator=(const TimerThread&) = delete;

    void wake(std::weak_ptr<ModelLane> lane, base::Duration after);
    void stop();

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<std::chrono::steady_clock::time_point, std::weak_ptr<ModelLane>> due_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace engine
