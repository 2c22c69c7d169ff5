#pragma once

#include "base/guarded.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace http_test {

/// Values that other threads report; a test waits for them, with a limit that only a hanging
/// program reaches.
template <class T>
class Reports {
public:
    void add(T value) {
        seen_.with([&](std::vector<T>& seen) { seen.push_back(std::move(value)); });
        seen_.notify();
    }
    bool wait_for(std::size_t count) {
        return seen_.wait_for(std::chrono::seconds(60), [&](const std::vector<T>& seen) {
            return seen.size() >= count;
        });
    }
    std::vector<T> all() {
        return seen_.with([](const std::vector<T>& seen) { return seen; });
    }

private:
    base::Guarded<std::vector<T>> seen_;
};

/// The most memory that this process has had at once since `forget_peak`, in KiB.
inline long peak_kib() {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    }
    return 0;
}
inline void forget_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

/// A sanitizer keeps freed memory, so that flat memory does not show.
constexpr bool memory_is_telling() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#endif
#endif
    return true;
}

}  // namespace http_test
