#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace base {

namespace {

spdlog::logger& logger() {
    static const auto stderr_logger = [] {
        auto made = spdlog::stderr_logger_mt("netwright");
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc);
        return made;
    }();
    return *stderr_logger;
}

}  // namespace

void log_info(std::string_view message) {
    logger().info("{}", message);
}
void log_warning(std::string_view message) {
    logger().warn("{}", message);
}
void log_error(std::string_view message) {
    logger().error("{}", message);
}
void log_quietly() {
    logger().set_level(spdlog::level::warn);
}

}  // namespace base
